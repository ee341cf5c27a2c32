"""Runs that put rows aside: the good rows are published, the bad ones are in the quarantine table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ldp_core.config import Config
from ldp_core.errors import DataQualityError, DriftError
from ldp_core.plan.build import build
from ldp_core.plan.keyed import Ask
from ldp_core.plan.stages import Check
from ldp_core.run.context import RunOptions
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import execute
from ldp_core.spi import Apart, Batch, Verdict
from ldp_core.targets._rows import place_names
from ldp_core.targets.formats import Iceberg

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
Write = Callable[..., Path]


@dataclass(frozen=True)
class Told:
    """A report."""

    text: str

    def summary(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text}


@dataclass(frozen=True)
class FakeGate:
    """Puts the rows aside for which a condition is true."""

    bad: str
    max_share: float = 1.0
    checks: int = 1

    def judge(self, batch: Batch) -> Verdict:
        file, pos = place_names(batch.schema.names)
        names = f"{file} AS __file, {pos} AS __pos"
        batch.con.execute(
            f"CREATE OR REPLACE TEMP TABLE bad_rows AS SELECT {names}, ['rule'] AS rules, "
            f"'it is bad' AS reason FROM ({batch.placed_sql}) WHERE {self.bad}"
        )
        rows = int(batch.con.execute("SELECT count(*) FROM bad_rows").fetchall()[0][0])
        apart = Apart("bad_rows", rows, ("id",)) if rows else None
        return Verdict(not rows, False, Told(f"{rows} bad rows"), apart=apart)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the config and its CSV file."""
    monkeypatch.chdir(tmp_path)

    def write(csv: str, target: Any = None, **metadata: Any) -> Path:
        (tmp_path / "r.csv").write_text(csv)
        body = {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {"name": "rides", "format": "ICEBERG", "catalog": CATALOG, **(target or {})},
            **metadata,
        }
        path = tmp_path / "c.json"
        path.write_text(json.dumps({"identifier": "c", "metadata": body}))
        return path

    return write


def run(path: Path, gate: FakeGate, ask: Ask | None = None, **options: Any) -> PipelineResult:
    plan = build(Config.from_file(path), None, ask or Ask())
    plan = replace(plan, checks=(Check("quality", "fake", lambda: gate),))
    return execute(plan, RunOptions(**options))


def rows(name: str = "rides") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Iceberg(name, CATALOG).get().to_pylist()
    return sorted(found, key=lambda row: (row["id"], row.get("_ldp_batch", "")))


def ids(name: str = "rides") -> list[int]:
    return [row["id"] for row in rows(name)]


def told(key: str) -> str:
    return str(Iceberg("rides", CATALOG).snapshots()[-1]["summary"][key])


def test_good_rows_are_published_and_bad_ones_kept(lake: Write) -> None:
    config = lake("id,day,amount\n1,2026-01-01,5\n2,2026-01-01,-1\n3,2026-01-02,7\n")
    result = run(config, FakeGate("amount < 0"), run_id="night-1")
    assert (result.rows_read, result.rows_written, result.write_result.rows_quarantined) == (3, 2, 1)
    assert ids() == [1, 3]
    (bad,) = rows("rides__quarantine")
    assert (bad["id"], bad["amount"], bad["_ldp_rules"], bad["_ldp_reason"]) == (2, -1, ["rule"], "it is bad")
    assert bad["_ldp_primary_key"] == '{"id":2}'
    assert bad["_ldp_batch"] == str(result.write_result.snapshot_id)
    assert (bad["_ldp_key"], bad["_ldp_run_id"], bad["_ldp_attempt"]) == ("run:night-1", "night-1", 1)
    assert "  1 row put into quarantine: nyc.rides__quarantine" in result.lines()
    assert result.to_dict()["rows_quarantined"] == 1
    assert [told(f"ldp.rows-{name}") for name in ("in", "written", "quarantined")] == ["3", "2", "1"]


