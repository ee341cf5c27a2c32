"""What an earlier tool did wrong, state by state, by the command: counts, exit codes, one clear line."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Change
from ldp_core.commit.publish import publish
from ldp_core.fs import local_path
from ldp_core.testing.builders import data_files
from ldp_maintenance.model import OPERATIONS
from ldp_maintenance.testing import builders, looks
from pyiceberg.manifest import DataFileContent, ManifestEntryStatus

Go = Callable[..., tuple[int, dict[str, Any], str]]
DAYS = [builders.DAY0 + dt.timedelta(days=number) for number in range(30)]


def one(body: dict[str, Any]) -> dict[str, Any]:
    (outcome,) = body["operations"]
    return dict(outcome)


def deletes(table: Any) -> list[Any]:
    """Live entries of delete files."""
    table.refresh()
    return [
        entry.data_file
        for manifest in table.current_snapshot().manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
        if entry.data_file.content != DataFileContent.DATA
    ]


VERBS = ["run", "health", "compact", "expire", *OPERATIONS]


def test_maint_case_a_missing_table_or_namespace(go: Go) -> None:
    for verb, name in itertools.product(VERBS, ("db.gone", "nix.t")):
        code, body, err = go(verb, table=name)
        assert (code, body["error"]["code"]) == (1, "table_not_found")
        assert err == f"ldp: error: table {name} does not exist in catalog test\n"


def test_maint_case_a_wrong_warehouse(cat: Any, go: Go, tmp_path: Path) -> None:
    builders.table(cat)
    for verb in VERBS:
        code, _, err = go(verb, "--warehouse", "elsewhere")
        assert code == 1
        assert "--warehouse is elsewhere, and catalog test has file://" in err
    (tmp_path / "t.json").write_text(json.dumps({"version": 2, "warehouse": "s3://other/wh"}))
    code, _, err = go("run", "--table-config", "t.json")
    assert code == 1
    assert "s3://other/wh" in err


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("--order-by", "nmae"), "no column 'nmae' to order by; columns: id, city, at, amount"),
        (("--order-by", "Id"), "no column 'Id' to order by"),
        (("--order-by", "day(city)"), "transform 'day' cannot apply to column 'city'"),
        (("--order-by", "id; drop table t"), "is no order"),
        (("--zorder", "id,nix"), "no column 'nix' to order by"),
        (("--output-spec", "7"), "no partition spec 7; specs: 0"),
        (("--branch", "nix"), "no branch 'nix'; branches: main"),
        (("--target-size", "-5"), "'-5' is no size"),
        (("--target-size", "1e400"), "is no size"),
        (("--target-size", ""), "is no size"),
        (("--min-input-files", "-1"), "-1 is not"),
        (("--memory-limit", "much"), "much"),
    ],
)
def test_maint_case_a_bad_word_of_a_compaction(cat: Any, go: Go, args: tuple[str, ...], part: str) -> None:
    table = builders.table(cat)
    builders.small_files(table, 2)
    code, _, err = go("compact", "--yes", *args)
    table.refresh()
    assert code == 1
    assert part in err
    assert len(looks.live_files(table)) == 2


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        ("expire", "--max-snapshot-age-days"),
        ("expire", "--min-snapshots-to-keep"),
        ("expire", "--retain-last"),
        ("expire", "--keep-metadata-versions"),
        ("remove-orphans", "--older-than-days"),
        ("remove-orphans", "--orphan-age-hours"),
    ],
)
def test_maint_case_negative_ages_and_counts(cat: Any, go: Go, verb: str, option: str) -> None:
    table = builders.table(cat)
    builders.small_files(table, 3)
    code, _, err = go(verb, option, "-1", "--yes")
    table.refresh()
    assert code == 1
    assert "-1 is not 0 or more" in err
    assert len(table.metadata.snapshots) == 3


@pytest.mark.parametrize("sign", ["false", "FALSE"])
@pytest.mark.parametrize("verb", ["expire", "remove-orphans"])
def test_maint_case_garbage_collection_is_off(cat: Any, go: Go, verb: str, sign: str) -> None:
    table = builders.table(cat, properties={"gc.enabled": sign})
    builders.small_files(table, 3)
    age = ("--max-snapshot-age-days", "0") if verb == "expire" else ("--older-than-days", "0")
    files = looks.files_on_disk(table)
    for yes in ((), ("--yes",)):
        code, _, err = go(verb, *age, *yes)
        assert code == 1
        assert "gc.enabled" in err
    assert looks.files_on_disk(table) == files
    code, body, _ = go("run", "--yes")
    assert code == 0
    assert {o["operation"] for o in body["operations"] if o["status"] == "skipped"} >= {
        "expire-snapshots",
        "remove-orphans",
    }


def test_maint_case_one_missing_data_file(cat: Any, go: Go) -> None:
    table = builders.table(cat)
    paths = builders.small_files(table, 3)
    local_path(paths[1]).unlink()
    for yes in ((), ("--yes",)):
        code, _, err = go("compact", *yes)
        assert code == 1
        assert paths[1] in err
    code, _, err = go("remove-orphans", "--older-than-days", "0", "--yes")
    assert code == 1
    assert local_path(paths[1]).name in err


def test_maint_case_one_missing_delete_file(cat: Any, go: Go) -> None:
    table = builders.table(cat)
    paths = builders.small_files(table, 3)
    builders.delete_positions(table, {paths[0]: [0]})
    (lost,) = deletes(table)
    local_path(lost.file_path).unlink()
    code, _, err = go("compact", "--yes")
    assert code == 1
    assert local_path(lost.file_path).name in err
    table.refresh()
    assert len(looks.live_files(table)) == 3


def test_maint_case_400_rows_of_which_40_are_deleted(cat: Any, go: Go) -> None:
    table = builders.table(cat)
    paths = builders.small_files(table, 4, rows=100)
    builders.delete_positions(table, {path: range(10) for path in paths}, scoped=False)
    code, body, _ = go("compact", "--yes")
    assert (code, one(body)["removed_delete_files"]) == (0, 1)
    table.refresh()
    (file,) = looks.live_files(table).values()
    assert (file.record_count, deletes(table)) == (360, [])
    assert looks.entries_in_manifest_of_wrong_content(table) == 0
    assert one(go("compact", "--yes")[1])["status"] == "nothing"


def test_maint_case_deletes_alone_select_a_file_of_each_partition(cat: Any, go: Go) -> None:
    """Four of ten rows are more than 30%; and nothing is called dangling where nothing was done."""
    table = builders.table(cat, partition="identity")
    paths = [builders.append(table, range(10), city=city)[0] for city in ("A", "B", None)]
    builders.delete_positions(table, {path: [0, 1] for path in paths}, scoped=False)
    outcome = one(go("compact", "--yes")[1])
    assert (outcome["status"], outcome["removed_delete_files"]) == ("nothing", 0)
    builders.delete_positions(table, {path: [2, 3] for path in paths}, scoped=False)
    assert one(go("compact", "--yes")[1])["removed_delete_files"] == 6
    assert (len(looks.rows(table)), deletes(table)) == (18, [])


def test_maint_case_a_delete_manifest_of_two_partitions(cat: Any, go: Go) -> None:
    table = builders.table(cat, partition="identity")
    near = builders.small_files(table, 2, city="A")
    (far,) = builders.append(table, range(100, 110), city="B")
    builders.delete_positions(table, {near[0]: [0], near[1]: [0], far: [0]}, scoped=False)
    before = looks.rows(table)
    assert one(go("compact", "--yes")[1])["removed_delete_files"] == 1
    (left,) = deletes(table)
    assert (left.partition[0], looks.rows(table)) == ("B", before)
    assert looks.entries_in_manifest_of_wrong_content(table) == 0


@pytest.mark.parametrize("version", [1, 2])
def test_maint_case_four_files_that_span_thirty_days_each(cat: Any, go: Go, version: int) -> None:
    """A day spec later does not make thirty files of four; asked to partition anew, it does."""
    table = builders.table(cat, format_version=version)
    for number in range(4):
        rows = {
            "id": [number * 30 + day for day in range(30)],
            "city": ["x"] * 30,
            "at": DAYS,
            "amount": [1.0] * 30,
        }
        table.append(pa.table(rows, schema=table.schema().as_arrow()))
    builders.evolve_spec(table, "day")
    outcome = one(go("compact", "--yes", "--skip-newest", "none")[1])
    assert (outcome["rewritten_data_files"], outcome["added_data_files"]) == (4, 1)
    assert {file.spec_id for file in looks.live_files(table.refresh()).values()} == {0}
    anew = ("--yes", "--skip-newest", "none", "--output-spec", "1")
    assert one(go("compact", *anew)[1])["added_data_files"] == 30
    assert one(go("compact", *anew)[1])["status"] == "nothing"
    assert len(looks.rows(table)) == 120


def test_maint_case_late_rows_of_an_aged_month(cat: Any, go: Go) -> None:
    """Month files and late day files become the one month file again, by the command and its own clock."""
    table = builders.table(cat, partition="day")
    for day in DAYS[:5]:
        builders.append(table, range(day.day), at=day)
    assert one(go("evolve-partitions", "--yes")[1])["added_data_files"] == 1
    for _ in range(2):
        for day in DAYS[10:12]:
            builders.append(table, range(100, 101), at=day)
        assert go("run", "--yes")[0] == 0
        (file,) = looks.live_files(table.refresh()).values()
        assert (file.spec_id, file.partition[0]) == (1, 648)
    _, body, _ = go("run", "--yes")
    assert {o["status"] for o in body["operations"]} <= {"nothing", "skipped"}


def test_maint_case_a_staged_snapshot_and_one_that_was_rolled_back_stay(cat: Any, go: Go) -> None:
    table = builders.table(cat)
    builders.small_files(table, 3)
    staged = builders.staged(table, range(100, 103))
    builders.append(table, range(50, 52))
    rolled = builders.rollback(table)
    files = looks.files_on_disk(table)
    _, body, _ = go("expire", "--yes")
    assert one(body)["expired_snapshot_ids"] == []
    assert go("remove-orphans", "--yes")[0] == 0
    _, body, _ = go("run", "--yes")
    assert files <= looks.files_on_disk(table)
    table.refresh()
    assert {staged, rolled} <= {item.snapshot_id for item in table.metadata.snapshots}
    assert len(looks.rows(table, staged)) == 33


def test_maint_case_manifests_of_deletions_alone_do_not_pile_up(cat: Any, go: Go) -> None:
    table = builders.table(cat)
    for number in range(5):
        builders.small_files(table, 2, first=number * 20)
        assert go("compact", "--yes")[0] == 0
        table.refresh()
        held = table.current_snapshot().manifests(table.io)
        alone = [
            m
            for m in held
            if all(
                e.status == ManifestEntryStatus.DELETED
                for e in m.fetch_manifest_entry(table.io, discard_deleted=False)
            )
        ]
        # Those of the commit itself; the next one drops them.
        assert {m.added_snapshot_id for m in alone} <= {table.current_snapshot().snapshot_id}
    assert len(looks.live_files(table)) == 1
    assert len(looks.rows(table)) == 100


def test_maint_case_a_branch_of_its_own_files(cat: Any, go: Go) -> None:
    table = builders.table(cat)
    builders.small_files(table, 3)
    builders.branch(table, "dev")
    for number in range(3):
        builders.append(table, range(100 + number, 101 + number), branch="dev")
    head = table.current_snapshot().snapshot_id
    outcome = one(go("compact", "--branch", "dev", "--yes")[1])
    assert (outcome["rewritten_data_files"], outcome["added_data_files"]) == (6, 1)
    table.refresh()
    assert table.current_snapshot().snapshot_id == head
    assert (len(looks.live_files(table)), len(looks.live_files(table, "dev"))) == (3, 1)
    assert len(looks.rows(table, "dev")) == 33
    assert one(go("compact", "--branch", "dev", "--yes")[1])["status"] == "nothing"


def test_maint_case_a_thousand_tiny_files(cat: Any, go: Go) -> None:
    """A target between makes a few even files of them, and once is enough."""
    table = builders.table(cat)
    base = load_base(cat, ("db", "t"))
    draw = random.Random(5)
    files = []
    for number in range(1000):
        body = pa.Table.from_pylist(
            [{"id": number, "city": draw.randbytes(40).hex()}], table.schema().as_arrow()
        )
        files.append(f"{table.location()}/data/{number}.parquet")
        local_path(files[-1]).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(body, local_path(files[-1]))
    publish(base, lambda _: Change("append", added=data_files(base, files)))
    target = ("compact", "--target-size", "20KB", "--yes")
    code, body, _ = go(*target)
    outcome = one(body)
    assert (code, outcome["rewritten_data_files"]) == (0, 1000)
    assert outcome["added_data_files"] < 10
    assert [row[0] for row in sorted(looks.rows(table))] == list(range(1000))
    assert one(go(*target)[1])["status"] == "nothing"
