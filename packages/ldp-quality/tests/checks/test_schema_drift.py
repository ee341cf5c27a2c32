"""Schema drift: what is missing, what was added, what became another type, each graded by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import Contract, Rule, SchemaHas, diff, run_checks
from ldp_quality.verdicts import evaluated

TYPES = {
    "string": [pa.string(), pa.large_string()],
    "number": [pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(10, 2)],
    "temporal": [pa.date32(), pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.time64("us")],
    "boolean": [pa.bool_()],
    "binary": [pa.binary(), pa.binary(4)],
    "list": [pa.list_(pa.int64()), pa.large_list(pa.string())],
    "struct": [pa.struct([("a", pa.int64())])],
}
WORDS = {
    "string": ["string", "varchar(20)", "text", "large_string"],
    "number": ["number", "integer", "int64", "numeric", "decimal(10, 2)", "decimal128(10, 2)", "double"],
    "temporal": ["temporal", "date", "timestamp", "timestamp[us, tz=UTC]", "timestamptz", "time"],
    "boolean": ["boolean", "bool"],
    "binary": ["binary", "bytea"],
    "list": ["array", "list"],
    "struct": ["object", "struct"],
}
NAMES = ["a", "b", "c", "d"]
GRADES = ["fail", "warn", "ignore"]


def of(families: list[str], words: dict[str, list[Any]]) -> st.SearchStrategy[tuple[str, Any]]:
    return st.sampled_from([(family, word) for family in families for word in words[family]])


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), of(list(WORDS), WORDS), min_size=1),
    st.dictionaries(st.sampled_from(NAMES), of(list(TYPES), TYPES)),
    st.tuples(*[st.sampled_from(GRADES)] * 3),
    st.sampled_from(["error", "warn"]),
)
def test_drift_is_what_the_names_and_the_families_say(
    declared: dict[str, tuple[str, str]],
    actual: dict[str, tuple[str, pa.DataType]],
    grades: tuple[str, str, str],
    severity: str,
) -> None:
    missing, added, type_ = grades
    parts = [
        (missing, [name for name in declared if name not in actual]),
        (added, [name for name in actual if name not in declared]),
        (type_, [n for n, (family, _) in declared.items() if n in actual and actual[n][0] != family]),
    ]
    table = pa.table({name: pa.array([], type_) for name, (_, type_) in actual.items()})
    columns = {name: word for name, (_, word) in declared.items()}
    check = SchemaHas(columns, missing=missing, added=added, type=type_, compare="family")
    [result] = run_checks(table, [Rule(check=check, severity=severity)]).results
    found = {grade for grade, names in parts if names} - {"ignore"}
    wanted = "fail" if "fail" in found and severity == "error" else "warn" if found else "pass"
    assert (result.status, result.passed) == (wanted, wanted == "pass")
    told = [result.metrics.get(key, ()) for key in ("missing_columns", "added_columns", "type_mismatches")]
    assert [list(item) for item in told] == [[] if grade == "ignore" else names for grade, names in parts]


def test_types_are_compared_exactly_unless_families_are_asked_for() -> None:
    table = pa.table({"fare": pa.array([1], pa.decimal128(9, 2)), "city": ["NYC"]})
    columns = {"fare": "decimal128(10, 2)", "city": "string"}
    exact, family = run_checks(table, [SchemaHas(columns), SchemaHas(columns, compare="family")]).results
    assert exact.status == "fail"
    assert "fare is decimal128(9, 2), expected decimal128(10, 2)" in exact.details
    assert family.status == "pass"
    [other] = run_checks(table, [SchemaHas({"city": "numeric"}, compare="family", added="warn")]).results
    assert other.details == "added column(s) ['fare']; city is string, expected numeric"
    assert other.status == "fail"


def test_what_drifted_is_told_in_events() -> None:
    table = pa.table({"a": [1], "c": ["x"]})
    report = run_checks(table, [SchemaHas(["a", "b"], missing="warn", added="warn")])
    [line] = evaluated(report)["checks"]
    assert (line["status"], line["details"]) == ("warn", "missing column(s) b; added column(s) c")


def test_a_column_of_nulls_alone_is_of_no_other_family() -> None:
    [result] = run_checks(
        pa.table({"a": pa.nulls(2)}), [SchemaHas({"a": "number"}, compare="family")]
    ).results
    assert result.passed


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"missing": "maybe"}, "missing must be one of fail, warn, ignore, got 'maybe'"),
        ({"compare": "loose"}, "compare must be one of exact, family, got 'loose'"),
        ({"compare": "family", "columns": {"a": "thing"}}, "unknown type 'thing'"),
        ({"columns": {"a": "number"}}, "compare: family"),
    ],
)
def test_what_is_wrong(said: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SchemaHas(**{"columns": ["a"], **said})
    assert text in f"{caught.value.message} {caught.value.hint}"


CONTRACT = """
apiVersion: v3.1.0
kind: DataContract
id: rides
version: 1.0.0
status: active
schema:
  - name: rides
    properties:
      - {name: ride_id, logicalType: integer}
      - {name: fare, logicalType: number}
      - {name: city, logicalType: string}
    customProperties:
      - property: schemaDrift
        value: SAID
