"""PostgreSQL answers checks as every executor does, and never a wrong thing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from ldp_core.errors import ConfigError, SourceError, TableNotFound
from ldp_quality import (
    AcceptedValues,
    Expression,
    NotNull,
    PostgresTable,
    Range,
    Referential,
    Rule,
    SchemaHas,
    Unique,
    run_checks,
)
from ldp_quality.testing.conformance import Conformance
from ldp_quality.testing.oracle import Oracle

pytestmark = pytest.mark.service

_TYPES = {
    pa.int32(): "int4",
    pa.int64(): "int8",
    pa.float64(): "float8",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.list_(pa.float64()): "float8[]",
}


def type_name(type_: pa.DataType) -> str:
    if pa.types.is_decimal(type_):
        return f"numeric({type_.precision}, {type_.scale})"
    if pa.types.is_timestamp(type_):
        return "timestamptz" if type_.tz else "timestamp"
    return _TYPES[type_]


@contextmanager
def loaded(server: str, table: pa.Table) -> Iterator[PostgresTable]:
    """The rows in a new table, in their order."""
    import psycopg

    name = f"t{uuid4().hex}"
    columns = [(field.name.replace('"', '""'), type_name(field.type)) for field in table.schema]
    listed = ", ".join(f'"{column}" {type_}' for column, type_ in columns)
    with psycopg.connect(f"{server}/postgres", autocommit=True) as con:
        con.execute(f'CREATE UNLOGGED TABLE public."{name}" ({listed})')
        with con.cursor().copy(f'COPY public."{name}" FROM STDIN') as copy:
            for row in table.to_pylist():
                copy.write_row(list(row.values()))
    yield PostgresTable(f"{server}/postgres", f"public.{name}")


class TestPostgres(Oracle, Conformance):
    units = ("us",)
    nul = False
    lacks = frozenset({"struct", "null"})
    server = ""

    @pytest.fixture(autouse=True)
    def _server(self, postgres_server: str) -> None:
        self.server = postgres_server

    def holding(self, table: pa.Table) -> Any:
        return loaded(self.server, table)


@pytest.fixture
def database(postgres_uri: str) -> str:
    """The URI of a new database."""
    return postgres_uri.replace("+psycopg", "")


def execute(uri: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as con:
        for statement in statements:
            con.execute(statement.encode())


def test_types_of_postgresql_are_judged_by_what_they_hold(database: str) -> None:
    name = '"Odd ""s"""."T"'
    execute(
        database,
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN price AS numeric(8, 2) CHECK (VALUE >= 0)",
        'CREATE SCHEMA "Odd ""s"""',
        f"CREATE TABLE {name} (m mood, p price, n numeric, v varchar(5), c char(4), r real, s smallint, "
        'u uuid, j jsonb, a int[], b bytea, t time, d date, "Id" int, id int)',
        f"INSERT INTO {name} VALUES ('sad', 1.5, 'NaN', 'abc', 'ab', 0.1, 3, "
        "'00000000-0000-0000-0000-000000000001', "
        "'{\"k\": [1]}', '{1,2}', '\\x00ff', '10:00', 'infinity', 1, 2)",
        f'INSERT INTO {name} (m, p, n, v, r, s, d, "Id", id) '
        "VALUES ('ok', 2, 12345678901234567890.123, 'abc', 2, 4, '2026-08-01', 1, 2)",
    )
    table = PostgresTable(database, name)
    report = run_checks(
        table,
        [
            SchemaHas({"m": "string", "p": "decimal128(8, 2)", "v": "string", "r": "float", "s": "int16"}),
            AcceptedValues("m", ["sad"]),
            Range("n", min=0, max="12345678901234567890.123"),
            Range("n", max="12345678901234567890.122"),
            Unique("v"),
            Expression("c = 'ab'"),
            AcceptedValues("r", [0.1, 2]),
            Range("d", max="2026-08-01"),
            Rule(check=Range("d", max="2026-08-01"), where="isfinite(d)"),
            Unique("Id"),
            NotNull("u"),
            Expression("r > 0.1"),
        ],
    )
    statuses = [result.status for result in report.results]
    assert statuses == [
        *("pass", "fail", "fail", "fail", "fail", "pass"),
        *("pass", "not_run", "pass", "fail", "fail", "not_run"),
    ]
    assert report.results[2].metrics["nan_count"] == 1
    assert report.results[3].failing_rows == 2
    assert "where: isfinite" in report.results[7].details
    assert report.results[2].samples[0]["values"] == {
        **{"m": "sad", "p": "1.50", "n": "NaN", "v": "abc", "c": "ab", "r": 0.1, "s": 3},
        **{"u": "00000000-0000-0000-0000-000000000001", "j": '{"k": [1]}', "a": [1, 2], "b": "00ff"},
        **{"t": "10:00:00", "d": "infinity", "Id": 1, "id": 2},
    }


