"""What a contract says becomes rules that run, or a rule that says why it does not."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldp_core.config.load import load_document
from ldp_core.errors import ConfigError
from ldp_quality import Contract, run_checks
from ldp_quality.contract._formats import TEXTS
from ldp_quality.contract.lint import lint
from ldp_quality.contract.rules import ContractRule
from ldp_quality.result import CheckResult

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.yaml"))
HEAD = """version: 1.0.0
apiVersion: v3.2.0
kind: DataContract
id: orders
schema:
  - name: orders
"""


def contract(tmp_path: Path, text: str, head: str = HEAD) -> Contract:
    return Contract.from_file(written(tmp_path, text, head))


def written(tmp_path: Path, text: str, head: str = HEAD) -> Path:
    path = tmp_path / "orders.odcs.yaml"
    path.write_text(head + text, encoding="utf-8")
    return path


def problems(tmp_path: Path, text: str, head: str = HEAD) -> list[str]:
    path = written(tmp_path, text, head)
    return [line.replace(f"{path}:", "") for line in lint(path).lines()]


def of_property(text: str) -> str:
    return f"    properties:\n      - {text}\n"


def items(value: Any, key: str = "") -> Iterator[str]:
    """The key of every item of every ``quality`` in a document."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            here = f"{key}.{name}" if key else str(name)
            if name == "quality":
                yield from (f"{here}[{at}]" for at in range(len(item)))
            yield from items(item, here)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from items(item, f"{key}[{at}]")


def verdicts(found: tuple[ContractRule, ...], table: pa.Table, **context: Any) -> dict[str, CheckResult]:
    report = run_checks(table, [rule.rule for rule in found], context or None)
    return {result.name: result for result in report.results}


