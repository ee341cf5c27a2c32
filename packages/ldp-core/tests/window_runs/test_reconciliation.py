"""Every publish proves its sums before it commits, and the snapshot tells the counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core import registry
from ldp_core.errors import LDPError, SourceError
from ldp_core.run import runner
from ldp_core.run.registered import run_config
from ldp_core.targets import upsert
from ldp_core.testing.deletes import commit, delete_file, positions

MakeLake = Callable[..., Any]
needs_quality = pytest.mark.skipif(
    registry.find("ldp.gates", "quality") is None, reason="needs ldp-quality, which brings the gate"
)
DAY = (datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 8, 2, tzinfo=UTC))
ROWS = [(1, datetime(2026, 8, 1)), (2, datetime(2026, 8, 1, 9)), (3, datetime(2026, 8, 2)), (4, None)]


def counts(one: Any) -> dict[str, int]:
    return {key: int(value) for key, value in one.summary().items() if key.startswith("rows-")}


def test_the_snapshot_tells_every_count(lake: MakeLake) -> None:
    one = lake()
    one.load(ROWS, DAY, "append", transforms=[{"sql": "SELECT * FROM source WHERE id > 1"}])
    assert counts(one) == {
        "rows-read": 4,
        "rows-kept": 2,
        "rows-in": 1,
        "rows-written": 1,
        "rows-unchanged": 0,
        "rows-quarantined": 0,
        "rows-deduplicated": 0,
    }


def test_an_upsert_tells_what_it_left_alone_and_what_it_dropped(lake: MakeLake) -> None:
    one = lake()
    target = {"join_cols": ["id"], "dedupe": "last"}
    one.load(ROWS, None, "upsert", target=target)
    two = [*ROWS[:2], (2, datetime(2026, 8, 1, 10)), (5, datetime(2026, 8, 1))]
    one.load(two, DAY, "upsert", target=target)
    assert counts(one) == {
        "rows-read": 4,
        "rows-kept": 4,
        "rows-in": 4,
        "rows-written": 2,
        "rows-unchanged": 1,
        "rows-quarantined": 0,
        "rows-deduplicated": 1,
    }


@pytest.mark.parametrize("format", ["CSV", "JSONL", "PARQUET", "DUCKDB", "ICEBERG"])
@pytest.mark.parametrize("transform", [False, True])
def test_rows_read_are_all_rows_of_the_source_whatever_the_filter_skipped(
    lake: MakeLake, format: str, transform: bool
) -> None:
    one = lake()
    data = pa.table({"id": [row[0] for row in ROWS], "ts": [row[1] for row in ROWS]})
    name = {"CSV": "r.csv", "JSONL": "r.jsonl", "PARQUET": "r.parquet", "DUCKDB": "r.duckdb"}.get(format)
    source: dict[str, Any] = {"name": "rides", "format": format, "path": name}
    if format == "DUCKDB":
        source["relation"] = "rides"
        with duckdb.connect(one.folder / "r.duckdb") as con:
            con.register("data", data)
            con.execute("CREATE TABLE rides AS FROM data")
    elif format == "ICEBERG":
        other = lake()
        other.load(ROWS, None, "append")
        source = {
            "name": "rides",
            "format": "ICEBERG",
            "catalog": {"identifier": "nyc", "warehouse_path": str(other.folder / "wh")},
        }
    elif format == "PARQUET":
        pq.write_table(data, one.folder / "r.parquet")
    else:
        with duckdb.connect() as con:
            con.register("data", data)
            kind = "csv, header" if format == "CSV" else "json"
            con.execute(f"COPY data TO '{one.folder}/{name}' (FORMAT {kind})")
    steps = {"transforms": [{"sql": "SELECT * FROM source WHERE id > 1"}]} if transform else {}
    result = run_config(one.config("append", source=source, **steps), window=DAY)
    assert (result.rows_read, result.rows_kept) == (4, 2)
    assert result.rows_written == (1 if transform else 2)


def test_rows_of_a_table_with_deletes_are_counted(lake: MakeLake) -> None:
    other, one = lake(), lake()
    other.load(ROWS, None, "append")
    table = other.table().table()
    path = table.inspect.files()["file_path"].to_pylist()[0]
    commit(table, delete_file(table, positions((path, 0), (path, 2))))
    catalog = {"identifier": "nyc", "warehouse_path": str(other.folder / "wh")}
    source = {"name": "rides", "format": "ICEBERG", "catalog": catalog}
    result = run_config(one.config("append", source=source), window=DAY)
    assert (result.rows_read, result.rows_kept, result.rows_written) == (2, 1, 1)


def changing(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Do something right after the rows were written and before they are counted."""
    real = runner._stage

    def stage(*args: Any) -> Any:
        found = real(*args)
        change()
        return found

    monkeypatch.setattr(runner, "_stage", stage)