"""


def drift(tmp_path: Path, said: str, table: pa.Table) -> Any:
    path = tmp_path / "rides.odcs.yaml"
    path.write_text(CONTRACT.replace("SAID", said))
    [result] = Contract.from_file(path).check(table).results
    return result


def test_the_schema_of_a_contract_is_one_check_with_a_grade_for_each_part(tmp_path: Path) -> None:
    table = pa.table({"ride_id": [1.5], "fare": ["x"], "tip": [1]})
    said = "{missing: warn, added: fail, type: warn, compare: family}"
    result = drift(tmp_path, said, table)
    assert result.status == "fail"
    assert result.metrics["missing_columns"] == ["city"]
    assert result.metrics["added_columns"] == ["tip"]
    assert list(result.metrics["type_mismatches"]) == ["fare"]
    softer = drift(tmp_path, "{missing: warn, type: warn}", table)
    assert softer.status == "warn"
    assert list(softer.metrics["type_mismatches"]) == ["ride_id", "fare"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("{mising: warn}", "mising"),
        ("{added: never}", "never"),
        ("warn", "schemaDrift"),
    ],
)
def test_what_is_wrong_with_drift_in_a_contract_has_a_place(tmp_path: Path, said: str, text: str) -> None:
    path = tmp_path / "rides.odcs.yaml"
    path.write_text(CONTRACT.replace("SAID", said))
    with pytest.raises(ConfigError) as caught:
        Contract.from_file(path)
    assert any(
        text in f"{problem.key} {problem.message}"
        and "customProperties[0].value" in problem.key
        and problem.line
        for problem in caught.value.problems
    )


@pytest.mark.parametrize(
    ("old", "new", "impact"),
    [
        ("{added: ignore}", "{added: warn}", "tightening"),
        ("{missing: fail}", "{missing: warn}", "loosening"),
        ("{compare: family}", "{compare: logical}", "tightening"),
        ("{added: fail, missing: fail}", "{added: warn, missing: warn}", "loosening"),
        ("{added: warn, missing: warn}", "{added: fail, missing: ignore}", "tightening"),
        ("{type: fail}", "{type: fail, missing: fail}", "informational"),
    ],
)
def test_a_change_of_what_drift_means_is_classified(tmp_path: Path, old: str, new: str, impact: str) -> None:
    contracts = []
    for said in (old, new):
        path = tmp_path / "rides.odcs.yaml"
        path.write_text(CONTRACT.replace("SAID", said))
        contracts.append(Contract.from_file(path))
    assert [change.impact for change in diff(*contracts)] == [impact]