def failed(results: dict[str, CheckResult]) -> dict[str, int]:
    return {name: result.failing_rows for name, result in results.items() if result.status == "fail"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_quality_item_is_a_rule_or_says_why_not(path: Path) -> None:
    document = load_document(path)
    found = {rule.origin.key: rule for rule in Contract.from_file(path).rules()}
    for key in items(document.data):
        rule = found[key]
        assert rule.origin.line == document.line_of(key)
        assert rule.reason is None or len(rule.reason) > 10


REASONS = {
    "shop-v3.0.2.odcs": {
        "order_id: checksumOfDigits": "the standard defines no rule checksumOfDigits",
        "countCheck": "rowCount needs an operator such as mustBe",
        "soda": "the engine soda is not ours",
    },
    "shop-v3.1.0.odcs": {
        "unit: invalidValues": "invalidValues has no argument validValue; did you mean validValues?",
        "unit: The unit was read off the scale": "it is a text for people",
        "lines.items.sku: required": "lines.items.sku is inside a column",
        "great-expectations": "the engine great-expectations is not ours; ours is engine: ldp",
        "freshness orders.placed": "the unit fortnight is none of s, min, h, d, w, y",
        "latency tab1.txn_ref_dt": "tab1.txn_ref_dt names no column of the contract",
    },
    "shop-v3.2.0.odcs": {"revenue: required": "revenue is a measure and no column"},
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_does_not_run(path: Path) -> None:
    report = lint(path)
    assert report.ok
    assert not report.problems
    expected = REASONS[path.stem]
    found = {rule.name: rule.reason or "" for rule in report.not_run}
    assert list(found) == list(expected)
    assert all(found[name].startswith(reason) for name, reason in expected.items())
    assert all(rule.rule.on_failure == "warn" for rule in report.not_run)


def test_the_rules_of_3_0_2() -> None:
    found = Contract.from_file(EXAMPLES[0]).rules()
    table = pa.table(
        {
            "order_id": [99, 100, None, 101],
            "amount": [0, 1, 500, 501],
            "placed": pa.array([datetime(2026, 8, 1)] * 4, pa.timestamp("us")),
            "unit": ["kg", "t", "t", "kg"],
        }
    )
    results = verdicts(found, table, now="2026-08-05T00:00:01Z")
    assert failed(results) == {
        "not_null(order_id)": 1,
        "nullValues(order_id)": 1,
        "invalidValues(order_id)": 1,
        "invalidValues(amount)": 1,
        "invalidValues(amount) #2": 1,
        "invalidValues(unit)": 2,
        "latency(placed)": 0,
    }
    assert results["duplicateValues(unit)"].metrics["value"] == 50
    assert results["rowCount"].passed
    assert results["soda"].status == "not_run"


def test_the_rules_of_3_1() -> None:
    found = Contract.from_file(EXAMPLES[1]).rules("orders")
    moment = datetime(2019, 12, 31, tzinfo=UTC)
    table = pa.table(
        {
            "tenant_id": ["a", "a", "a"],
            "order_id": [1, 1, -1],
            "customer": ["N/A", None, "x"],
            "unit": ["kg", "KG", None],
            "placed": pa.array([moment] * 3, pa.timestamp("us", "UTC")),
            "lines": pa.array([[], [{"sku": "a"}, {"sku": "a"}], [{"sku": "b"}]]),
        }
    )
    results = verdicts(found, table, now="2020-01-01T00:00:00Z")
    assert [name for name, result in results.items() if result.status == "not_run" and "->" in name] == [
        "referential(tenant_id, customer -> customers)",
        "referential(customer -> customers)",
    ]
    assert failed(results) == {
        "range(order_id)": 1,
        "invalidValues(unit)": 1,
        "range(placed)": 3,
        'query(SELECT COUNT(*) FROM "orders" WHERE order_id < 0)': 0,
        "invalidValues(lines)": 2,
        "duplicateValues(tenant_id, order_id)": 1,
    }
    assert results["missingValues(customer)"].passed
    assert results["known units"].passed
    by_name = {rule.name: rule for rule in found}
    assert by_name["known units"].description == "Others are weighed again"
    assert by_name["nullValues(customer)"].dimension == "completeness"
    assert by_name["duplicateValues(order_id)"].severity == "warning"
    assert by_name["duplicateValues(order_id)"].rule.severity == "warn"
    assert by_name["missingValues(customer)"].rule.on_failure == "warn"
    assert str(by_name["missingValues(customer)"].rule.fail_above) == "5%"
    assert {rule.table for rule in found} == {"orders", ""}


def test_the_rules_of_3_2() -> None:
    shop = Contract.from_file(EXAMPLES[2])
    table = pa.table(
        {
            "order_id": [1, 1, 2],
            "status": ["new", "x", "done"],
            "total": [0.01, 0.015, -1.0],
            "email": ["a@b.example", "a@b.example", "nobody"],
            "labels": pa.array([[("a", "b")]] * 3, pa.map_(pa.string(), pa.string())),
            "embedding": pa.array([[1.0, 2.0, 3.0], [1.0], None]),
        }
    )
    results = verdicts(shop.rules(), table)
    assert failed(results) == {
        "unique(order_id)": 2,
        "invalidValues(total)": 1,
        "invalidValues(total) #2": 1,
        "unique(email)": 2,
        "format(email)": 1,
        "invalidValues(embedding)": 1,
    }
    assert results["accepted_values(status)"].status == "warn"
    assert results["invalidValues(status)"].status == "warn"
    assert results["totals"].status == "pass"
    assert results["totals"].where == "total IS NOT NULL"
    assert str({rule.name: rule for rule in shop.rules()}["range(total)"].rule.fail_above) == "1%"
    assert shop.on_failure == "warn"


@pytest.mark.parametrize(
    ("to", "name"),
    [
        ("customers.id", "referential(customer -> people)"),
        ("people.customer_id", "referential(customer -> people)"),
        ("cities.id", "cities.id is no column of the contract, so that nobody knows where it is stored"),
        ("customers.address.city", "customers.address.city is no column of the contract, so that nobody"),
        ("schema/customers/properties/id", "schema/customers/properties/id is no column of the contract"),
        ("orders.id", "a table that refers to itself is not looked up"),
        ("[customers.id, customers.address]", "its two sides are not equally long"),
        ("[customers.id, orders.id]", "customers.id, orders.id are columns of several tables"),
    ],
)
def test_a_relationship_to_a_table_of_the_contract_runs(tmp_path: Path, to: str, name: str) -> None:
    text = f"""\
    properties:
      - {{name: id, logicalType: integer}}
      - {{name: customer, logicalType: integer, relationships: [{{to: {to}}}]}}
  - name: customers
    physicalName: people
    properties: [{{name: id, physicalName: customer_id}}, {{name: address, logicalType: object}}]
"""
    rule = next(rule for rule in contract(tmp_path, text).rules() if "relationships" in rule.origin.key)
    assert (rule.reason or rule.name).startswith(name)
    if rule.reason is None:
        assert rule.rule.check.to.table == "people"  # type: ignore[attr-defined]
        assert rule.rule.check.to.columns == ("customer_id",)  # type: ignore[attr-defined]


def test_a_contract_describes_its_tables() -> None:
    shop = Contract.from_file(EXAMPLES[1])
    assert (shop.id, shop.version, shop.name, shop.status) == ("shop-310", "2.0.0", "shop", "active")
    assert shop.owner == "shop-data"
    assert shop.description == "What was ordered"
    assert Contract.from_file(EXAMPLES[0]).owner == "jane"
    orders = Contract.from_file(EXAMPLES[0]).table("orders_1")
    assert orders.grain == "One row an order"
    assert orders.primary_key == ("order_id",)
    assert Contract.from_file(EXAMPLES[2]).table().properties[0].column == "order_id"
    assert len(shop.table("orders").column("unit").quality) == 4  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="several tables: orders, customers"):
        shop.table()
    with pytest.raises(ConfigError, match="no table clients; it has: orders, customers"):
        shop.rules("clients")


def test_a_primary_key_has_the_order_of_its_positions(tmp_path: Path) -> None:
    text = """\
    properties:
      - {name: b, primaryKey: true, primaryKeyPosition: 2}
      - {name: a, primaryKey: true, primaryKeyPosition: 1, required: true}
      - {name: c, unique: true}
"""
    found = contract(tmp_path, text)
    assert found.table().primary_key == ("a", "b")
    names = [(rule.name, rule.origin.key) for rule in found.rules()]
    assert names == [
        ("schema", "schema[0]"),
        ("not_null(b)", "schema[0].properties[0].primaryKey"),
        ("unique(a, b)", "schema[0].properties[0].primaryKey"),
        ("not_null(a)", "schema[0].properties[1].required"),
        ("unique(c)", "schema[0].properties[2].unique"),
    ]


@pytest.mark.parametrize(
    ("types", "good", "bad"),
    [
        ("logicalType: string", pa.string(), pa.int64()),
        ("logicalType: integer", pa.int8(), pa.float64()),
        ("logicalType: integer", pa.decimal128(38, 0), pa.decimal128(38, 2)),
        ("logicalType: number", pa.float32(), pa.string()),
        ("logicalType: number, physicalType: 'decimal(10,2)'", pa.decimal128(10, 2), pa.bool_()),
        ("logicalType: date", pa.date32(), pa.timestamp("us")),
        ("logicalType: date, physicalType: timestamp", pa.timestamp("us"), pa.string()),
        ("logicalType: timestamp", pa.timestamp("us", "UTC"), pa.date32()),
        (
            "logicalType: timestamp, logicalTypeOptions: {timezone: true}",
            pa.timestamp("us", "UTC"),
            pa.timestamp("us"),
        ),
        (
            "logicalType: timestamp, logicalTypeOptions: {timezone: false}",
            pa.timestamp("us"),
            pa.timestamp("us", "UTC"),
        ),
        ("logicalType: time", pa.time64("us"), pa.date32()),
        ("logicalType: boolean", pa.bool_(), pa.int8()),
        ("logicalType: object", pa.struct([("a", pa.int8())]), pa.string()),
        ("logicalType: object, physicalType: json", pa.string(), pa.int8()),
        ("logicalType: array", pa.list_(pa.int8()), pa.struct([("a", pa.int8())])),
        ("physicalType: 'character varying (12)'", pa.string(), pa.int8()),
        ("physicalType: double precision", pa.float64(), pa.string()),
        ("physicalType: timestamp(6) with time zone", pa.timestamp("us", "UTC"), pa.date32()),
        ("physicalType: 'integer[]'", pa.list_(pa.int32()), pa.int32()),
        ("physicalType: bytea", pa.binary(), pa.string()),
        ("logicalType: string", pa.null(), pa.bool_()),
    ],
)
def test_a_type_is_a_kind_of_values(tmp_path: Path, types: str, good: pa.DataType, bad: pa.DataType) -> None:
    rules = contract(tmp_path, of_property(f"{{name: x, {types}}}")).rules()
    assert verdicts(rules, pa.table({"x": pa.array([], good)}))["schema"].passed
    assert not verdicts(rules, pa.table({"x": pa.array([], bad)}))["schema"].passed
    missing = verdicts(rules, pa.table({"y": pa.array([], good)}))["schema"]
    assert missing.details == "missing column(s) ['x']; the table has ['y']"


def test_an_unknown_physical_type_accepts_every_column(tmp_path: Path) -> None:
    rules = contract(tmp_path, of_property("{name: x, physicalType: geography}")).rules()
    assert verdicts(rules, pa.table({"x": [1]}))["schema"].passed


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("logicalType: string, logicalTypeOptions: {pattern: '(?=a)'}", "is not RE2"),
        ("logicalType: string, logicalTypeOptions: {format: iban}", "the format iban is not known"),
        (
            "logicalType: date, logicalTypeOptions: {minimum: tomorrow}",
            "tomorrow is no date that can be read",
        ),
        (
            "logicalType: integer, logicalTypeOptions: {minimum: 3, maximum: 1}",
            "min (3) is greater than max (1)",
        ),
        ("logicalTypeOptions: {minimm: 1}", "the standard has no option minimm"),
        (
            "logicalType: vector, logicalTypeOptions: {dimensions: 2, elementType: int8}",
            "the type of the items",
        ),
        ("logicalType: object, logicalTypeOptions: {minProperties: 1}", "what is inside an object"),
        ("quality: [{metric: nullValues, mustBe: none}]", "mustBe must be a number, got 'none'"),
        (
            "quality: [{metric: nullValues, mustBe: 0, unit: days}]",
            "the unit days is neither rows nor percent",
        ),
        ("quality: [{metric: invalidValues, mustBe: 0}]", "invalidValues has no arguments"),
        ("quality: [{metric: invalidValues, mustBe: 0, arguments: {pattern: '['}}]", "is not RE2"),
        ("quality: [{metric: rowCount, mustBe: 0, unit: percent}]", "rowCount has no share"),
        ("quality: [{metric: nullValues, mustBeBetween: [2, 1]}]", "has its smaller number first"),
        (
            "quality: [{metric: duplicateValues, mustBe: 0, arguments: {properties: [y]}}]",
            "orders has no property y",
        ),
        ("quality: [{description: nothing}]", "it has no metric"),
    ],
)
def test_what_the_standard_allows_and_nothing_can_judge_says_why(
    tmp_path: Path, keys: str, reason: str
) -> None:
    rules = contract(tmp_path, of_property(f"{{name: x, {keys}}}")).rules()
    idle = [rule for rule in rules if rule.reason]
    assert len(idle) == 1
    assert reason in str(idle[0].reason)
    assert idle[0].origin.line == 8


