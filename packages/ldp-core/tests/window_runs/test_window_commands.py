"""Windows through the real command: whole days of 23 and 25 hours, the repeated hour, every type."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_cli.main import main
from ldp_core.fs import local_path
from ldp_core.spi import Keyed
from ldp_core.tables.window_rows import condition
from ldp_core.window import iter_windows, parse_window
from ldp_core.window.parse import moment

MakeLake = Callable[..., Any]
Load = Callable[..., dict[str, Any]]


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    """Runs ``ldp run --window`` on a lake's config; returns what it says as JSON."""

    def run(one: Any, window: str, mode: str = "append", code: int = 0, **metadata: Any) -> dict[str, Any]:
        assert main(["run", str(one.config(mode, **metadata)), "--window", window, "--json"]) == code
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


def windows(zone: str, start: str, end: str, size: str) -> list[str]:
    bounds = (moment(start, "start", zone), moment(end, "end", zone))
    return [str(window) for window in iter_windows(*bounds, size, zone)]


def every_half_hour(first: datetime, hours: int) -> list[tuple[int, datetime]]:
    return [(number, first + timedelta(minutes=30 * number)) for number in range(2 * hours)]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
@pytest.mark.parametrize(
    ("zone", "start", "end"),
    [
        ("Europe/Paris", "2026-10-25T01:00", "2026-10-25T05:00"),
        ("Europe/Paris", "2026-03-29T00:00", "2026-03-29T05:00"),
    ],
)
def test_hours_over_a_change_of_the_clock_load_every_local_time_once(
    lake: MakeLake, load: Load, mode: str, zone: str, start: str, end: str
) -> None:
    one = lake(zone=zone)
    first = datetime.fromisoformat(start)
    rows = every_half_hour(first, (datetime.fromisoformat(end) - first) // timedelta(hours=1))
    one.source(rows)
    hours = windows(zone, start, end, "hour")
    assert len(hours) == 5 if "10-25" in start else 4
    kept = [load(one, window, mode)["rows_kept"] for window in hours]
    assert sum(kept) == len(rows)
    assert kept == ([2, 0, 2, 2, 2] if "10-25" in start else [2, 4, 2, 2])
    assert one.rows() == rows


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25)])
def test_a_day_of_23_or_25_hours(lake: MakeLake, load: Load, day: str, hours: int) -> None:
    one = lake(zone="Europe/Paris")
    tomorrow = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    first = datetime.fromisoformat(day)
    one.source(every_half_hour(first - timedelta(hours=2), 28))
    found = load(one, f"{day}/{tomorrow}")
    start, end = (datetime.fromisoformat(bound) for bound in found["window"].split("/"))
    assert end - start == timedelta(hours=hours)
    assert found["rows_kept"] == 48
    assert {row[1].date().isoformat() for row in one.rows()} == {day}

    instants = lake("timestamptz", zone="Europe/Paris")
    instants.source([(number, start + timedelta(hours=number - 2)) for number in range(hours + 4)])
    assert load(instants, f"{day}/{tomorrow}")["rows_kept"] == hours


def test_a_day_that_a_zone_skips_is_no_window(lake: MakeLake, capsys: Any) -> None:
    one = lake(zone="Pacific/Apia")
    one.source([(1, datetime(2011, 12, 30, 12))])
    assert main(["run", str(one.config("append")), "--window", "2011-12-30/2011-12-31"]) == 1
    assert "must be after its start" in capsys.readouterr().err


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_bounds_below_a_second(lake: MakeLake, load: Load, unit: str) -> None:
    one = lake()
    step = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1}[unit]
    begin = datetime(2026, 8, 1)
    values = [begin + timedelta(microseconds=number * step) for number in range(4)]
    data = pa.table({"id": range(4), "ts": pa.array(values, pa.timestamp("us")).cast(pa.timestamp(unit))})
    pq.write_table(data, one.folder / "r.parquet")
    low, high = (value.isoformat() for value in (values[1], values[3]))
    found = load(one, f"{low}/{high}")
    assert (found["rows_read"], found["rows_kept"]) == (4, 2)
    assert [row[0] for row in one.rows()] == [1, 2]


