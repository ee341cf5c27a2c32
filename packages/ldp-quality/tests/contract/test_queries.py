"""``type: sql``: one read-only SELECT over the table that is judged, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import Contract, run_checks
from ldp_quality.checks.operators import Operator
from ldp_quality.checks.query import Query
from ldp_quality.result import CheckResult
from ldp_quality.rule import Rule

TABLE = pa.table({"id": [1, 2, 2, None], "x y": [0.5, 1.5, None, 2.0]})


def judge(sql: str, name: str = "mustBe", bound: Any = 0, table: pa.Table = TABLE) -> CheckResult:
    return run_checks(table, [Query(sql, "orders", (Operator.of(name, bound),))]).results[0]


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT count(*) FROM orders", 4),
        ("SELECT COUNT(*) FROM orders WHERE id IS NULL", 1),
        ('SELECT max("x y") FROM Orders AS o WHERE o.id > 1', 1.5),
        ("SELECT sum(n) FROM (SELECT count(*) AS n FROM orders GROUP BY id HAVING count(*) > 1)", 2),
        ("WITH d AS (SELECT id FROM orders GROUP BY id) SELECT count(*) FROM d", 3),
        ("SELECT count(*) FROM orders a JOIN orders b ON a.id = b.id", 5),
        ("SELECT (SELECT max(id) FROM orders) - min(id) FROM orders", 1),
        ("SELECT bool_and(id > 0) FROM orders", True),
        ("SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY id) AS p FROM orders) WHERE p = id", 1),
        ("SELECT count(*) FROM orders WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = orders.id)", 3),
        ("SELECT 1 UNION SELECT 1", 1),
        ("SELECT count(*) FROM orders WHERE 'please; update' <> ''", 4),
    ],
)
def test_a_query_over_the_rows_gives_one_value(sql: str, value: Any) -> None:
    result = judge(sql, bound=int(value) if isinstance(value, bool) else value)
    assert result.passed, result.details
    assert result.metrics["value"] == value


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM read_text('secret.txt')",
        "SELECT count(*) FROM 'secret.csv'",
        'SELECT count(*) FROM "secret.csv"',
        "SELECT (SELECT count(*) FROM read_csv('s.csv')) FROM orders",
        "SELECT count(*) FROM customers",
        "SELECT count(*) FROM main.orders",
        "SELECT count(*) FROM information_schema.tables",
        "SELECT count(*) FROM duckdb_secrets()",
        "SELECT count(*) FROM glob('*')",
        "SELECT count(*) FROM range(10)",
        "SELECT count(*) FROM orders, LATERAL (SELECT 1)",
        "SELECT count(*) FROM orders USING SAMPLE 10%",
        "SELECT count(*) FROM orders TABLESAMPLE 10%",
        "SELECT getenv('HOME')",
        "SELECT getvariable('x')",
        "SELECT current_setting('memory_limit')",
        "SELECT pg_sleep(10)",
        "SELECT random()",
        "SELECT count(*) FROM orders WHERE id < now()",
        "SELECT count(*) FROM orders WHERE current_date > DATE '2020-01-01'",
        "SELECT nextval('s')",
        "SELECT query('SELECT 1')",
        "SELECT count(*) FROM query_table('customers')",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE orders",
        "SELECT 1 -- and more",
        "SELECT 1 /* and more */",
        "SELECT $1",
        "SELECT ?",
        "INSERT INTO orders VALUES (1)",
        "COPY (SELECT 1) TO 'f'",
        "WITH x AS (COPY (SELECT 1) TO 'f') SELECT 1",
        "WITH x AS (INSERT INTO orders VALUES (1) RETURNING 1) SELECT 1",
        "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x",
        "CREATE TABLE t AS SELECT 1",
        "SELECT 1 INTO t",
        "ATTACH 'f.db'",
        "PRAGMA database_list",
        "SET memory_limit = '1GB'",
        "EXPLAIN SELECT 1",
        "DESCRIBE orders",
        "SUMMARIZE orders",
        "CALL pragma_version()",
        "FROM duckdb_settings()",
        "VALUES (1)",
        "SELECT list_transform([1], x -> x + 1)",
        "select",
        "",
        "1) FROM orders; --",
    ],
)
def test_what_reads_or_does_anything_else_is_refused(sql: str) -> None:
    with pytest.raises(ConfigError):
        Query(sql, "orders", (Operator.of("mustBe", 0),))


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT max(id) FROM orders WHERE false", "the query gives NULL, which is neither a number nor "),
        (
            "SELECT 'x' FROM orders LIMIT 1",
            "the query gives 'x', which is neither a number nor true or false",
        ),
        ("SELECT id FROM orders", "the query gives more than one row, and one value is wanted"),
        ("SELECT 1 FROM orders WHERE false", "the query gives no row, and one value is wanted"),
        ("SELECT 1, 2", "the query gives 2 columns, and one value is wanted"),
        ("SELECT CAST('nan' AS DOUBLE)", "the query gives nan, which is neither"),
        ("SELECT nobody FROM orders", "Binder Error"),
        ("SELECT CAST('x' AS INTEGER)", "Conversion Error"),
    ],
)
def test_what_gives_no_number_is_not_run(sql: str, reason: str) -> None:
    result = judge(sql)
    assert result.status == "not_run"
    assert reason in result.details


def test_a_query_sees_the_rows_of_its_condition_alone() -> None:
    query = Query("SELECT count(*) FROM orders", "orders", (Operator.of("mustBe", 2),))
    assert run_checks(TABLE, [Rule(check=query, where="id = 2")]).passed


def test_a_name_in_python_is_no_table() -> None:
    orders = pa.table({"id": [9]})
    assert judge("SELECT max(id) FROM orders", bound=2).passed
    assert orders.num_rows == 1


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.one_of(st.none(), st.integers(-3, 3)), max_size=8),
    st.sampled_from(["mustBe", "mustNotBe", "mustBeLessThan", "mustBeGreaterOrEqualTo"]),
    st.sampled_from([-1, 0, 1, 2.5]),
)
def test_verdicts_are_those_of_python(values: list[Any], name: str, bound: Any) -> None:
    table = pa.table({"id": pa.array(values, pa.int64())})
    known = [value for value in values if value is not None]
    total, limit = Fraction(sum(known)), Fraction(str(bound))
    wanted = {
        "mustBe": total == limit,
        "mustNotBe": total != limit,
        "mustBeLessThan": total < limit,
        "mustBeGreaterOrEqualTo": total >= limit,
    }[name]
    assert judge("SELECT coalesce(sum(id), 0) FROM orders", name, bound, table).passed is wanted


HEAD = """version: 1.0.0
apiVersion: v3.2.0
kind: DataContract
id: orders
schema:
  - name: orders
    physicalName: "orders 1"
    properties:
      - name: amount
        physicalName: x y
        quality:
"""


@pytest.mark.parametrize(
    ("query", "operator", "passed"),
    [
        ("SELECT count(*) FROM ${object} WHERE ${property} IS NULL", "mustBe: 1", True),
        ("SELECT count(*) FROM {table} WHERE {column} IS NULL;", "mustBeLessThan: 1", False),
        ("SELECT count(*) FROM orders", "mustBe: 4", True),
        ('SELECT count(*) FROM "orders 1"', "mustBe: 4", True),
        ("SELECT max({property}) > 1 FROM {object}", "mustBe: true", True),
        ("SELECT max({property}) > 1 FROM {object}", "mustBe: false", False),
    ],
)
def test_a_contract_asks_by_placeholders(tmp_path: Path, query: str, operator: str, passed: bool) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        f"{HEAD}          - type: sql\n            query: >\n              {query}\n            {operator}\n"
    )
    rule = Contract.from_file(path).rules()[-1]
    assert rule.reason is None
    assert run_checks(TABLE, [rule.rule]).passed is passed


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT count(*) FROM customers", "a query reads orders alone, not customers"),
        ("SELECT count(*) FROM {table} WHERE x > '${CUTOFF}'", "the variable CUTOFF has no value; --var"),
        ("SELECT count(*) FROM {table} WHERE x > now()", "a query cannot call"),
        ("DELETE FROM {table}", "a query must be one SELECT"),
    ],
)
def test_a_query_that_does_not_run_says_why(tmp_path: Path, query: str, reason: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        f"{HEAD}          - type: sql\n            query: >\n              {query}\n            mustBe: 0\n"
    )
    rule = Contract.from_file(path).rules()[-1]
    assert str(rule.reason).startswith(reason)
    assert rule.origin.line == 12