@pytest.mark.parametrize("mode", ["append", "overwrite", "upsert"])
def test_a_parquet_source_that_changes_between_the_passes_publishes_nothing(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.load(ROWS, None, "append")
    changing(monkeypatch, lambda: one.source([*ROWS, (9, datetime(2026, 8, 1, 1))]))
    with pytest.raises(SourceError, match=r"it changed meanwhile|changed while it was read"):
        one.load(ROWS, DAY, mode)
    assert one.rows() == ROWS


@pytest.mark.parametrize("steps", [[], [{"sql": "SELECT * FROM source"}]])
def test_a_text_source_that_changes_between_the_passes_publishes_nothing(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch, steps: list[Any]
) -> None:
    one = lake()
    path = one.folder / "r.csv"
    path.write_text("id,ts\n1,2026-08-01 10:00:00\n2,2026-08-02 10:00:00\n")
    source = {"name": "rides", "format": "CSV", "path": "r.csv"}
    config = one.config("append", source=source, **({"transforms": steps} if steps else {}))

    def longer() -> None:
        with path.open("a") as file:
            file.write("3,2026-08-01 11:00:00\n")

    changing(monkeypatch, longer)
    with pytest.raises(SourceError, match="changed while it was read"):
        run_config(config, window=DAY)
    assert not one.table().exists()


@pytest.mark.parametrize("mode", ["append", "overwrite", "upsert"])
def test_counts_that_do_not_add_up_publish_nothing(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.load(ROWS, None, "append")
    real = runner._summary

    def wrong(*args: Any) -> dict[str, str]:
        found = real(*args)
        return {**found, "ldp.rows-in": str(int(found["ldp.rows-in"]) + 1)}

    monkeypatch.setattr(runner, "_summary", wrong)
    with pytest.raises(LDPError, match="does not add up, nothing was published: 3 rows went in") as caught:
        one.load(ROWS, DAY, mode)
    assert caught.value.code == "unreconciled"
    assert one.rows() == ROWS
    assert len(one.files()) == 1


def test_an_upsert_that_would_lose_a_row_of_the_table_publishes_nothing(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.load(ROWS, None, "append")
    real = upsert._rows_to_write
    monkeypatch.setattr(upsert, "_rows_to_write", lambda *args: f"SELECT * FROM ({real(*args)}) LIMIT 3")
    with pytest.raises(LDPError, match="the files written hold 3 rows, not 3 that stay and 1 new ones"):
        one.load([(1, datetime(2026, 8, 1, 5))], None, "upsert")
    assert one.rows() == ROWS


def test_a_keyed_upsert_that_changes_nothing_publishes_its_key(lake: MakeLake) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.load(ROWS, None, "upsert")
    before = len(one.table().snapshots())

    again = one.load(ROWS, None, "upsert")
    assert (again.rows_written, again.write_result.rows_unchanged) == (0, 4)
    assert len(one.table().snapshots()) == before

    first = run_config(one.config("upsert"), window=DAY)
    assert (first.status, first.rows_written, first.write_result.rows_unchanged) == ("published", 0, 2)
    assert len(one.table().snapshots()) == before + 1
    assert one.table().snapshots()[-1]["summary"]["ldp.rows-unchanged"] == "2"
    assert run_config(one.config("upsert"), window=DAY).status == "skipped_duplicate"
    assert one.rows() == ROWS


@pytest.mark.parametrize("mode", ["append", "overwrite", "upsert"])
def test_an_empty_window_is_published_also_into_a_table_that_is_not_there(lake: MakeLake, mode: str) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.source(ROWS[2:])
    result = run_config(one.config(mode), window=DAY)
    assert (result.status, result.rows_read, result.rows_kept, result.rows_written) == ("published", 2, 0, 0)
    assert one.rows() == []
    assert counts(one)["rows-in"] == 0
    assert run_config(one.config(mode), window=DAY).status == "skipped_duplicate"


@needs_quality
def test_checks_of_a_window_see_its_rows_its_count_and_its_end(lake: MakeLake) -> None:
    one = lake()
    checks = [
        {"check": "row_count", "equals": "source"},
        {"check": "freshness", "column": "ts", "max_age_hours": 24},
    ]
    result = one.load(ROWS, DAY, "append", quality=checks)
    assert result.quality is not None
    assert result.quality.to_dict()["failed"] == 0
    assert (result.rows_read, result.rows_kept) == (4, 2)


def test_events_tell_what_was_read_and_what_was_kept(lake: MakeLake) -> None:
    one = lake()
    one.load(ROWS, DAY, "append")
    lines = (one.folder / ".ldp" / "events.jsonl").read_text().splitlines()
    payload = next(
        event["payload"] for line in lines if (event := json.loads(line))["type"] == "run.extracted"
    )
    assert (payload["rows_read"], payload["rows_kept"]) == (4, 2)


def test_a_run_without_a_window_counts_as_before(lake: MakeLake) -> None:
    one = lake()
    result = one.load(ROWS, None, "append", transforms=[{"sql": "SELECT * FROM source LIMIT 1"}])
    assert (result.rows_read, result.rows_kept, result.rows_written) == (4, 4, 1)
