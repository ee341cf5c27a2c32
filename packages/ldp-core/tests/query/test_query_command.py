"""``ldp query`` as a person uses it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from ldp_core.commands.query import query
from ldp_core.errors import LDPError, QueryError, SnapshotNotFound, TableNotFound, UsageError


def ldp(*words: str) -> Result:
    result = CliRunner().invoke(query, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_table_is_aligned_and_counted(rides: Any) -> None:
    assert ldp("c.json", "select count(*) n, sum(fare) s from rides").stdout == (
        "n     s\n-  ----\n3  22.0\n(1 row)\n"
    )
    assert ldp("c.json", "select * from rides order by 1", "--max-rows", "1").stdout == (
        "ride_id  pickup_ts            fare\n"
        "-------  -------------------  ----\n"
        "      1  2026-08-01 10:00:00   5.5\n"
        "... 2 more rows\n(3 rows)\n"
    )
    assert ldp("c.json", "select 1 limit 0").stdout == "1\n-\n(0 rows)\n"
    assert ldp("c.json", "select null x, 'a' y union all select 'b', null order by y").stdout == (
        "x     y\n----  ----\nNULL  a\nb     NULL\n(2 rows)\n"
    )
    assert ldp("c.json", "select * from nyc.rides where fare > 6;", "--max-rows", "0").stdout.endswith(
        "... 2 more rows\n(2 rows)\n"
    )


def test_json_keeps_types(rides: Any) -> None:
    sql = (
        "select 9007199254740993 big, 1.10::decimal(5,2) money, 'nan'::double nan, date '2020-01-02' d, "
        "timestamp '2020-01-02 03:04:05' t, null n, true b, {'x': [1, null]} s, map{1: 'a'} m, "
        "'\\xFF'::blob bin, 1 n, timestamptz '2020-01-02 03:04:05+00' tz, sum(ride_id) total from rides"
    )
    text = ldp("c.json", sql, "--json").stdout
    assert '"big": 9007199254740993' in text
    assert '"money": 1.10' in text
    row = json.loads(text, parse_float=Decimal)[0]
    assert row == {
        "big": 9007199254740993,
        "money": Decimal("1.10"),
        "nan": None,
        "d": "2020-01-02",
        "t": "2020-01-02T03:04:05",
        "n": None,
        "b": True,
        "s": {"x": [1, None]},
        "m": {"1": "a"},
        "bin": "ff",
        "n_1": 1,
        "tz": "2020-01-02T03:04:05+00:00",
        "total": 6,
    }
    assert json.loads(ldp("c.json", "select 1 where false", "--format", "json").stdout) == []
    assert len(json.loads(ldp("c.json", "from rides", "--json", "--max-rows", "2").stdout)) == 2


def test_csv_by_the_rfc(rides: Any, home: Path) -> None:
    sql = (
        "select 'a,\"b\"' q, '' empty, null missing, 'x\ny' lines, "
        "1.50::decimal(4,2) money, ride_id from rides"
    )
    ldp("c.json", sql, "--output", "o.csv")
    raw = (home / "o.csv").read_bytes().decode()
    assert raw.startswith('q,empty,missing,lines,money,ride_id\r\n"a,""b""","",,"x\ny",1.50,')
    with (home / "o.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 4


def test_parquet_needs_a_file_and_arrives_whole(rides: Any, home: Path) -> None:
    with pytest.raises(UsageError, match="--output"):
        ldp("c.json", "from rides", "--format", "parquet")
    ldp("c.json", "select *, 1 a, 2 A from rides order by 1", "--output", "o.parquet", "--max-rows", "2")
    assert pq.read_table(home / "o.parquet").column_names == ["ride_id", "pickup_ts", "fare", "a", "A_1"]
    with pytest.raises(QueryError):
        ldp("c.json", "select error('broken') from rides", "--output", "o2.parquet")
    with pytest.raises(UsageError, match="folder"):
        ldp("c.json", "from rides", "--output", "no/such/o.csv")
    assert sorted(path.name for path in home.iterdir()) == ["c.json", "o.parquet", "wh"]


def test_a_folder_of_configs(rides: Any, load: Callable[..., Any], home: Path) -> None:
    load("zones", pa.table({"id": [1], "name": ["Queens"]}))
    load("rides", pa.table({"id": [9]}), catalog="ber", file="ber.json")
    (home / "notes.json").write_text('{"hello": "world"}')
    (home / "broken.yaml").write_text("a: [")
    assert ldp(".", "select name from zones").stdout == "name\n------\nQueens\n(1 row)\n"
    assert ldp(".", "select n.ride_id from nyc.rides n join ber.rides b on b.id = n.ride_id * 3", "--json")
    with pytest.raises(QueryError, match=r"2 tables; say one of ber\.rides, nyc\.rides"):
        ldp(".", "select * from rides")
    assert ldp(".", "with rides as (select 1 x) select * from rides").stdout == "x\n-\n1\n(1 row)\n"
    with pytest.raises(
        QueryError, match=r"nope does not exist!?; tables: ber\.rides, nyc\.rides, nyc\.zones"
    ):
        ldp(".", "select * from nope")
    assert "zones" in ldp(".", "show tables").stdout
    assert ldp("c.json", "zones.json", "select count(*) n from rides, zones").stdout.startswith("n\n-\n3\n")


def test_a_folder_with_a_catalog_alone(rides: Any, home: Path) -> None:
    assert ldp("wh", "select count(*) n from nyc.rides").stdout == "n\n-\n3\n(1 row)\n"
    (home / "empty").mkdir()
    with pytest.raises(TableNotFound, match="no config"):
        ldp("empty", "select 1")


def test_time_travel(rides: Any, load: Callable[..., Any]) -> None:
    first = rides.current_snapshot()
    rides.append(rides.scan().to_arrow())
    rides.manage_snapshots().create_branch(first.snapshot_id, "old").commit()
    count = "select count(*) n from rides"
    assert "\n3\n" in ldp("c.json", count, "--snapshot", str(first.snapshot_id)).stdout
    assert "\n3\n" in ldp("c.json", count, "--branch", "old").stdout
    assert "\n6\n" in ldp("c.json", count, "--branch", "main").stdout
    assert "\n6\n" in ldp("c.json", count).stdout
    then = datetime.fromtimestamp(first.timestamp_ms / 1000, UTC).isoformat()
    assert "\n3\n" in ldp("c.json", count, "--as-of", then).stdout
    assert "\n6\n" in ldp("c.json", count, "--as-of", "2100-01-01").stdout
    with pytest.raises(
        SnapshotNotFound, match=rf"snapshot 1 not found in .*nyc\.rides; .*{first.snapshot_id}"
    ):
        ldp("c.json", "select * from rides", "--snapshot", "1")
    with pytest.raises(
        SnapshotNotFound,
        match=r"no snapshot committed at or before 2000-01-01 00:00:00\.000 UTC; its oldest .* UTC",
    ):
        ldp("c.json", "select * from rides", "--as-of", "2000-01-01")
    with pytest.raises(SnapshotNotFound, match="known: main, old"):
        ldp("c.json", count, "--branch", "x")
    with pytest.raises(UsageError, match="exclude"):
        ldp("c.json", count, "--branch", "old", "--snapshot", "1")
    with pytest.raises(UsageError, match="yesterday"):
        ldp("c.json", count, "--as-of", "yesterday")
    load("zones", pa.table({"id": [1]}))
    with pytest.raises(UsageError, match="one table"):
        ldp(".", count, "--branch", "old")


def test_a_snapshot_is_read_in_its_schema(rides: Any) -> None:
    first = rides.current_snapshot().snapshot_id
    with rides.update_schema() as update:
        update.rename_column("fare", "price")
    assert json.loads(ldp("c.json", "select price from rides limit 1", "--json").stdout)
    assert json.loads(
        ldp("c.json", "select fare from rides limit 1", "--json", "--snapshot", str(first)).stdout
    )


def test_mistakes_are_one_line(rides: Any, home: Path) -> None:
    for sql in (
        "selec 1",
        "select nope from rides",
        "select * from nope",
        "select 1/'x'",
        "",
        "select error('a\nb')",
    ):
        with pytest.raises(QueryError) as caught:
            ldp("c.json", sql)
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError):
        ldp("c.json")
    with pytest.raises(LDPError):
        ldp("none.json", "select 1")
    with pytest.raises(UsageError):
        ldp("c.json", "select 1", "--max-rows", "-1")