def test_the_last_nanosecond_before_the_end_belongs_to_the_window(lake: MakeLake, load: Load) -> None:
    one = lake()
    end = 1_785_628_800_000_000_000
    values = pa.array([end - 86_400_000_000_000, end - 1, end], pa.int64()).cast(pa.timestamp("ns"))
    pq.write_table(pa.table({"id": range(3), "ts": values}), one.folder / "r.parquet")
    found = load(one, "2026-08-01/2026-08-02")
    assert (found["rows_read"], found["rows_kept"]) == (3, 2)


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")])
def test_dictionaries(kind: pa.DataType) -> None:
    """Parquet keeps dictionaries of texts alone, Arrow of anything."""
    days = pa.array([datetime(2026, 8, number) for number in (1, 2, 3, 2)], pa.timestamp("us"))
    data = pa.table({"ts": days.cast(kind).dictionary_encode()})
    window = parse_window("2026-08-02/2026-08-03")
    keyed = Keyed("rides", start=window.start, end=window.end, column="ts")
    with duckdb.connect() as con:
        con.register("data", data)
        where = condition(keyed, data.schema)
        assert con.execute(f"SELECT count(*) FROM data WHERE {where}").fetchall() == [(2,)]


def test_dates_need_whole_local_days(lake: MakeLake, load: Load) -> None:
    one = lake("date", zone="Europe/Paris")
    one.source([(1, date(2026, 8, 1)), (2, date(2026, 8, 2)), (3, None)])
    found = load(one, "2026-08-01T00:00Z/2026-08-02T00:00Z", code=1)
    assert (
        "is a date column, so a window must start and end at midnight in Europe/Paris"
        in found["error"]["message"]
    )
    assert load(one, "2026-08-01/2026-08-02")["rows_kept"] == 1
    assert load(one, "2026-08-01T22:00Z/2026-08-02T22:00Z")["rows_kept"] == 1
    assert [row[0] for row in one.rows()] == [1, 2]


def test_a_column_of_another_type_or_of_no_source_is_one_line(lake: MakeLake, load: Load) -> None:
    one = lake()
    data = pa.table({"id": [1], "ts": pa.array([Decimal("1.5")])})
    pq.write_table(data, one.folder / "r.parquet")
    told = load(one, "2026-08-01/2026-08-02", code=1)["error"]["message"]
    assert told.startswith("metadata.window.column 'ts' is a decimal128(2, 1) column of the source")
    told = load(one, "2026-08-01/2026-08-02", code=1, said={"column": "no"})["error"]["message"]
    assert told == "metadata.window.column 'no' is not a column of the source (columns: id, ts)"


def test_a_text_source_filters_by_the_type_that_the_config_gives(lake: MakeLake, load: Load) -> None:
    one = lake(zone="Europe/Paris")
    (one.folder / "r.csv").write_text(
        "id,ts\n1,2026-07-31T21:59:59Z\n2,2026-07-31T22:00:00Z\n3,2026-08-01T23:59:59+02:00\n4,\n"
    )
    source = {"name": "r", "format": "CSV", "path": "r.csv", "columns": {"ts": "timestamptz"}}
    found = load(one, "2026-08-01/2026-08-02", source=source)
    assert (found["rows_read"], found["rows_kept"]) == (4, 2)
    assert [row[0] for row in one.rows()] == [2, 3]


def test_the_path_of_a_window_is_filled_in_and_redone_under_another_key(
    lake: MakeLake, load: Load, capsys: Any
) -> None:
    one = lake(zone="Europe/Paris")
    for day in (1, 2):
        one.source([(day, datetime(2026, 8, day, 10))], f"d_{day}.parquet")
    source = {"name": "r", "format": "PARQUET", "path": "d_{window_start:%-d}.parquet"}
    for day in (1, 2):
        load(one, f"2026-08-0{day}/2026-08-0{day + 1}", "overwrite", source=source)
    assert load(one, "2026-08-01/2026-08-02", "overwrite", source=source)["status"] == "skipped_duplicate"
    one.source([(7, datetime(2026, 8, 1, 11))], "d_1.parquet")
    config = str(one.config("overwrite", source=source))
    again = ["run", config, "--window", "2026-08-01/2026-08-02", "--idempotency-key", "rides-2026-08-01-v2"]
    assert main(again) == 0
    capsys.readouterr()
    assert one.rows() == [(2, datetime(2026, 8, 2, 10)), (7, datetime(2026, 8, 1, 11))]


