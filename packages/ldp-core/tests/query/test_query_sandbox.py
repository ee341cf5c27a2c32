"""A query reads its tables and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from ldp_core import _duck, _sql
from ldp_core.errors import QueryError
from ldp_core.query.refs import find_tables
from ldp_core.query.session import query

REFUSED = [
    "copy (select 1) to 'leak.csv'",
    "with x as (copy (select 1) to 'leak.csv') select 1",
    "select * from (with x as (copy (select 1) to 'leak.csv') select 1)",
    "copy rides to '{data}'",
    "with x as (copy (select 1) to '{data}') select 1",
    "copy rides from '{data}'",
    "export database 'leak'",
    "select * from read_csv('secret.txt')",
    "select * from READ_CSV('secret.txt')",
    "select * from \"read_csv\"('secret.txt')",
    "select * from main.read_csv('secret.txt')",
    "select (select count(*) from read_text('secret.txt'))",
    "select * from rides, lateral (select * from read_blob('secret.txt'))",
    "select * from read_json('secret.txt')",
    "select * from read_parquet('other.parquet')",
    "select * from read_parquet('{data}')",
    "select * from parquet_metadata('{data}')",
    "select * from sniff_csv('secret.txt')",
    "select * from glob('*')",
    "select * from 'secret.txt'",
    'select * from "secret.csv"',
    "from 'other.parquet'",
    "select rides.* from rides, '{data}'",
    "select rides.* from rides, 'file://{data}'",
    'select rides.* from rides, "{folder}/{stem}".parquet',
    "select 1 from rides where exists (from '{data}')",
    "select * from rides, (with \"{data}\" as (select 1 b) select 1), '{data}'",
    "select * from rides, (describe '{data}')",
    "summarize (select o.* from rides, '{data}' o)",
    "select * from rides, histogram('{data}', ride_id)",
    "select * from rides, histogram_values('{data}', ride_id)",
    "select * from query('select * from read_text(''secret.txt'')')",
    "select * from query_table('secret.csv')",
    "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "with t as (from read_text('secret.txt')) select * from t",
    "values ((select content from read_text('secret.txt')))",
    "describe select * from read_csv('secret.txt')",
    "summarize 'secret.csv'",
    "pivot (from read_csv('secret.txt')) on a using count(*)",
    "attach 'x.db'",
    "attach 'x.db' as y; select 1",
    "detach memory",
    "use memory",
    "set memory_limit='1GB'",
    "set enable_external_access=true",
    "reset enable_external_access",
    "set variable x=1",
    "install httpfs",
    "load httpfs",
    "pragma database_list",
    "call range(3)",
    "create table z as select 1",
    "create temp table z as select 1",
    "create macro m() as table select 1",
    "create secret (type s3)",
    "create or replace view rides as select 1",
    "drop view rides",
    "insert into rides values (1)",
    "update rides set fare = 1",
    "delete from rides",
    "with x as (delete from rides returning *) select * from x",
    "alter view rides rename to r",
    "vacuum",
    "checkpoint",
    "begin",
    "prepare p as select 1",
    "execute p",
    "explain select 1",
    "explain analyze copy rides to 'leak.csv'",
    "select 1; select 2",
    "select 1; copy (select 1) to 'leak.csv'",
    "select 1 /* ; */; drop view rides -- ;",
    "select 1) ; copy (select 1) to 'leak.csv'; select (1",
    "select 1) union (select 2",
    "select * from duckdb_secrets()",
    "select * from duckdb_settings()",
    "select getenv('HOME')",
    "select * from enable_profiling(save_location := 'leak.json')",
    "select * from enable_logging(storage := 'file')",
    "select * from checkpoint()",
    "select * from arrow_scan(1, 2, 3)",
    "select $1",
    "/* nothing */",
    ";",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_refused(rides: Any, home: Path, sql: str) -> None:
    (home / "secret.txt").write_text("a\n1\n")
    (home / "secret.csv").write_text("a\n1\n")
    duckdb.execute(f"copy (select 1 a) to '{home}/other.parquet'")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    data = next(path for path in before if path.suffix == ".parquet" and "data" in path.parts)
    with (
        pytest.raises(QueryError) as caught,
        query(find_tables(["c.json"]), _filled(sql, data)) as run,
    ):
        list(run.rows()[1])
    assert "\n" not in str(caught.value)
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def _filled(sql: str, data: Path) -> str:
    return sql.replace("{data}", str(data)).replace("{folder}", str(data.parent)).replace("{stem}", data.stem)


@pytest.mark.parametrize(
    "sql",
    [
        "select 1;",
        "-- hello\nselect 1 -- the end",
        "select ';' as \"a;b\" ; -- done;",
        "with r as (select * from rides) select count(*) from r",
        "from rides",
        "values (1), (2)",
        "describe rides",
        "summarize rides",
        "show tables",
        "select * from range(3)",
        "select unnest([1, 2])",
        "select * from (pivot rides on ride_id in (1) using sum(fare))",
        "select * from rides union all select * from nyc.rides order by all limit 1",
        "table rides",
        "select $$;copy$$",
        "select * from information_schema.tables",
        "select count(*) from duckdb_views",
        "from main.rides",
        "from memory.main.rides",
        "from memory.nyc.RIDES",
        "with a as (from rides), b as (from a) select * from b, a x",
        "with recursive t as (select 1 a union all select a + 1 from t where a < 3) from t",
        "select count(*) from rides r where exists (with x as (from nyc.rides) from x)",
        "select r.ride_id, l.f from rides r, lateral (select r.fare f) l",
        "show rides",
    ],
)
def test_allowed(rides: Any, sql: str) -> None:
    with query(find_tables(["c.json"]), sql) as run:
        assert list(run.rows()[1])


def test_the_spill_folder_is_not_a_way_out(rides: Any, tmp_path: Path) -> None:
    (tmp_path / "near.csv").write_text("a\n1\n")
    with _duck.private() as con:
        _duck.sandbox(con)
        folder = con.execute("select current_setting('temp_directory')").fetchall()[0][0]
        allowed = con.execute("select current_setting('allowed_directories')").fetchall()[0][0]
        assert [Path(item) for item in allowed] == [Path(folder)]
        with pytest.raises(duckdb.Error):
            con.execute(f"from read_csv('{tmp_path}/near.csv')").fetchall()
    assert not Path(folder).exists()


def test_variables_of_python_are_not_tables() -> None:
    leak = {"a": [1]}
    assert leak
    with _duck.private() as con:
        _duck.sandbox(con)
        with pytest.raises(QueryError):
            _sql.guard(con, "select * from leak")


@pytest.mark.parametrize(
    "text", ["a > 1", "a > 1 -- x", "a in (select 1)", "a is null or not b", "'x' = \"c\""]
)
def test_predicates(text: str) -> None:
    with _duck.private() as con:
        assert text in _sql.predicate(con, text)


@pytest.mark.parametrize(
    "text",
    [
        "true) or (true",
        "true) union (select 1",
        "a order by b",
        "a, b",
        "",
        "true; drop table t",
        "a in (from read_csv('x'))",
        "exists (from 'x.csv')",
        "exists (with \"x.csv\" as (select 1) select 1) or exists (from 'x.csv')",
        "true limit 1",
        "a /*",
        "select 1",
    ],
)
def test_no_predicates(text: str) -> None:
    with _duck.private() as con, pytest.raises(QueryError, match="not a predicate"):
        _sql.predicate(con, text)