def test_a_table_that_is_not_there_creates_nothing(rides: Any, home: Path) -> None:
    text = (home / "c.json").read_text()
    (home / "d.json").write_text(text.replace('"rides"', '"gone"'))
    with pytest.raises(TableNotFound, match=r"nyc\.gone does not exist; tables: nyc\.rides"):
        ldp("d.json", "from gone")
    (home / "e.json").write_text(text.replace('"wh"', '"other"'))
    with pytest.raises(TableNotFound):
        ldp("e.json", "from rides")
    assert not (home / "other").exists()


def test_a_repeated_query_imports_neither_pyiceberg_nor_pyarrow(rides: Any, home: Path) -> None:
    code = (
        "import sys\n"
        "from ldp_core.commands.query import query\n"
        "query.main(['c.json', 'select sum(fare) from rides'], standalone_mode=False)\n"
        "print(sorted({'pyiceberg', 'pyarrow', 'sqlalchemy', 'numpy', 'pandas'} & set(sys.modules)))\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=home, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert "pyiceberg" in outputs[0]
    assert outputs[1].endswith("22.0\n(1 row)\n[]\n")


def test_only_the_target_of_a_config_matters(rides: Any, home: Path) -> None:
    body = json.loads((home / "c.json").read_text())
    body["identifier"] = ""
    body["metadata"] |= {
        "source": {"name": "r", "format": "NOSUCH"},
        "quality": [{"check": "nosuch"}],
        "wndow": 1,
    }
    (home / "c.json").write_text(json.dumps(body))
    assert ldp("c.json", "select count(*) n from rides", "--format", "csv").stdout == "n\n3\n"
    body["metadata"]["target"]["name"] = 7
    body["metadata"]["target"]["write_mod"] = "append"
    (home / "c.json").write_text(json.dumps(body))
    with pytest.raises(LDPError) as error:
        ldp("c.json", "from rides")
    assert "target.name" in str(error.value)
    assert "NOSUCH" not in str(error.value)


def test_nanoseconds_and_intervals_are_whole(rides: Any) -> None:
    sql = (
        "select timestamp_ns '2026-01-01 10:00:00.123456789' a, "
        "[timestamp_ns '2026-01-01 10:00:00.5'] b, interval 3 month c, 1 d, 2 d from rides limit 1"
    )
    assert ldp("c.json", sql, "--format", "csv").stdout.splitlines() == [
        "a,b,c,d,d",
        '2026-01-01 10:00:00.123456789,"[""2026-01-01 10:00:00.5""]",3 months,1,2',
    ]


def test_a_uuid_stays_one_in_parquet(rides: Any, home: Path) -> None:
    one = "6b326690-401c-41b1-9d3c-2521cbbfbd5f"
    sql = f"select uuid '{one}' u, interval 1 day i, ride_id > 1 b, null::uuid n from rides order by ride_id"
    ldp("c.json", sql, "--output", "o.parquet", "--max-rows", "2")
    table = pq.read_table(home / "o.parquet")
    assert [str(field.type) for field in table.schema] == [
        "extension<arrow.uuid>",
        "string",
        "bool",
        "extension<arrow.uuid>",
    ]
    assert [str(value) for value in table["u"].to_pylist()] == [one, one]
    assert table["n"].null_count == 2


def test_a_nested_namespace_is_told_as_sql_writes_it(load: Callable[..., Any], home: Path) -> None:
    load("rides", pa.table({"id": [1]}), catalog="a.b")
    with pytest.raises(QueryError) as error:
        ldp("rides.json", "from a.b.rides")
    assert error.value.hint == 'tables: "a.b".rides'
    assert ldp("rides.json", 'select id from "a.b".rides', "--format", "csv").stdout == "id\n1\n"