@pytest.mark.parametrize(
    ("item", "finding"),
    [
        (
            "{property: where, value: 'x > ('}",
            "8: schema[0].properties[0].quality[0].customProperties[0].value: ",
        ),
        ("{property: onFailure, value: explode}", "on_failure must be one of "),
        ("{property: failAbove, value: many}", "fail_above must be a number of rows such as 10, "),
        ("{property: failIfPercentGreaterThan, value: 101}", "fail_above must be "),
    ],
)
def test_what_is_meant_for_ldp_must_be_right(tmp_path: Path, item: str, finding: str) -> None:
    text = of_property(
        f"{{name: x, quality: [{{metric: nullValues, mustBe: 0, customProperties: [{item}]}}]}}"
    )
    lines = problems(tmp_path, text)
    assert len(lines) == 1
    assert lines[0].startswith("8: schema[0].properties[0].quality[0].customProperties[0].value: ")
    assert finding in lines[0]
    with pytest.raises(ConfigError):
        contract(tmp_path, text)


def test_a_custom_property_of_ours_that_stands_twice_says_the_same(tmp_path: Path) -> None:
    text = """\
      - name: a
        required: true
        customProperties:
          - {property: failAbove, value: 1}
          - {property: failAbove, value: %s}
"""
    assert not [line for line in problems(tmp_path, "    properties:\n" + text % 1) if "twice" in line]
    assert problems(tmp_path, "    properties:\n" + text % 2) == [
        "12: schema[0].properties[0].customProperties[1].value: failAbove stands twice, "
        "and does not say the same: 1 and 2"
    ]


