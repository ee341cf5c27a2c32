"""``ldp contract test``: what it prints, how it exits, and that it writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ldp_core
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_cli.main import main

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.2.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, logicalType: integer, required: true, unique: true}
      - name: amount
        logicalType: integer
        quality:
          - metric: invalidValues
            name: small amounts
            arguments: {max: 10}
            mustBe: 0
            severity: warning
"""
TEXT = """\
    quality:
      - {type: text, description: As the invoice says}
"""
REFERS = """\
    quality:
      - type: custom
        name: known customers
        engine: ldp
        implementation: {check: referential, columns: [id], to: {config: nowhere.yaml}}
"""
CUSTOMERS = """\
  - name: customers
    physicalName: people
    properties:
      - {name: name, logicalType: string, required: true}
"""
GOOD = "id,amount\n1,5\n2,10\n"
LINES = '{"id": 1, "amount": 5}\n{"id": 1, "amount": 6}\n'
LOAD = """\
identifier: load
metadata:
  source: {name: orders, format: CSV, path: orders.csv}
  target: {name: orders, format: %s}
"""
ICEBERG = "ICEBERG, write_mode: overwrite, catalog: {identifier: nyc, warehouse_path: warehouse}"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str, contract: str = CONTRACT, **files: str) -> tuple[int, str, str]:
        (folder / "shop.odcs.yaml").write_text(contract, encoding="utf-8")
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
        before = contents(folder)
        code = main(["contract", "test", "shop.odcs.yaml", *arguments])
        assert contents(folder) == before, "something was written"
        return code, *capsys.readouterr()

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put(folder: Path, name: str, rows: dict[str, Any], namespace: str = "nyc") -> None:
    catalog = {"identifier": namespace, "warehouse_path": str(folder / "warehouse")}
    ldp_core.Iceberg(name, catalog, base_dir=folder).put(pa.table(rows))


def last(out: str) -> str:
    return out.splitlines()[-1]


def test_rows_that_keep_the_contract_are_green(run: Run) -> None:
    code, out, err = run("orders.csv", orders_csv=GOOD)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "shop 1.2.0, table orders, on orders.csv: 2 rows"
    assert "all 4 data quality checks passed" in out
    assert last(out) == "4 rules: 4 pass"


def test_a_rule_that_warns_exits_zero_and_is_said(run: Run) -> None:
    code, out, _ = run("orders.csv", orders_csv="id,amount\n1,5\n2,11\n")
    assert code == 0
    assert out.splitlines()[4].split() == ["warn", "small", "amounts", "1", "50.00%", "13"]
    assert "      row 1: id=2, amount=11" in out.splitlines()
    assert last(out) == "4 rules: 1 warn, 3 pass"


def test_a_rule_that_fails_exits_three_the_worst_first(run: Run) -> None:
    code, out, _ = run("orders.csv", contract=CONTRACT + TEXT, orders_csv="id,amount\n1,5\n1,11\n,1\n")
    assert code == 3
    assert [line.split()[0] for line in out.splitlines()[4:9]] == ["fail", "fail", "not_run", "warn", "pass"]
    assert "      row 2: id=None, amount=1" in out.splitlines()
    assert last(out).startswith("5 rules: 2 fail, 1 not run, 1 warn, 1 pass; not green")


def test_a_rule_for_people_is_told_with_its_reason_and_is_not_green(run: Run) -> None:
    code, out, _ = run("orders.csv", contract=CONTRACT + TEXT, orders_csv=GOOD)
    assert code == 0
    assert "  - As the invoice says: not run: it is a text for people" in out.splitlines()
    assert last(out) == (
        "5 rules: 1 not run, 4 pass; not green, for nobody knows whether what was not run holds"
    )
    assert "passed" not in out


def test_a_rule_that_could_not_be_evaluated_exits_three(run: Run) -> None:
    code, out, _ = run("orders.csv", contract=CONTRACT + REFERS, orders_csv=GOOD)
    assert code == 3
    assert "known customers: could not be evaluated: config file not found" in out
    assert "not green" in last(out)


def test_json_says_all_of_it(run: Run) -> None:
    code, out, err = run("orders.csv", "--json", contract=CONTRACT + TEXT, orders_csv="id,amount\n1,5\n1,1\n")
    found = json.loads(out)
    assert (code, err) == (3, "")
    assert found["contract"] == {"id": "shop", "version": "1.2.0", "file": "shop.odcs.yaml"}
    assert (found["target"], found["table"], found["rows"]) == ("orders.csv", "orders", 2)
    assert (found["ok"], found["status"], found["passed"]) == (False, "fail", False)
    assert found["counts"] == {"fail": 1, "not_run": 1, "warn": 0, "pass": 3}
    worst, idle = found["results"][:2]
    assert (worst["name"], worst["failing_rows"], worst["share"]) == ("unique(id)", 2, 1.0)
    assert worst["samples"][0] == {"row": 0, "values": {"id": 1, "amount": 5}}
    assert (worst["line"], worst["key"]) == (9, "schema[0].properties[0].unique")
    assert (idle["status"], idle["reason"]) == ("not_run", "it is a text for people")


