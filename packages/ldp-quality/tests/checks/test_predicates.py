"""Users' own conditions: what is let through, and what is refused before any data is read."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from ldp_core.errors import ConfigError
from ldp_quality import Expression, NotNull, Rule, run_checks
from ldp_quality.predicate import FUNCTIONS, columns_of

REFUSED = [
    "getenv('HOME') IS NULL",
    "1=1) OR (1=1",
    "(SELECT count(*) FROM read_text('x')) > 0",
    "EXISTS (SELECT 1)",
    "a IN (SELECT 1)",
    "list_contains(ARRAY(SELECT 1), a)",
    "{'a': now()} IS NULL",
    "[x for x in [1] if getenv('x') = 'y'] IS NULL",
    "read_text('x') = 'a'",
    "now() > ts",
    "current_timestamp > ts",
    "current_date > d",
    "today() > d",
    "age(ts) > INTERVAL 1 DAY",
    "random() > 0.5",
    "uuid() = a",
    "nextval('s') = 1",
    "current_setting('x') = 'a'",
    "getvariable('x') = 1",
    "query('x')",
    "version() = 'a'",
    "a > 1; DROP TABLE x",
    "a > 1;",
    "sum(a) > 1",
    "count(*) > 1",
    "row_number() OVER () > 1",
    "lag(a) OVER () > 1",
    "a > 1 FROM t",
    "a > 1, b > 2",
    "a AS b",
    "a > 1 UNION SELECT 2",
    "a > 1 -- and more",
    "a > 1 /* /* */ OR getenv('x') = '' */",
    "E'\\'' OR getenv('x') = ''",
    "$$a$$ = b",
    "$1 = a",
    "? = a",
    "*",
    "COLUMNS('a') > 1",
    "list_filter(l, x -> x > 1) = l",
    "unnest(l) > 1",
    "",
    "  ",
    "a >",
    "DISTINCT a > 1",
    "a > 1 ORDER BY 1",
]


@pytest.mark.parametrize("predicate", REFUSED)
def test_refused_at_config_time(predicate: str) -> None:
    with pytest.raises(ConfigError):
        Expression(predicate)


ALLOWED = {
    "note = 'please update; drop'": ["note"],
    "note <> '-- /* getenv() */'": ["note"],
    "fare >= 0 OR refunded": ["fare", "refunded"],
    "CASE WHEN fare > 1 THEN refunded ELSE true END": ["fare", "refunded"],
    "ts::DATE >= DATE '2020-01-01' AND date_trunc('day', ts) <= ts": ["ts"],
    "s.a > 1 AND l[1] = 2": ["l", "s"],
    "year(ts) BETWEEN 2000 AND 2100": ["ts"],
    "ts - INTERVAL 1 DAY < ts": ["ts"],
    "length(trim(note)) > 0 AND note NOT LIKE 'x%' AND note ~ '^[a-z; ]+$'": ["note"],
    "coalesce(fare, 0) % 2 = 0": ["fare"],
    "try_cast(note AS INTEGER) IS NULL": ["note"],
    "note IN ('a', 'please update; drop')": ["note"],
    "fare IS DISTINCT FROM 7": ["fare"],
    "list_contains([1, 2], fare) AND list_value(1, 2) <> l": ["fare", "l"],
    "{'a': 2} = s AND struct_pack(a := 3) <> s": ["s"],
    "true": [],
}


@pytest.mark.parametrize("predicate", ALLOWED)
def test_allowed_and_true_of_a_good_row(predicate: str) -> None:
    assert sorted(columns_of(predicate)) == ALLOWED[predicate]
    table = pa.table(
        {
            "note": ["please update; drop"],
            "fare": [2],
            "refunded": [True],
            "ts": pa.array([1_785_542_400_000_000], pa.timestamp("us")),
            "s": [{"a": 2}],
            "l": [[2]],
        }
    )
    result = Expression(predicate).run(table)
    assert result.passed, result.details


def test_every_allowed_function_is_a_plain_one_of_duckdb() -> None:
    with duckdb.connect() as con:
        rows = con.sql("SELECT function_name, function_type, stability FROM duckdb_functions()").fetchall()
    kinds: dict[str, set[tuple[str, str]]] = {}
    for name, kind, stability in rows:
        kinds.setdefault(name, set()).add((kind, stability))
    for name in FUNCTIONS & set(kinds):
        allowed = [
            kind for kind, stability in kinds[name] if kind in {"scalar", "macro"} and stability != "VOLATILE"
        ]
        assert allowed, (name, kinds[name])


def test_a_condition_that_fails_on_the_data_does_not_take_the_others_with_it() -> None:
    table = pa.table({"a": ["1", "x"], "b": [1, None]})
    report = run_checks(
        table, [Expression("CAST(a AS INTEGER) > 0"), NotNull("b"), Expression("b"), Expression("q")]
    )
    cast, nulls, number, missing = report.results
    assert not cast.passed
    assert "could not be evaluated" in cast.details
    assert "'x'" in cast.details
    assert (nulls.failing_rows, nulls.metrics["row_count"]) == (1, 2)
    assert "not true or false" in number.details
    assert missing.metrics["missing_columns"] == ["q"]


@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        ("a > 0 AND", "expression 'a > 0 AND' is not SQL: an operand is missing"),
        ("a = '", "is not SQL: a text or a quoted name does not end"),
        ("a > (1", "expression 'a > (1' is not SQL: Expecting )"),
    ],
)
def test_what_is_not_sql_is_told_in_words(predicate: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        columns_of(predicate)
    assert str(error.value).endswith(said)


def test_what_duckdb_finds_wrong_only_with_the_rows_at_hand_is_not_run() -> None:
    rows = pa.table({"a": ["x"]})
    broken = "a LIKE '%' ESCAPE 'xx'"
    checks = [Expression(broken), NotNull("a"), Rule(check=NotNull("a"), where=broken)]
    first, second, third = run_checks(rows, checks).results
    assert (first.status, second.status, third.status) == ("not_run", "pass", "not_run")
    assert "Invalid escape string" in first.details


def test_names_in_a_condition_know_no_case_but_two_columns_that_differ_in_it_are_refused() -> None:
    assert Expression("FARE < 5").run(pa.table({"fare": [1]})).passed
    result = Expression("id = 1").run(pa.table({"Id": [1], "id": [1]}))
    assert not result.passed
    assert "['Id', 'id']" in result.details
