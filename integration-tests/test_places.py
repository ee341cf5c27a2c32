"""The whole job wherever a table can live."""

from __future__ import annotations

import csv
import io
from datetime import datetime

import pyarrow.parquet as pq
import pytest
from places import COLUMNS, Place, csv_text, rides

pytestmark = [
    pytest.mark.service,
    pytest.mark.filterwarnings("ignore:.*utcnow:DeprecationWarning"),  # botocore signs with it
]
PRICES = "SELECT fare::VARCHAR, count(*) FROM rides GROUP BY fare ORDER BY fare"


@pytest.mark.parametrize("place", ["local", "sqlite-s3", "postgres", "rest"], indirect=True)
def test_the_whole_job(place: Place) -> None:
    # Load, and load again.
    path = place.put("rides.csv", csv_text(rides(range(90))))
    config = place.load("load", path)
    assert "wrote 90 rows" in place.process("run", config)
    again = place.ldp("run", config)
    assert (again["rows_read"], again["rows_written"]) == (90, 90)
    first = place.ldp("snapshots", config)["snapshots"]
    assert [item["total_records"] for item in first] == [90, 180]

    # A new column comes with an append.
    place.put("rides.csv", csv_text([{**ride, "tip": "1.25"} for ride in rides(range(90, 120))]))
    assert place.ldp("run", config)["rows_written"] == 30
    tips = "SELECT count(*), count(tip), sum(tip)::VARCHAR FROM rides"
    assert place.query(config, tips) == [[210, 30, "37.50"]]

    # The table as it was.
    at = (config, "SELECT count(*) FROM rides")
    assert place.query(*at, "--snapshot", first[0]["snapshot_id"]) == [[90]]
    assert place.query(*at, "--as-of", first[1]["committed_at"]) == [[180]]
    assert place.query(*at) == [[210]]

    # Overwrite.
    place.put("rides.csv", csv_text([{**ride, "tip": "1.25"} for ride in rides(range(60))]))
    assert place.ldp("run", config, "--mode", "overwrite")["write_result"]["rows_after"] == 60

    # Upsert; of several rows of one key the dearest wins.
    changes = [*rides(range(50, 70), "9.00"), *rides(range(50, 52), "9.50")]
    path = place.put("changes.csv", csv_text([{**ride, "tip": "1.25"} for ride in changes]))
    upsert = place.load(
        "upsert", path, write_mode="upsert", join_cols=["ride_id"], dedupe="last", order_by=["fare"]
    )
    done = place.ldp("run", upsert)["write_result"]
    assert (done["rows_written"], done["rows_after"], done["rows_deduplicated"]) == (20, 70, 2)
    assert place.query(config, PRICES) == [["5.50", 50], ["9.00", 18], ["9.50", 2]]
    again = place.ldp("run", upsert)["write_result"]
    assert (again["rows_written"], again["rows_unchanged"], again["rows_after"]) == (0, 20, 70)

    # Partitions.
    path = place.put("all.csv", csv_text(rides(range(300))))
    by_day = place.load("days", path, "days", partition_by=[{"column": "pickup_ts", "transform": "day"}])
    assert place.ldp("run", by_day)["write_result"]["files"] == 3
    place.ldp("run", by_day, "--mode", "overwrite")
    days = "SELECT pickup_ts::DATE AS d, count(*) FROM days GROUP BY d ORDER BY d"
    assert [count for _, count in place.query(by_day, days)] == [100, 100, 100]
    assert place.ldp("describe", by_day)["partitioned_by"] == ["day(pickup_ts)"]

    # A gate holds a batch back.
    checks = {"on_failure": "fail", "checks": [{"check": "range", "column": "ride_id", "max": 10}]}
    assert place.ended("run", place.load("bad", path, "days", quality=checks))[0] == 3
    assert place.query(by_day, "SELECT count(*) FROM days") == [[300]]

    # What is there; a catalog that many share lists the tables of others, too.
    listed = place.ldp("tables", config)["tables"]
    space = place.ldp("describe", config)["table"].removesuffix(".rides")
    ours = {item["name"]: item["rows"] for item in listed if item["namespace"] == space}
    assert ours == {"rides": 70, "days": 300}
    columns = [item["column"] for item in place.ldp("describe", config)["columns"]]
    assert columns == [*COLUMNS, "tip"]
    assert place.ldp("catalog", "test", config)["ok"] is True
    both = "SELECT count(*) FROM rides JOIN days USING (ride_id)"
    assert place.ldp("query", config, by_day, both) == [{"count_star()": 70}]

    # Out again.
    for ending in ("csv", "parquet"):
        assert place.ldp("run", place.export(f"to_{ending}", f"out/rides.{ending}"))["rows_written"] == 70
    exported = list(csv.DictReader(io.StringIO(place.get("out/rides.csv").decode())))
    assert sorted(int(row["ride_id"]) for row in exported) == list(range(70))
    assert sorted(pq.read_table(io.BytesIO(place.get("out/rides.parquet")))["ride_id"].to_pylist()) == list(
        range(70)
    )

    # Pins.
    pin = ("datasets", "pin", config, "dear", "--filter", "fare > 6", "--fields", "ride_id,fare")
    if place.keeps_files:
        assert place.ldp(*pin)["rows"] == 20
        place.ldp("run", config, "--mode", "overwrite")
        assert [item["name"] for item in place.ldp("datasets", "list", "--config", config)] == ["dear"]
        place.ldp("datasets", "export", "dear@v1", "dear.parquet", "--config", config)
        assert pq.read_table(place.root / "dear.parquet").num_rows == 20
    else:
        assert place.ended(*pin)[0] == 1
        assert not [name for name in place.table().metadata.refs if "dear" in name]
        place.ldp("run", config, "--mode", "overwrite")

    # A foreign reader sees the same, and nothing is left over.
    assert [row["ride_id"] for row in place.rows()] == list(range(60))
    assert {type(row["pickup_ts"]) for row in place.rows()} == {datetime}
    assert place.orphans("rides") == []
    assert place.orphans("days") == []
    assert "60" in place.process("query", config, "SELECT count(*) FROM rides")