def test_only_the_rows_of_a_condition_are_looked_at(run: Run) -> None:
    code, out, _ = run("orders.csv", "--where", "amount < 6", orders_csv="id,amount\n1,5\n1,11\n")
    assert code == 0
    assert out.splitlines()[0].endswith("on orders.csv where amount < 6: 1 row")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("nope = 1", "--where 'nope = 1': missing column(s) ['nope']"),
        ("amount", "not true or false"),
        ("id = 1; drop table x", "--where: expression 'id = 1; drop table x' must be exactly one condition"),
        ("(SELECT count(*) FROM read_text('shop.odcs.yaml')) > 0", "--where: an expression looks at one row"),
    ],
)
def test_a_condition_that_is_none_is_an_error(run: Run, where: str, said: str) -> None:
    code, out, err = run("orders.csv", "--where", where, orders_csv=GOOD)
    assert (code, out) == (1, "")
    assert said in err


def test_a_name_cannot_speak_to_the_terminal(run: Run) -> None:
    contract = CONTRACT.replace("small amounts", '"small \\e[31mamounts"').replace("max: 10", "max: 1")
    _, out, _ = run("orders.csv", contract=contract, orders_csv=GOOD)
    assert out.count("small \\x1b[31mamounts") == 2
    assert "\x1b" not in out


def test_conditions_of_rules_hold_within_that_of_the_command(run: Run) -> None:
    contract = CONTRACT + (
        "          - metric: rowCount\n            name: some\n            mustBe: 1\n"
        "            customProperties: [{property: where, value: amount > 5}]\n"
    )
    text = "id,amount\n1,5\n2,6\n3,7\n"
    code, out, _ = run("orders.csv", "--where", "id < 3", contract=contract, orders_csv=text)
    assert (code, last(out)) == (0, "5 rules: 5 pass")


def test_freshness_is_measured_from_a_given_moment(run: Run) -> None:
    contract = CONTRACT.replace("integer, required", "timestamp, required")
    contract += "slaProperties:\n  - {property: latency, value: 1, unit: d, element: orders.id}\n"
    text = "id,amount\n2026-08-01 00:00:00,5\n"
    assert run("orders.csv", "--now", "2026-08-02", contract=contract, orders_csv=text)[0] == 0
    assert run("orders.csv", "--now", "2026-08-03", contract=contract, orders_csv=text)[0] == 3
    code, _, err = run("orders.csv", "--now", "soon", contract=contract, orders_csv=text)
    assert code == 1
    assert err.startswith("ldp: error: --now must be a date or a time")


@pytest.mark.parametrize(
    ("target", "label"),
    [
        (("iceberg.yaml",), "nyc.orders of iceberg.yaml"),
        (("warehouse",), "nyc.orders in warehouse"),
        (("nyc.orders",), "nyc.orders"),
        (("orders", "--in", "warehouse"), "nyc.orders"),
        (("out",), "out"),
        (("lines.json",), "lines.json"),
        (("warehouse", "--table", "orders"), "nyc.orders in warehouse"),
        (("warehouse", "--table", "nyc.orders"), "nyc.orders in warehouse"),
        (("parquet.yaml",), "out/orders.parquet of parquet.yaml"),
        (("out/orders.parquet",), "out/orders.parquet"),
        (("out/*.parquet",), "out/*.parquet"),
        (("out", "--format", "parquet"), "out"),
        (("orders.jsonl",), "orders.jsonl"),
    ],
)
def test_rows_are_found_where_they_lie(run: Run, folder: Path, target: tuple[str, ...], label: str) -> None:
    rows = {"id": [1, 1], "amount": [5, 6]}
    put(folder, "orders", rows)
    (folder / "out").mkdir()
    pq.write_table(pa.table(rows), folder / "out" / "orders.parquet")
    code, out, err = run(
        *target,
        iceberg_yaml=LOAD % ICEBERG,
        parquet_yaml=LOAD % "PARQUET, path: out/orders.parquet",
        orders_jsonl=LINES,
        lines_json=LINES,
    )
    assert (code, err) == (3, "")
    assert out.splitlines()[0] == f"shop 1.2.0, table orders, on {label}: 2 rows"
    assert last(out) == "4 rules: 1 fail, 3 pass"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a config that loads a table, a table of a catalog, a file (CSV, JSONL, Parquet)"),
        (("nope.csv",), "there is no file or folder nope.csv"),
        (("nope.yaml",), "config file not found: nope.yaml"),
        (("iceberg.yaml",), "run a config that loads into it first"),
        (("orders.dat",), "the format of orders.dat is not known by its name; --format says it: CSV, JSONL"),
        (("orders.csv", "--postgres", "postgresql://u@h/d"), "orders.csv and --postgres both name rows"),
        (("orders.csv", "--password-env", "X"), "--password-env is for --postgres and --server"),
        (("--postgres", "postgresql://u@h/d", "--format", "CSV"), "--format is for files"),
        (("--postgres", "orders"), "a PostgreSQL server is postgresql://user@host/database"),
        (("orders.csv", "--table", "nope"), "the contract has no table nope; it has: orders"),
        (("empty", "--table", "orders"), "no file found: empty; name a config that loads a table"),
        (("nyc.nope",), "no table is called nyc.nope"),
    ],
)
def test_rows_that_are_not_there_are_one_clear_line(
    run: Run, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "empty").mkdir()
    code, out, err = run(*arguments, iceberg_yaml=LOAD % ICEBERG, orders_csv=GOOD, orders_dat=GOOD)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert said in err