def test_a_name_that_is_nearly_ours_is_a_warning(tmp_path: Path) -> None:
    item = "{property: failIfGreatrThan, value: 1}"
    text = of_property(
        f"{{name: x, quality: [{{metric: nullValues, mustBe: 0, customProperties: [{item}]}}]}}"
    )
    assert problems(tmp_path, text)[0] == (
        "warning: 8: schema[0].properties[0].quality[0].customProperties[0].property: failIfGreatrThan is a "
        "custom property that LDP does not read; did you mean failIfGreaterThan?"
    )


@pytest.mark.parametrize(
    ("implementation", "finding"),
    [
        ("{check: not_nul}", '.check: unknown check "not_nul"; known: '),
        ("{check: range, mim: 1}", ".mim: unknown key; did you mean min?"),
        ("{check: range}", ": needs min or max"),
        ("{check: range, min: 3, max: 1}", ".min: min (3) is greater than max (1)"),
        ("{check: range, max: 1, where: '1; 2'}", ": expression '1; 2' must be exactly one condition"),
        ("'[1]'", ": must be one check, such as {check: not_null, columns: [id]}"),
        ("'{'", ": is neither YAML nor JSON: "),
    ],
)
def test_a_check_of_ours_is_judged_as_in_a_config(tmp_path: Path, implementation: str, finding: str) -> None:
    item = f"{{type: custom, engine: ldp, implementation: {implementation}}}"
    lines = problems(tmp_path, of_property(f"{{name: x, quality: [{item}]}}"))
    assert len(lines) == 1
    assert lines[0].startswith(f"8: schema[0].properties[0].quality[0].implementation{finding}")