@pytest.mark.parametrize("place", ["glue", "gs", "abfss"], indirect=True)
def test_load_and_query(place: Place) -> None:
    place.put("in/a.csv", csv_text(rides(range(60))))
    place.put("in/b.csv", csv_text(rides(range(60, 90))))
    config = place.load("load", f"{place.store}/in/*.csv")
    assert "wrote 90 rows" in place.process("run", config)
    upsert = place.load(
        "upsert",
        place.put("changes.csv", csv_text(rides(range(80, 100), "9.00"))),
        write_mode="upsert",
        join_cols="ride_id",
    )
    assert place.ldp("run", upsert)["write_result"]["rows_after"] == 100
    assert place.query(config, "SELECT count(*), count(DISTINCT ride_id) FROM rides") == [[100, 100]]
    for ending in ("csv", "parquet"):
        assert place.ldp("run", place.export(f"to_{ending}", f"out/rides.{ending}"))["rows_written"] == 100
    back = place.load("back", f"{place.store}/out/rides.parquet", "back")
    assert place.ldp("run", back)["rows_written"] == 100
    assert [row["ride_id"] for row in place.rows("back")] == list(range(100))
    assert place.orphans("rides") == []
    assert "100" in place.process("query", config, "SELECT count(*) FROM rides")


@pytest.mark.parametrize("place", ["sqlite-s3"], indirect=True)
@pytest.mark.parametrize("path", ["in/*.csv", "in", "in/", "in/**/*.csv", "in/a.csv"])
def test_csv_files_of_a_store(place: Place, path: str) -> None:
    place.put("in/a.csv", csv_text(rides(range(30))))
    place.put("in/b.csv", csv_text(rides(range(30, 60))))
    place.put("in/_SUCCESS", "")
    place.put("in/.hidden.csv", "x\n1\n")
    place.put("inner/c.csv", csv_text(rides(range(60, 90))))
    rows = 30 if path == "in/a.csv" else 60
    if path in ("in", "in/"):
        place.put("in/c.txt", csv_text(rides(range(60, 70))))
        rows = 70
    assert place.ldp("run", place.load("load", f"{place.store}/{path}"))["rows_written"] == rows


@pytest.mark.parametrize("place", ["sqlite-s3"], indirect=True)
def test_parquet_files_of_a_store(place: Place) -> None:
    import pyarrow as pa

    for number in range(3):
        sink = io.BytesIO()
        pq.write_table(pa.table({"ride_id": [number, number + 10], "fare": [1.5, 2.5]}), sink)
        place.put(f"in/{number}.parquet", sink.getvalue())
    assert place.ldp("run", place.load("one", f"{place.store}/in/0.parquet"))["rows_written"] == 2
    assert place.ldp("run", place.load("all", f"{place.store}/in/*.parquet"))["rows_written"] == 6
    assert [row["ride_id"] for row in place.rows()] == [0, 0, 1, 2, 10, 10, 11, 12]
    assert place.orphans() == []


@pytest.mark.parametrize("place", ["sqlite-s3"], indirect=True)
def test_an_absent_file_of_a_store_is_one_clear_line(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    code, _ = place.ended("run", place.load("load", f"{place.store}/nothing.csv"))
    assert code == 1
    err = capfd.readouterr().err
    assert "nothing.csv" in err
    assert len(err.splitlines()) == 1, err
