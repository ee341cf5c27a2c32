"""The proof of a rewrite: equal rows have equal sums in any order, and others have not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from ldp_core.commit.change import Change
from ldp_core.commit.publish import publish
from ldp_core.errors import LDPError
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Policy, Rewrite
from ldp_maintenance.rewrite import copy, proof
from ldp_maintenance.rewrite.run import rewrite_data_files
from ldp_maintenance.testing import builders, looks
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record

ROWS = """(VALUES
    (1, 'nan'::DOUBLE, [1, NULL], {'a': 1, 'b': NULL}, MAP {'k': 1.5}, NULL),
    (2, -0.0, [], NULL, MAP {}, 'x'),
    (2, -0.0, [], NULL, MAP {}, 'x'))"""
COLUMNS = ["c1", "c2", "c3", "c4", "c5", "c6"]


def sums(order: str, where: str = "true") -> proof.Sum:
    named = ", ".join(COLUMNS)
    sql = f"SELECT * FROM (SELECT * FROM {ROWS} AS t({named}) WHERE {where}) ORDER BY {order}"
    return proof.summed(duckdb.connect(), sql, COLUMNS)


def test_maint_sums_do_not_depend_on_order_but_on_rows() -> None:
    assert sums("c1") == sums("c1 DESC")
    assert sums("c1").rows == 3
    assert sums("c1", "c1 = 1") != sums("c1")
    # Two equal rows do not cancel each other out.
    assert sums("c1", "c1 = 2").checksum not in (0, sums("c1", "c1 = 1").checksum)


def test_maint_sums_that_differ_are_refused() -> None:
    proof.compare(proof.Sum(1, 2), proof.Sum(1, 2), "t")
    with pytest.raises(proof.RowsDiffer, match="t: 1 rows were read and 2 written"):
        proof.compare(proof.Sum(1, 2), proof.Sum(2, 2), "t")
    with pytest.raises(proof.RowsDiffer, match="differ from those that were read"):
        proof.compare(proof.Sum(1, 2), proof.Sum(1, 3), "t")


def rewrite(table: Any, **policy: Any) -> Any:
    policies = Policy(rewrite=Rewrite(skip_newest=None, **policy))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policies), Doing(commit=True))
    table.refresh()
    return outcome


def test_maint_a_group_that_cannot_be_proven_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the writer is put in: it loses a row of one group."""
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    builders.small_files(table, 2, city="NYC")
    builders.small_files(table, 3, city="LA")
    before, arranged = looks.rows(table), copy.arranged

    def faulty(con: Any, rows: Any, sql: str, order: Any) -> str:
        return f"SELECT * FROM ({arranged(con, rows, sql, order)}) AS b WHERE c1 > 0 OR c2 = 'LA'"

    monkeypatch.setattr(copy, "arranged", faulty)
    outcome = rewrite(table)
    assert (outcome.status, outcome.code) == ("failed", "rows_differ")
    assert (outcome.detail["groups"], outcome.detail["groups_failed"]) == (1, 1)
    assert "city=NYC: 20 rows were read and 19 written" in outcome.reason
    assert looks.rows(table) == before
    assert looks.unreferenced_files(table) == set()


def test_maint_files_that_would_not_become_fewer_are_left(tmp_path: Path) -> None:
    """What is there was pressed harder than the table's own codec does."""
    table = builders.table(
        builders.catalog(tmp_path), properties={"write.parquet.compression-codec": "uncompressed"}
    )
    paths = builders.small_files(table, 2, rows=20_000)
    size = looks.live_files(table)[paths[0]].file_size_in_bytes
    outcome = rewrite(table, target_file_size_bytes=int(size * 1.4))
    assert outcome.status == "nothing"
    assert set(looks.live_files(table)) == set(paths)
    assert looks.unreferenced_files(table) == set()


def test_maint_files_that_are_not_parquet_are_left_alone(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 2)
    base = Target(table.catalog, ("db", "t")).base()
    other = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"{table.location()}/data/x.avro",
        file_format=FileFormat.AVRO,
        partition=Record(),
        record_count=1,
        file_size_in_bytes=1,
    )
    other.spec_id = 0
    publish(base, lambda fresh: Change("append", added=(other,)))
    outcome = rewrite(table)
    assert (outcome.status, outcome.detail["rewritten_data_files"]) == ("done", 2)
    assert "1 file left alone: they, or the deletes of their rows, are not Parquet" in outcome.lines
    assert len(looks.live_files(table)) == 2


def test_maint_a_memory_limit_that_is_no_size_is_refused(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), sorted_by="amount")
    builders.append(table, range(20_000))
    policies = Policy(rewrite=Rewrite(skip_newest=None))
    doing = Doing(commit=True, memory_limit="nix")
    with pytest.raises(LDPError, match="'nix' is no size"):
        rewrite_data_files(Target(table.catalog, ("db", "t"), policies), doing)