def test_rows_go_by_the_primary_key_else_as_they_lie(database: str) -> None:
    execute(
        database,
        "CREATE TABLE public.keyed (id int PRIMARY KEY, x int)",
        "INSERT INTO public.keyed VALUES (3, 3), (1, 1), (2, 2)",
        "CREATE TABLE public.lying AS SELECT * FROM public.keyed",
        "CREATE VIEW public.seen AS SELECT * FROM public.keyed",
        "CREATE TABLE public.parts (id int, x int) PARTITION BY LIST (id)",
        "CREATE TABLE public.part1 PARTITION OF public.parts FOR VALUES IN (1, 3)",
        "CREATE TABLE public.part2 PARTITION OF public.parts FOR VALUES IN (2)",
        "INSERT INTO public.parts SELECT * FROM public.keyed",
    )
    wanted = {"keyed": [1, 2, 3], "lying": [3, 1, 2], "seen": [1, 2, 3], "parts": [3, 1, 2]}
    for name, order in wanted.items():
        result = Range("x", max=0).run(PostgresTable(database, f"public.{name}"))
        assert [sample["row"] for sample in result.samples] == [0, 1, 2], name
        assert [sample["values"]["x"] for sample in result.samples] == order, name


def test_nothing_that_users_of_the_database_made_is_called(database: str) -> None:
    execute(
        database,
        "CREATE TABLE public.t (x text)",
        "INSERT INTO public.t VALUES ('b')",
        "CREATE FUNCTION public.length(text) RETURNS int LANGUAGE sql AS 'SELECT 99'",
        "CREATE FUNCTION public.is_a(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.is_a)",
        "ALTER ROLE ldp SET search_path = public, pg_catalog",
    )
    try:
        checks = [Expression("length(x) = 1"), Expression("x = 'a'"), AcceptedValues("x", ["a"])]
        report = run_checks(PostgresTable(database, "public.t"), checks)
    finally:
        execute(database, "ALTER ROLE ldp RESET search_path")
    assert [result.status for result in report.results] == ["pass", "fail", "fail"]


def test_a_transaction_only_reads(database: str) -> None:
    import psycopg

    execute(database, "CREATE TABLE public.t (x int)")
    with PostgresTable(database, "public.t").opened() as rows:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), rows.con.transaction():
            rows.con.execute("INSERT INTO public.t VALUES (1)")
        assert rows.con.execute("SHOW search_path").fetchone() == ("pg_catalog, pg_temp",)


def test_a_query_that_takes_too_long_is_not_run(database: str) -> None:
    execute(
        database,
        "CREATE TABLE public.t (x int)",
        "INSERT INTO public.t VALUES (1)",
        "CREATE VIEW public.slow AS SELECT x FROM public.t, pg_sleep(5)",
    )
    report = run_checks(PostgresTable(database, "public.slow", timeout=0.2), [NotNull("x"), Unique("x")])
    assert [result.status for result in report.results] == ["not_run", "not_run"]
    assert "statement timeout" in report.results[0].details


def test_hidden_rows_are_no_table(database: str) -> None:
    execute(
        database,
        "CREATE TABLE public.t (x int)",
        "INSERT INTO public.t VALUES (1), (NULL)",
        "ALTER TABLE public.t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY known ON public.t USING (x IS NOT NULL)",
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN",
        "GRANT SELECT ON public.t TO reader",
        "CREATE TABLE public.other (x int)",
    )
    theirs = database.replace("//ldp@", "//reader@")
    hidden = NotNull("x").run(PostgresTable(theirs, "public.t"))
    assert (hidden.status, "row-level security" in hidden.details) == ("not_run", True)
    denied = NotNull("x").run(PostgresTable(theirs, "public.other"))
    assert (denied.status, "permission denied" in denied.details) == ("not_run", True)
    execute(database, "DROP OWNED BY reader", "DROP ROLE reader")


def test_keys_are_looked_up_in_a_table_of_the_same_database(database: str) -> None:
    execute(
        database,
        "CREATE TABLE public.orders (id int, customer bigint, code text)",
        "INSERT INTO public.orders VALUES (1, 7, 'a'), (2, 8, 'b'), (3, NULL, 'c'), (4, 8, NULL)",
        "CREATE TABLE public.customers (id numeric(5, 0), code text)",
        "INSERT INTO public.customers VALUES (7, 'a'), (7, 'B'), (NULL, NULL)",
    )
    orders = PostgresTable(database, "public.orders")

    report = run_checks(
        orders,
        [
            Referential("customer", {"table": "public.customers", "columns": "id"}),
            Referential("code", {"table": "public.customers", "columns": "code"}),
            Referential("code", {"table": "public.customers", "columns": "id"}),
            Referential("code", {"table": "public.nobody", "columns": "id"}),
            Referential("code", {"config": "other.yaml", "columns": "id"}),
        ],
    )
    assert [result.status for result in report.results] == ["fail", "fail", *(["not_run"] * 3)]
    assert [result.failing_rows for result in report.results[:2]] == [2, 2]
    assert [sample["row"] for sample in report.results[0].samples] == [1, 3]
    assert "decimal128(5, 0)" in report.results[2].details


def test_a_table_that_is_not_there_is_said_with_what_is(database: str) -> None:
    execute(database, "CREATE TABLE public.orders (x int)")
    with pytest.raises(TableNotFound, match=r"no table 'public.order'; did you mean public.orders\?"):
        NotNull("x").run(PostgresTable(database, "public.order"))


def test_a_server_that_does_not_answer_is_an_error(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = PostgresTable("postgresql://ldp@127.0.0.1:1/db", "public.t", password_env="PG_SECRET")
    with pytest.raises(ConfigError, match="PG_SECRET is not set"):
        NotNull("x").run(nowhere)
    monkeypatch.setenv("PG_SECRET", "hush-hush")
    with pytest.raises(SourceError, match="PostgreSQL does not answer") as caught:
        NotNull("x").run(nowhere)
    assert "hush" not in str(caught.value)