@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_columns_may_be_called_as_what_names_a_row(lake: Write, mode: str) -> None:
    names = ["filename", "FILE_ROW_NUMBER", "__file", "__pos", "___pos", "__row", "rowid", "batch", "rules"]
    upsert = {"write_mode": "upsert", "join_cols": ["id"]} if mode == "upsert" else {}
    lines = "".join(f"{n},{','.join(f'{n}{at}' for at in range(len(names)))},{n - 2}\n" for n in range(5))
    result = run(lake(f"id,{','.join(names)},amount\n{lines}", upsert), FakeGate("amount < 0"))
    assert (result.rows_written, ids(), ids("rides__quarantine")) == (3, [2, 3, 4], [0, 1])
    for row in [*rows(), *rows("rides__quarantine")]:
        assert [int(row[name]) for name in names] == [row["id"] * 10 + at for at in range(len(names))]


def test_a_column_of_the_quarantine_table_is_told(lake: Write) -> None:
    with pytest.raises(DriftError, match="rides has the column '_LDP_Row', and rides__q") as caught:
        run(lake("id,amount,_LDP_Row\n1,5,1\n2,-1,2\n"), FakeGate("amount < 0"))
    assert caught.value.hint == "rename the column in a transform, or put no rows aside"
    assert not Iceberg("rides", CATALOG).exists()


def test_a_window_without_bad_rows_leaves_no_table(lake: Write) -> None:
    run(lake("id,amount\n1,5\n"), FakeGate("amount < 0"))
    assert not Iceberg("rides__quarantine", CATALOG).exists()
    assert "ldp.idempotency-key" not in Iceberg("rides", CATALOG).snapshots()[-1]["summary"]


def test_an_upsert_puts_rows_aside(lake: Write) -> None:
    upsert = {"write_mode": "upsert", "join_cols": ["id"]}
    run(lake("id,amount\n1,1\n2,2\n", upsert), FakeGate("amount < 0"))
    run(lake("id,amount\n1,-1\n2,3\n3,3\n", upsert), FakeGate("amount < 0"))
    assert [(row["id"], row["amount"]) for row in rows()] == [(1, 1), (2, 3), (3, 3)]
    assert ids("rides__quarantine") == [1]
    assert [told(f"ldp.rows-{name}") for name in ("in", "written", "quarantined")] == ["3", "2", "1"]


def test_an_upsert_may_have_a_key_twice_among_the_rows_that_are_put_aside(lake: Write) -> None:
    upsert = {"write_mode": "upsert", "join_cols": ["id"]}
    run(lake("id,amount\n1,1\n1,-1\n2,-2\n2,-3\n", upsert), FakeGate("amount < 0"))
    assert ([(row["id"], row["amount"]) for row in rows()], ids("rides__quarantine")) == ([(1, 1)], [1, 2, 2])
    assert [told(f"ldp.rows-{name}") for name in ("in", "written", "quarantined")] == ["4", "1", "3"]
    for bad in ("amount < 0", "false"):
        with pytest.raises(DriftError, match=r"nyc.rides has 1 duplicate rows on join_cols \['id'\]"):
            run(lake("id,amount\n3,1\n3,2\n4,-1\n", upsert), FakeGate(bad))
    assert (ids(), ids("rides__quarantine")) == ([1], [1, 2, 2])


@pytest.mark.parametrize("mode", ["append", "overwrite", "upsert"])
def test_all_rows_may_be_bad_where_the_share_allows_it(lake: Write, mode: str) -> None:
    upsert = {"join_cols": ["id"]} if mode == "upsert" else {}
    config = lake("id,amount\n1,-1\n2,-2\n", {"write_mode": mode, **upsert})
    result = run(config, FakeGate("amount < 0"))
    assert (result.rows_written, rows(), ids("rides__quarantine")) == (0, [], [1, 2])
    assert result.published_in is not None


