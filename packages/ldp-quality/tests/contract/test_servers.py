"""``ldp contract test --server``: the rows are where the contract says that they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ldp_core
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_quality import Contract, PostgresTable
from ldp_quality.contract.servers import rows_at

pytest.importorskip("ldp_cli")

from ldp_cli.main import main

CONTRACT = """\
apiVersion: v3.2.0
kind: DataContract
id: shop
version: 1.0.0
status: active
servers:
%s
schema:
  - name: orders
    properties:
      - {name: id, logicalType: integer, unique: true}
"""
ROWS = pa.table({"id": [1, 2, 2]})

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    (tmp_path / "contracts").mkdir()
    monkeypatch.chdir(tmp_path)
    pq.write_table(ROWS, "contracts/orders.parquet")
    Path("contracts/orders.jsonl").write_text('{"id": 1}\n{"id": 2}\n{"id": 2}\n')
    Path("contracts/latin.csv").write_bytes("id;name\n1;ä\n2;b\n2;c\n".encode("latin-1"))

    def run(*servers: str, more: tuple[str, ...] = ("--server", "it")) -> tuple[int, str, str]:
        write(*servers)
        code = main(["contract", "test", "contracts/shop.odcs.yaml", *more])
        return code, *capsys.readouterr()

    return run


def write(*servers: str) -> Path:
    path = Path("contracts/shop.odcs.yaml")
    path.write_text(CONTRACT % "\n".join(f"  - {{server: it, {entry}}}" for entry in servers))
    return path


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        ("type: local, path: orders.parquet, format: parquet", "orders.parquet"),
        ('type: local, path: "{model}.jsonl", format: json', "orders.jsonl"),
        ('type: local, path: "*.parquet", format: Parquet', "*.parquet"),
        ("type: custom, path: orders.parquet, format: parquet", "orders.parquet"),
        ("type: custom, path: latin.csv, format: csv, delimiter: ;, encoding: latin-1", "latin.csv"),
        ("type: duckdb, database: shop.duckdb", "orders in shop.duckdb"),
        ("type: duckdb, database: shop.duckdb, schema: old", "orders in shop.duckdb"),
        ("type: custom, format: iceberg, path: ../wh, schema: nyc", "nyc.orders"),
    ],
)
def test_rows_are_read_where_the_contract_says(run: Run, entry: str, label: str) -> None:
    with duckdb.connect("contracts/shop.duckdb") as con:
        con.execute("CREATE TABLE orders AS SELECT unnest([1, 2, 2]) AS id")
        con.execute("CREATE SCHEMA old")
        con.execute("CREATE TABLE old.orders AS FROM main.orders")
    ldp_core.Iceberg("orders", {"identifier": "nyc", "warehouse_path": "wh"}).put(ROWS)
    code, out, err = run(entry)
    assert (code, err) == (3, "")
    assert out.splitlines()[0] == f"shop 1.0.0, table orders, on {label} on it: 3 rows"
    assert "unique(id)" in out


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            "type: snowflake, account: a, database: d, schema: s",
            ":7: servers[0].type: a server of type snowflake",
        ),
        (
            "type: local, path: a.avro, format: avro",
            "servers[0].format: files of the format avro are not read",
        ),
        ("type: local, path: orders.jsonl, format: json, encoding: UTF-16", "JSON is read in UTF-8"),
        ("type: custom, stream: x", "a custom server is read where it has a path and a format"),
        ("type: custom, format: iceberg, path: wh", "servers[0].schema: is required, or a table with its"),
        (
            'type: postgres, host: "u:p@h", port: 5432, database: d, schema: s',
            "servers[0].host: is the name of",
        ),
        (
            'type: s3, location: "s3://b/{model}.json", endpointUrl: "http://s:9"',
            "set AWS_ENDPOINT_URL=http://s:9",
        ),
        (
            "type: iceberg, catalog: c, catalogUrl: 'http://c'",
            "servers[0].namespace: is required, or a table",
        ),
        ("type: local, path: '${WHERE}/x.csv', format: csv", "the variable WHERE has no value"),
        ("type: local, path: none.csv, format: csv", "none.csv"),
    ],
)
def test_what_is_not_read_is_one_line(run: Run, entry: str, said: str) -> None:
    code, out, err = run(entry)
    assert (code, out) == (1, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_types_that_are_read_are_named(run: Run) -> None:
    _, _, err = run("type: kafka, host: h")
    assert "these are: azure, custom, duckdb, iceberg, local, postgres, postgresql, s3" in err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "or --server NAME, of the contract's own: it"),
        (("--server", "no"), "the contract has no server no; it has: it"),
        (("--server", "it", "--postgres", "postgresql://u@h/d"), "--postgres and --server both name rows"),
        (("orders.csv", "--server", "it"), "orders.csv and --server both name rows"),
        (("--server", "it", "--format", "CSV"), "--format is for files"),
        (("--server", "it", "--password-env", "X"), "a server of type local takes no password"),
    ],
)
def test_a_server_is_named_alone(run: Run, more: tuple[str, ...], said: str) -> None:
    code, _, err = run("type: local, path: orders.parquet, format: parquet", more=more)
    assert code == 1
    assert said in err


def test_one_of_several_of_a_name_is_that_of_an_environment(run: Run) -> None:
    both = [
        f"type: local, format: parquet, environment: {name}, path: {path}"
        for name, path in (("dev", "none.parquet"), ("prod", "orders.parquet"))
    ]
    code, _, err = run(*both)
    assert code == 1
    assert "several servers it, of the environments: dev, prod; --env says which" in err
    assert run(*both, more=("--server", "it", "--env", "prod"))[0] == 3


def postgres(entry: str, **more: Any) -> PostgresTable:
    text = f"type: postgres, {entry}"
    found = rows_at(Contract.from_file(write(text)), "it", **more).source
    assert isinstance(found, PostgresTable)
    return found


def test_a_database_is_asked_for_without_user_or_password(run: Run) -> None:
    found = postgres("host: db.example, port: 5433, database: shop 1, schema: sales")
    assert (found.uri, found.table) == ("postgresql://db.example:5433/shop%201", "sales.orders")
    found = postgres("host: '::1', port: '5432', database: d, schema: My Sales", password_env="PW")
    assert (found.uri, found.table, found.password_env) == (
        "postgresql://[::1]:5432/d", '"My Sales".orders', "PW",
    )  # fmt: skip
    assert postgres("host: h, port: 1, database: d, schema: s", stored="old.orders").table == "old.orders"


def test_a_catalog_is_opened_with_what_the_environment_holds(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = "type: iceberg, catalog: c, catalogUrl: 'http://c', namespace: nyc, warehouse: w"
    monkeypatch.setenv("LDP_CATALOG_TOKEN", "secret")
    found = rows_at(Contract.from_file(write(entry)), "it")
    assert dict(found.source.ref.catalog.values) == {
        "type": "rest",
        "uri": "http://c",
        "name": "c",
        "warehouse": "w",
        "token_env": "LDP_CATALOG_TOKEN",
        "identifier": "nyc",
    }
    assert found.label == "nyc.orders on it"