def test_a_contract_that_is_not_there_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contract", "test", "nope.odcs.yaml", "orders.csv"]) == 1
    assert "nope.odcs.yaml" in capsys.readouterr().err


def test_a_memory_limit_that_is_no_size_is_told(run: Run) -> None:
    code, out, err = run("orders.csv", "--memory-limit", "5", orders_csv=GOOD)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "ldp: error: --memory-limit: '5' is no size; write one such as 400MB or 2GB",
    ]


def test_a_broken_contract_is_told_with_its_lines(run: Run) -> None:
    code, _, err = run("orders.csv", contract=CONTRACT.replace("unique", "uniqe"), orders_csv=GOOD)
    assert code == 1
    assert "shop.odcs.yaml:9: schema[0].properties[0].uniqe" in err


@pytest.mark.parametrize(
    ("contract", "said"),
    [
        (CONTRACT.partition("schema:")[0], "the contract has no tables"),
        (
            CONTRACT.partition("    properties:")[0],
            "shop.odcs.yaml:7: schema[0]: the contract says nothing of orders that could be tested",
        ),
    ],
)
def test_a_contract_without_rules_is_never_green(run: Run, contract: str, said: str) -> None:
    code, out, err = run("orders.csv", contract=contract, orders_csv=GOOD)
    assert (code, out) == (1, "")
    assert said in err


def test_one_of_several_tables_is_named(run: Run, folder: Path) -> None:
    both = CONTRACT + CUSTOMERS
    put(folder, "orders", {"id": [1, 2], "amount": [5, 6]})
    put(folder, "people", {"name": ["ann", None]})
    code, _, err = run("orders.csv", contract=both, orders_csv=GOOD)
    assert code == 1
    assert "the contract has several tables: orders, customers; --table NAME says which" in err
    assert run("orders.csv", "--table", "orders", contract=both)[0] == 0
    for name in ("customers", "people", "nyc.people"):
        code, out, _ = run("warehouse", "--table", name, contract=both)
        assert code == 3
        assert out.splitlines()[0] == "shop 1.2.0, table customers, on nyc.people in warehouse: 2 rows"
    assert run("load.yaml", contract=both, load_yaml=LOAD % ICEBERG)[0] == 0
    other = (LOAD % ICEBERG).replace("target: {name: orders", "target: {name: o")
    code, _, err = run("load.yaml", contract=both, load_yaml=other)
    assert code == 1
    assert "the contract has no table o; it has: orders, customers" in err


def test_a_table_that_is_not_in_the_catalog_is_said_with_those_that_are(run: Run, folder: Path) -> None:
    put(folder, "others", {"id": [1], "amount": [5]})
    code, _, err = run("warehouse")
    assert code == 1
    assert "warehouse has no table orders; it has: nyc.others; --table NAMESPACE.TABLE names another" in err
    code, out, _ = run("warehouse", "--table", "nyc.others")
    assert code == 0
    assert out.splitlines()[0] == "shop 1.2.0, table orders, on nyc.others in warehouse: 1 row"


def test_a_name_that_two_catalogs_have_is_not_guessed(run: Run, folder: Path) -> None:
    for namespace in ("nyc", "bkk"):
        put(folder, "orders", {"id": [1], "amount": [5]}, namespace)
    code, _, err = run("warehouse")
    assert code == 1
    assert "orders is more than one table: bkk.orders, nyc.orders; --table NAMESPACE.TABLE names one" in err
    assert run("warehouse", "--table", "bkk.orders")[0] == 0
