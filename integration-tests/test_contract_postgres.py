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
