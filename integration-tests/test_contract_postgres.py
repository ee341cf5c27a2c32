"""A contract is tried on a table of a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_cli.main import main

pytestmark = pytest.mark.service

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.0.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, logicalType: integer, unique: true}
    relationships:
      - {from: orders.id, to: customers.id}
  - name: customers
    physicalName: public.customers
    properties:
      - {name: id, logicalType: integer}
"""


def test_a_contract_is_tried_on_a_table(
    postgres_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import psycopg

    uri = postgres_uri.replace("+psycopg", "")
    (tmp_path / "shop.odcs.yaml").write_text(CONTRACT, encoding="utf-8")
    with psycopg.connect(uri, autocommit=True) as con:
        con.execute("CREATE TABLE orders AS SELECT * FROM (VALUES (1), (2), (2)) AS t(id)")
        con.execute("CREATE TABLE customers AS SELECT 1 AS id")
        con.execute("CREATE SCHEMA old")
        con.execute("CREATE TABLE old.orders AS SELECT 1 AS id")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["contract", "test", str(tmp_path / "shop.odcs.yaml"), "--postgres", uri, *arguments])
        return code, *capsys.readouterr()

    code, out, err = run("--table", "orders")
    assert (code, err) == (3, "")
    assert out.splitlines()[0] == "shop 1.0.0, table orders, on public.orders in PostgreSQL: 3 rows"
    assert out.splitlines()[-1] == "3 rules: 2 fail, 1 pass"
    assert "      row 1: id=2" in out.splitlines()
    code, out, _ = run("--table", "orders", "--where", "id = 1")
    assert (code, out.splitlines()[-1]) == (0, "3 rules: 3 pass")
    code, out, _ = run("--table", "old.orders")
    assert code == 0
    assert out.splitlines()[0] == "shop 1.0.0, table orders, on old.orders in PostgreSQL: 1 row"
    code, out, err = run("--table", "gone.orders")
    assert (code, out) == (1, "")
    assert "gone" in err
    code, out, err = run("--table", "orders", "--where", "nope = 1")
    assert (code, out) == (1, "")
    assert "--where 'nope = 1': missing column(s) ['nope']" in err


def test_a_contract_is_tried_on_its_own_server(
    postgres_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from urllib.parse import urlsplit

    import psycopg

    uri = urlsplit(postgres_uri.replace("+psycopg", ""))
    database = uri.path.strip("/")
    server = (
        f"servers:\n  - {{server: it, type: postgres, host: {uri.hostname}, port: {uri.port}, "
        f"database: {database}, schema: sales}}\n"
    )
    (tmp_path / "shop.odcs.yaml").write_text(CONTRACT + server, encoding="utf-8")
    with psycopg.connect(uri.geturl(), autocommit=True) as con:
        con.execute("CREATE SCHEMA sales")
        con.execute("CREATE TABLE sales.orders AS SELECT * FROM (VALUES (1), (2), (2)) AS t(id)")
        con.execute("CREATE TABLE IF NOT EXISTS public.customers AS SELECT 1 AS id")
    monkeypatch.setenv("PGUSER", str(uri.username))
    if uri.password:
        monkeypatch.setenv("PGPASSWORD", uri.password)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["contract", "test", str(tmp_path / "shop.odcs.yaml"), "--server", "it", *arguments])
        return code, *capsys.readouterr()

    code, out, err = run("--table", "orders")
    assert (code, err) == (3, "")
    assert out.splitlines()[0] == "shop 1.0.0, table orders, on sales.orders in PostgreSQL on it: 3 rows"
    assert "unique(id)" in out
    code, out, _ = run("--table", "customers")
    assert out.splitlines()[0].startswith(
        "shop 1.0.0, table customers, on public.customers in PostgreSQL on it"
    )
    monkeypatch.setenv("PGUSER", "nobody")
    code, out, err = run("--table", "orders")
    assert (code, out) == (1, "")
    assert len(err.strip().splitlines()) == 1


NESTED = """\
apiVersion: v3.1.0
kind: DataContract
id: nested
version: 1.0.0
status: active
schema:
  - name: nested
    properties:
      - {name: numbers, logicalType: array, items: {logicalType: integer}}
      - {name: words, logicalType: array, items: {logicalType: array, items: {logicalType: string}}}
      - {name: rest, logicalType: object, physicalType: jsonb, properties: [{name: x}]}
    quality:
      - {name: some, type: sql, query: "SELECT count(*) FROM {object}", mustBe: 1}
"""


def test_arrays_and_json_have_types(
    postgres_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import psycopg

    uri = postgres_uri.replace("+psycopg", "")
    contract = tmp_path / "nested.odcs.yaml"
    with psycopg.connect(uri, autocommit=True) as con:
        con.execute("CREATE TABLE nested (numbers int[], words text[][], rest jsonb)")

    def run() -> str:
        main(["contract", "test", str(contract), "--postgres", uri])
        return capsys.readouterr().out

    contract.write_text(NESTED, encoding="utf-8")
    out = run()
    assert "pass     schema" in out
    assert "rest: parts: not run: rest may be a text" in out
    assert "some: could not be evaluated: queries run in DuckDB alone, not in PostgreSQL" in out
    contract.write_text(NESTED.replace("integer", "string"), encoding="utf-8")
    assert "schema: numbers.items is int32, expected string" in run()