def test_too_many_bad_rows_stop_the_run(lake: Write) -> None:
    lines = "".join(f"{n},{n - 2}\n" for n in range(10))
    with pytest.raises(DataQualityError) as caught:
        run(lake(f"id,amount\n{lines}"), FakeGate("amount < 0", max_share=0.1))
    assert str(caught.value).splitlines()[0] == (
        "2 of 10 rows (20%) would go into quarantine, more than max_share 10%"
    )
    assert not Iceberg("rides", CATALOG).exists()
    assert not Iceberg("rides__quarantine", CATALOG).exists()


def test_a_partitioned_table_keeps_the_files_without_bad_rows(lake: Write) -> None:
    by_day = {"partition_by": [{"column": "day", "transform": "day"}]}
    lines = "".join(f"{n},2026-01-0{1 + n % 3},{-1 if n == 4 else n}\n" for n in range(30))
    result = run(lake(f"id,day,amount\n{lines}", by_day), FakeGate("amount < 0"))
    assert (result.rows_written, ids("rides__quarantine")) == (29, [4])
    assert result.write_result.files == 3
    assert ids() == [n for n in range(30) if n != 4]
    files = sorted(Path("wh").rglob("nyc/rides/data/**/*.parquet"))
    assert len(files) == 3  # what was written again leaves no file behind


def test_windows_are_quarantined_under_their_keys(lake: Write) -> None:
    window = {"window": {"size": "day", "column": "day"}}
    csv = "id,day,amount\n1,2026-01-01,-1\n2,2026-01-01,2\n3,2026-01-02,-3\n4,2026-01-02,4\n"
    config = lake(csv, {"write_mode": "overwrite"}, **window)
    for day in (1, 2):
        run(config, FakeGate("amount < 0"), Ask(window=f"2026-01-0{day}/2026-01-0{day + 1}"))
    assert (ids(), ids("rides__quarantine")) == ([2, 4], [1, 3])
    keys = [row["_ldp_key"] for row in rows("rides__quarantine")]
    assert keys == [s["summary"]["ldp.idempotency-key"] for s in Iceberg("rides", CATALOG).snapshots()]
    again = run(config, FakeGate("amount < 0"), Ask(window="2026-01-01/2026-01-02"))
    assert (again.status, ids("rides__quarantine")) == ("skipped_duplicate", [1, 3])


def test_the_quarantine_table_follows_the_columns_of_the_target(lake: Write) -> None:
    run(lake("id,amount\n1,-1\n2,2\n"), FakeGate("amount < 0"))
    run(lake("id,amount,tip\n3,-1,0.5\n4,2,1.5\n"), FakeGate("amount < 0"))
    assert [(row["id"], row["tip"]) for row in rows("rides__quarantine")] == [(1, None), (3, 0.5)]


def test_a_run_that_cannot_write_the_quarantine_publishes_nothing(
    lake: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(lake("id,amount\n1,1\n"), FakeGate("amount < 0"))
    Iceberg("rides__quarantine", CATALOG).put([{"id": "text", "_ldp_batch": 1.5}])
    with pytest.raises(Exception, match="quarantine") as caught:
        run(lake("id,amount\n2,2\n3,-3\n"), FakeGate("amount < 0"))
    assert "drop or rename" in str(getattr(caught.value, "hint", ""))
    assert ids() == [1]


def test_too_many_rows_that_cannot_be_read_are_named(lake: Write) -> None:
    source = {"name": "rides", "format": "CSV", "path": "r.csv", "on_bad_rows": "quarantine"}
    config = lake("id,amount\n1,2\nx,3\n", source={**source, "columns": {"id": "long"}})
    with pytest.raises(DataQualityError) as caught:
        run(config, FakeGate("amount < 0", max_share=0.1))
    assert str(caught.value).splitlines()[1] == "r.csv:3: id 'x' is no long"