def test_parquet_opens_the_row_groups_of_the_window_alone(lake: MakeLake, load: Load) -> None:
    """A file whose pages outside the window are broken is read all the same."""
    one = lake()
    rows = [(number, datetime(2026, 8, 1 + number // 1000)) for number in range(3000)]
    one.source(rows)
    path = one.folder / "r.parquet"
    pq.write_table(pq.read_table(path), path, row_group_size=1000)
    footer = pq.read_metadata(path)
    body = bytearray(path.read_bytes())
    for group in (0, 2):
        for column in range(2):
            chunk = footer.row_group(group).column(column)
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            body[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(bytes(body))
    found = load(one, "2026-08-02/2026-08-03")
    assert (found["rows_read"], found["rows_kept"], found["rows_written"]) == (3000, 1000, 1000)


def test_an_iceberg_source_opens_the_files_of_the_window_alone(lake: MakeLake, load: Load) -> None:
    other, one = lake(), lake()
    for day in (1, 2, 3):
        other.load([(day, datetime(2026, 8, day, 10))], None, "append")
    other.load([(4, None)], None, "append")
    day_of = {}
    for path in other.files():
        value = pq.read_table(path)["ts"].to_pylist()[0]
        day_of[value.day if value else None] = path
    for day in (1, 3, None):
        Path(local_path(str(day_of[day]))).unlink()
    catalog = {"identifier": "nyc", "warehouse_path": str(other.folder / "wh")}
    source = {"name": "rides", "format": "ICEBERG", "catalog": catalog}
    found = load(one, "2026-08-02/2026-08-03", source=source)
    assert (found["rows_read"], found["rows_kept"], found["rows_written"]) == (4, 1, 1)
    assert one.rows() == [(2, datetime(2026, 8, 2, 10))]


def test_a_duckdb_source_hands_over_the_rows_of_the_window_alone(
    lake: MakeLake, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldp_core.tables import spill

    seen: list[int] = []
    real = spill.spill

    def counting(scratch: Any, schema: Any, batches: Any) -> Any:
        path = real(scratch, schema, batches)
        seen.append(pq.read_metadata(path).num_rows)
        return path

    monkeypatch.setattr(spill, "spill", counting)
    one = lake()
    with duckdb.connect(one.folder / "r.duckdb") as con:
        hours = "SELECT i AS id, TIMESTAMP '2026-08-01' + INTERVAL (i) HOUR AS ts FROM range(72) t(i)"
        con.execute(f"CREATE TABLE rides AS {hours}")
    source = {"name": "r", "format": "DUCKDB", "path": "r.duckdb", "relation": "rides"}
    found = load(one, "2026-08-02/2026-08-03", source=source)
    assert (found["rows_read"], found["rows_kept"]) == (72, 24)
    assert seen == [24]


def test_a_table_that_was_renamed_keeps_its_windows(lake: MakeLake, load: Load, capsys: Any) -> None:
    one, day, target = lake(), "2026-08-01/2026-08-02", {"name": "trips"}
    one.source([(1, datetime(2026, 8, 1, 8)), (2, datetime(2026, 8, 2, 8))])
    load(one, day)
    one.table().table().catalog.rename_table(("nyc", "rides"), ("nyc", "trips"))
    assert load(one, day, target=target)["status"] == "skipped_duplicate"
    assert main(["keys", "show", str(one.config("append", target=target)), "--window", day]) == 0
    assert capsys.readouterr().out.startswith("published")
    load(one, "2026-08-01/2026-08-03", code=1, target=target)
    for status in ("published", "skipped_duplicate"):
        assert load(one, "2026-08-02/2026-08-03", target=target)["status"] == status
    assert load(one, day, target=target)["status"] == "skipped_duplicate"


def test_a_file_target_takes_the_rows_of_the_window(lake: MakeLake, load: Load) -> None:
    one = lake()
    one.source([(1, datetime(2026, 8, 1)), (2, datetime(2026, 8, 2)), (3, None)])
    config = json.loads(one.config("append").read_text())
    config["metadata"]["target"] = {"name": "o", "format": "CSV", "path": "o.csv"}
    one.config = lambda *args, **kwargs: path
    path = one.folder / "c.json"
    path.write_text(json.dumps(config))
    found = load(one, "2026-08-01/2026-08-02")
    assert (found["rows_read"], found["rows_kept"], found["rows_written"]) == (3, 1, 1)
    assert found["idempotency_key"] is None
    assert (one.folder / "o.csv").read_text().splitlines()[1].startswith("1,")