def test_all_problems_come_in_one_error(tmp_path: Path) -> None:
    text = "    properties: [{nam: x}, {name: y, requird: true}]\n"
    with pytest.raises(ConfigError) as caught:
        contract(tmp_path, text)
    assert len(caught.value.problems) == 3
    assert [problem.line for problem in caught.value.problems] == [7, 7, 7]


@given(
    st.one_of(
        st.ip_addresses().map(str),
        st.ip_addresses(v=6).map(lambda address: address.exploded),
        st.text("0123456789abcdefg:.", max_size=20),
        st.lists(st.sampled_from(["", "0", "ff", "12345", "1.2.3.4", "256.1.1.1"]), max_size=9).map(":".join),
        st.lists(st.integers(0, 300).map(str), min_size=3, max_size=5).map(".".join),
    )
)
def test_addresses_are_what_python_takes_for_one(text: str) -> None:
    for version, kind in ((4, ipaddress.IPv4Address), (6, ipaddress.IPv6Address)):
        try:
            kind(text)
            valid = True
        except ValueError:
            valid = False
        assert (re.search(TEXTS[f"ipv{version}"], text) is not None) is valid, text


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_format_is_a_pattern_that_the_engine_takes(tmp_path: Path, name: str) -> None:
    text = of_property(f"{{name: x, logicalType: string, logicalTypeOptions: {{format: {name}}}}}")
    rules = contract(tmp_path, text).rules()
    assert [rule.reason for rule in rules] == [None, None]
    assert verdicts(rules, pa.table({"x": ["not - one !"]}))["format(x)"].failing_rows == 1
