"""What a change of a contract means, by the table of docs/contract-diff.md."""

import copy

import pytest
from ldp_core.errors import ConfigError
from ldp_quality import diff

BREAKING, TIGHTENING, LOOSENING, INFORMATIONAL = "breaking", "tightening", "loosening", "informational"
MISSING = object()


def contract(column=None, rule=None, table=None, **top):
    """A small contract, with more said of its column, its rule, its table or itself."""
    rules = [] if rule is None else [{"name": "r", **rule}]
    columns = [{"name": "id", "logicalType": "integer"}, {"name": "c", **(column or {})}]
    return {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": "orders",
        "version": "1.0.0",
        "status": "active",
        "schema": [{"name": "t", "properties": columns, "quality": rules, **(table or {})}],
        **top,
    }


def only(old, new):
    changes = diff(old, new).changes
    assert len(changes) == 1, changes
    return changes[0]


def column(key, old, new):
    return only(*(contract({} if value is MISSING else {key: value}) for value in (old, new)))


def both_ways(key, old, new, forth, back, make=column):
    assert make(key, old, new).impact == forth
    assert make(key, new, old).impact == back


@pytest.mark.parametrize(
    ("key", "old", "new", "forth", "back"),
    [
        ("required", MISSING, True, BREAKING, LOOSENING),
        ("required", False, True, BREAKING, LOOSENING),
        ("required", MISSING, False, INFORMATIONAL, INFORMATIONAL),
        ("unique", False, True, BREAKING, LOOSENING),
        ("primaryKey", False, True, BREAKING, BREAKING),
        ("logicalType", "string", "integer", BREAKING, BREAKING),
        ("logicalType", "integer", "number", LOOSENING, BREAKING),
        ("logicalType", "date", "timestamp", BREAKING, BREAKING),
        ("logicalType", MISSING, "string", TIGHTENING, LOOSENING),
        ("physicalType", "INT", "BIGINT", LOOSENING, BREAKING),
        ("physicalType", "int", "INTEGER", INFORMATIONAL, INFORMATIONAL),
        ("physicalType", "float", "double", LOOSENING, BREAKING),
        ("physicalType", "int", "double", LOOSENING, BREAKING),
        ("physicalType", "bigint", "double", BREAKING, BREAKING),
        ("physicalType", "decimal(10,2)", "DECIMAL(12, 2)", LOOSENING, BREAKING),
        ("physicalType", "decimal(10,2)", "decimal(10,3)", BREAKING, BREAKING),
        ("physicalType", "numeric(10,2)", "numeric", LOOSENING, BREAKING),
        ("physicalType", "varchar(10)", "varchar(20)", LOOSENING, BREAKING),
        ("physicalType", "varchar(10)", "text", LOOSENING, BREAKING),
        ("physicalType", "timestamp(3)", "timestamp(6)", LOOSENING, BREAKING),
        ("physicalType", "timestamp", "timestamp with time zone", BREAKING, BREAKING),
        ("physicalType", "array<int>", "ARRAY<INT>", INFORMATIONAL, INFORMATIONAL),
        ("physicalType", "array<int>", "array<bigint>", BREAKING, BREAKING),
        ("physicalName", MISSING, "c", INFORMATIONAL, INFORMATIONAL),
        ("physicalName", "c", "d", BREAKING, BREAKING),
        ("partitioned", False, True, INFORMATIONAL, INFORMATIONAL),
        ("primaryKeyPosition", 1, 2, INFORMATIONAL, INFORMATIONAL),
        ("description", "a", "b", INFORMATIONAL, INFORMATIONAL),
        ("deprecated", False, True, LOOSENING, INFORMATIONAL),
        ("enum", MISSING, [{"value": "a"}], TIGHTENING, LOOSENING),
        ("enum", [{"value": "a"}], [{"value": "a"}, {"value": "b"}], LOOSENING, TIGHTENING),
        ("enum", [{"value": "a"}], [{"value": "a", "label": "A"}], INFORMATIONAL, INFORMATIONAL),
        ("enum", [{"value": 1}], [{"value": 1}, {"value": True}], LOOSENING, TIGHTENING),
        ("items", MISSING, {"logicalType": "string"}, TIGHTENING, LOOSENING),
        ("items", {"logicalType": "string"}, {"logicalType": "date"}, BREAKING, BREAKING),
        ("items", {"properties": [{"name": "x"}]}, {"properties": []}, BREAKING, INFORMATIONAL),
        ("properties", [{"name": "x"}], [{"name": "x", "required": True}], BREAKING, LOOSENING),
        ("relationships", [], [{"to": "customers.id"}], TIGHTENING, LOOSENING),
        ("relationships", [{"to": "customers.id"}], [{"to": "people.id"}], TIGHTENING, TIGHTENING),
        ("tags", ["a", "b"], ["b"], INFORMATIONAL, INFORMATIONAL),
        ("tags", ["a", "b"], ["b", "a"], INFORMATIONAL, INFORMATIONAL),
    ],
)
def test_a_column(key, old, new, forth, back):
    both_ways(key, old, new, forth, back)


@pytest.mark.parametrize(
    ("type_", "old", "new", "forth", "back"),
    [
        ("number", {}, {"minimum": 0}, TIGHTENING, LOOSENING),
        ("number", {"minimum": 0}, {"minimum": 0.5}, TIGHTENING, LOOSENING),
        ("number", {"minimum": 0}, {"exclusiveMinimum": 0}, TIGHTENING, LOOSENING),
        ("number", {"maximum": 5}, {"maximum": 6}, LOOSENING, TIGHTENING),
        ("number", {"maximum": 5}, {"maximum": 5, "exclusiveMaximum": 7}, INFORMATIONAL, INFORMATIONAL),
        ("integer", {"minimum": 1}, {"exclusiveMinimum": 0}, INFORMATIONAL, INFORMATIONAL),
        ("integer", {"maximum": 5.5}, {"maximum": 5}, INFORMATIONAL, INFORMATIONAL),
        ("date", {"minimum": "2020-01-01"}, {"minimum": "2021-01-01"}, TIGHTENING, LOOSENING),
        ("date", {"minimum": "2020-01-01"}, {"minimum": 5}, TIGHTENING, TIGHTENING),
        ("time", {"maximum": "10:00"}, {"maximum": "10:00:00"}, INFORMATIONAL, INFORMATIONAL),
        ("string", {"maxLength": 5}, {"maxLength": 6}, LOOSENING, TIGHTENING),
        ("string", {}, {"minLength": 0}, INFORMATIONAL, INFORMATIONAL),
        ("string", {"pattern": "a"}, {"pattern": "b"}, TIGHTENING, TIGHTENING),
        ("string", {}, {"pattern": "b"}, TIGHTENING, LOOSENING),
        ("string", {"format": "uuid"}, {"format": "email"}, TIGHTENING, TIGHTENING),
        ("integer", {"format": "i32"}, {"format": "i64"}, LOOSENING, BREAKING),
        ("integer", {"multipleOf": 2}, {"multipleOf": 6}, TIGHTENING, LOOSENING),
        ("integer", {"multipleOf": 2}, {"multipleOf": 3}, TIGHTENING, TIGHTENING),
        ("date", {"format": "yyyy-MM-dd"}, {"format": "dd.MM.yyyy"}, BREAKING, BREAKING),
        ("timestamp", {"timezone": False}, {"timezone": True}, BREAKING, BREAKING),
        ("timestamp", {}, {"defaultTimezone": "Etc/UTC"}, INFORMATIONAL, INFORMATIONAL),
        ("array", {"uniqueItems": False}, {"uniqueItems": True}, TIGHTENING, LOOSENING),
        ("object", {"required": ["a"]}, {"required": ["a", "b"]}, BREAKING, LOOSENING),
        ("vector", {"dimensions": 3}, {"dimensions": 4}, BREAKING, BREAKING),
        ("vector", {}, {"elementType": "float32"}, INFORMATIONAL, INFORMATIONAL),
        ("string", MISSING, {}, INFORMATIONAL, INFORMATIONAL),
    ],
)
def test_what_values_may_be(type_, old, new, forth, back):
    def make(_, old, new):
        said = ({} if value is MISSING else {"logicalTypeOptions": value} for value in (old, new))
        return only(*(contract({"logicalType": type_, **item}) for item in said))

    both_ways("", old, new, forth, back, make)


def of_rule(_, old, new):
    return only(contract(rule=old), contract(rule=new))


NULLS = {"metric": "nullValues", "mustBe": 0}


def graded(**properties):
    listed = [{"property": name, "value": value} for name, value in properties.items()]
    return {**NULLS, "customProperties": listed}


@pytest.mark.parametrize(
    ("old", "new", "forth", "back"),
    [
        (NULLS, {"metric": "nullValues", "mustBeLessThan": 1}, INFORMATIONAL, INFORMATIONAL),
        (NULLS, {"metric": "nullValues", "mustBeLessThan": 2}, LOOSENING, TIGHTENING),
        (NULLS, {"metric": "nullValues", "mustBe": 1}, TIGHTENING, TIGHTENING),
        (NULLS, {"metric": "missingValues", "mustBe": 0}, TIGHTENING, TIGHTENING),
        (NULLS, {**NULLS, "unit": "rows"}, INFORMATIONAL, INFORMATIONAL),
        (NULLS, {**NULLS, "unit": "percent"}, TIGHTENING, TIGHTENING),
        (NULLS, {**NULLS, "type": "library"}, INFORMATIONAL, INFORMATIONAL),
        (NULLS, {**NULLS, "severity": "error"}, INFORMATIONAL, INFORMATIONAL),
        (NULLS, {**NULLS, "severity": "warning"}, LOOSENING, TIGHTENING),
        (NULLS, {**NULLS, "dimension": "completeness"}, INFORMATIONAL, INFORMATIONAL),
        (NULLS, graded(fail_above=10), LOOSENING, TIGHTENING),
        (graded(fail_above=10), graded(fail_above="1%"), TIGHTENING, TIGHTENING),
        (graded(fail_above=10), graded(fail_above=[10, "1%"]), TIGHTENING, LOOSENING),
        (graded(warn_above=1), graded(warn_above=1, fail_above=10), TIGHTENING, LOOSENING),
        (graded(failIfGreaterThan=1), graded(failIfGreaterThan=2), LOOSENING, TIGHTENING),
        (graded(), graded(where="c > 0"), LOOSENING, TIGHTENING),
        (graded(where="c > 1"), graded(where="c > 0"), TIGHTENING, TIGHTENING),
        (graded(on_failure="fail"), graded(on_failure="quarantine"), LOOSENING, TIGHTENING),
        (graded(on_fail="quarantine"), graded(on_fail="warn"), LOOSENING, TIGHTENING),
        (graded(), graded(team="a"), INFORMATIONAL, INFORMATIONAL),
        (graded(severity="low"), graded(severity="medium"), INFORMATIONAL, INFORMATIONAL),
        (graded(), graded(severity="low"), LOOSENING, TIGHTENING),
        ({"rule": "nullCheck"}, {"rule": "nullCheck", "mustBe": 0}, INFORMATIONAL, INFORMATIONAL),
        (
            {"metric": "invalidValues", "mustBe": 0, "arguments": {"min": 0}},
            {"metric": "invalidValues", "mustBe": 0, "arguments": {"min": 1}},
            TIGHTENING,
            LOOSENING,
        ),
        (
            {"metric": "invalidValues", "mustBeGreaterThan": 0, "arguments": {"min": 1}},
            {"metric": "invalidValues", "mustBeGreaterThan": 0, "arguments": {"min": 0}},
            TIGHTENING,
            TIGHTENING,
        ),
        (
            {"type": "sql", "query": "SELECT 1", "mustBe": 1},
            {"type": "sql", "query": "SELECT 2", "mustBe": 1},
            TIGHTENING,
            TIGHTENING,
        ),
        (
            {"type": "sql", "query": "SELECT 1", "mustBeBetween": [0, 5]},
            {"type": "sql", "query": "SELECT 1", "mustBeBetween": [0, 6]},
            LOOSENING,
            TIGHTENING,
        ),
        (
            {"type": "custom", "engine": "ldp", "implementation": {"check": "range", "fail_above": 1}},
            {"type": "custom", "engine": "ldp", "implementation": {"check": "range", "fail_above": 2}},
            LOOSENING,
            TIGHTENING,
        ),
    ],
)
def test_a_rule(old, new, forth, back):
    both_ways("", old, new, forth, back, of_rule)


@pytest.mark.parametrize(
    ("metric", "name", "more"),
    [
        ("invalidValues", "validValues", LOOSENING),
        ("missingValues", "missingValues", TIGHTENING),
        ("duplicateValues", "properties", LOOSENING),
    ],
)
def test_the_values_of_a_metric(metric, name, more):
    old, new = (
        {"metric": metric, "mustBe": 0, "arguments": {name: values}} for values in (["a"], ["a", "b"])
    )
    less = {LOOSENING: TIGHTENING, TIGHTENING: LOOSENING}[more]
    both_ways("", old, new, more, less, of_rule)


def test_more_valid_values_tighten_where_bad_rows_are_wanted():
    old, new = (
        {"metric": "invalidValues", "mustBeGreaterThan": 5, "arguments": {"validValues": values}}
        for values in (["a"], ["a", "b"])
    )
    both_ways("", old, new, TIGHTENING, TIGHTENING, of_rule)


def test_rules_come_and_go():
    both_ways("", contract(), contract(rule=NULLS), TIGHTENING, LOOSENING, lambda _, old, new: only(old, new))
    text = contract(rule={"type": "text", "description": "as agreed"})
    both_ways("", contract(), text, INFORMATIONAL, INFORMATIONAL, lambda _, old, new: only(old, new))


def test_rules_without_a_name_are_known_by_what_they_check():
    a, b = {"metric": "rowCount", "mustBeGreaterThan": 5}, {"type": "sql", "query": "SELECT 1", "mustBe": 1}
    old = contract(table={"quality": [a, b]})
    change = only(old, contract(table={"quality": [{**a, "mustBeGreaterThan": 7}, b]}))
    assert (change.path, change.impact) == ("schema.t.quality[0].mustBeGreaterThan", TIGHTENING)
    assert only(old, contract(table={"quality": [b, a]})).path == "schema.t.quality"
    assert only(old, contract(table={"quality": [{**a, "type": "library"}, b]})).impact == INFORMATIONAL
    change = only(old, contract(table={"quality": [a, {**b, "query": "SELECT 2"}]}))
    assert (change.path, change.impact) == ("schema.t.quality[1].query", TIGHTENING)
    twice = [{**a, "mustBeGreaterThan": number} for number in (1, 2)]
    other = [{**a, "mustBeGreaterThan": number} for number in (3, 4)]
    kinds = [
        change.kind for change in diff(*(contract(table={"quality": rules}) for rules in (twice, other)))
    ]
    assert sorted(kinds) == ["added", "added", "removed", "removed"]


@pytest.mark.parametrize(
    ("old", "new", "forth", "back"),
    [
        (("freshness", 24, "h"), ("freshness", 1, "d"), INFORMATIONAL, INFORMATIONAL),
        (("latency", 24, "h"), ("latency", 2, "d"), LOOSENING, TIGHTENING),
        (("ly", 24, "h"), ("ly", 12, "h"), TIGHTENING, LOOSENING),
        (("retention", 1, "y"), ("retention", 18, "mo"), TIGHTENING, LOOSENING),
        (("availability", 99.9, "%"), ("availability", 99, "%"), LOOSENING, TIGHTENING),
        (("endOfSupport", "2030-01-01", ""), ("endOfSupport", "2029-01-01", ""), LOOSENING, TIGHTENING),
        (
            ("timeOfAvailability", "09:00-08:00", ""),
            ("timeOfAvailability", "10:00-08:00", ""),
            LOOSENING,
            TIGHTENING,
        ),
        (("moon", 1, "d"), ("moon", 2, "d"), TIGHTENING, TIGHTENING),
    ],
)
def test_a_service_level(old, new, forth, back):
    def make(_, old, new):
        keys = ("property", "value", "unit")
        return only(*(contract(slaProperties=[dict(zip(keys, sla, strict=True))]) for sla in (old, new)))

    both_ways("", old, new, forth, back, make)


def test_service_levels_come_and_go():
    sla = [{"property": "latency", "value": 1, "unit": "d"}]
    both_ways(
        "", contract(), contract(slaProperties=sla), TIGHTENING, LOOSENING, lambda _, old, new: only(old, new)
    )


@pytest.mark.parametrize(
    ("key", "old", "new", "forth", "back"),
    [
        ("version", "1.0.0", "2.0.0", INFORMATIONAL, INFORMATIONAL),
        ("apiVersion", "v3.1.0", "v3.2.0", INFORMATIONAL, INFORMATIONAL),
        ("status", "active", "deprecated", LOOSENING, INFORMATIONAL),
        ("status", "draft", "active", INFORMATIONAL, LOOSENING),
        ("status", "deprecated", "retired", BREAKING, INFORMATIONAL),
        ("team", {"members": []}, {"members": [{"username": "a"}]}, INFORMATIONAL, INFORMATIONAL),
        ("servers", [{"server": "s", "type": "local"}], [], BREAKING, INFORMATIONAL),
        ("servers", [{"server": "s", "path": "a"}], [{"server": "s", "path": "b"}], BREAKING, BREAKING),
        (
            "customProperties",
            [{"property": "failAbove", "value": 1}],
            [{"property": "failAbove", "value": 2}],
            LOOSENING,
            TIGHTENING,
        ),
        (
            "customProperties",
            [{"property": "failAbove", "value": 1, "vendor": "other"}],
            [{"property": "failAbove", "value": 2, "vendor": "other"}],
            INFORMATIONAL,
            INFORMATIONAL,
        ),
        ("price", {"priceAmount": 1}, {"priceAmount": 2}, INFORMATIONAL, INFORMATIONAL),
        (
            "customProperties",
            [{"property": "on_failure", "value": "fail"}],
            [{"property": "on_failure", "value": "warn"}],
            LOOSENING,
            TIGHTENING,
        ),
    ],
)
def test_the_contract_itself(key, old, new, forth, back):
    both_ways(
        key, old, new, forth, back, lambda key, old, new: only(contract(**{key: old}), contract(**{key: new}))
    )


def columns(*listed):
    return contract(table={"properties": list(listed)})


def test_columns_come_and_go():
    a, b = {"name": "a"}, {"name": "b"}
    assert only(columns(a, b), columns(a)).impact == BREAKING
    assert only(columns(a), columns(a, b)).impact == INFORMATIONAL
    assert only(columns(a), columns(a, {**b, "required": True})).impact == BREAKING
    assert only(columns(a), columns(a, {**b, "unique": True})).impact == TIGHTENING
    assert only(columns(a), columns(a, {**b, "quality": [NULLS]})).impact == TIGHTENING


def test_tables_come_and_go():
    one, two = {"name": "one"}, {"name": "two"}
    both_ways(
        "schema",
        [one, two],
        [one],
        BREAKING,
        INFORMATIONAL,
        lambda key, old, new: only(contract(schema=old), contract(schema=new)),
    )


def test_a_rename_is_known_by_its_id_and_never_guessed_by_position():
    renamed = only(columns({"name": "a", "id": "x"}), columns({"name": "b", "id": "x"}))
    assert (renamed.path, renamed.kind, renamed.old, renamed.new, renamed.impact) == (
        "schema.t.properties.a.name",
        "changed",
        "a",
        "b",
        BREAKING,
    )
    kinds = {change.kind for change in diff(columns({"name": "a"}), columns({"name": "b"}))}
    assert kinds == {"removed", "added"}


def test_the_order_of_columns_is_told():
    change = only(columns({"name": "a"}, {"name": "b"}), columns({"name": "b"}, {"name": "a"}))
    assert (change.old, change.new, change.impact) == (["a", "b"], ["b", "a"], INFORMATIONAL)
    assert diff(columns({"name": "a"}), columns({"name": "b"}, {"name": "a"})).worst == INFORMATIONAL


def test_a_path_leads_to_nested_fields():
    def nested(type_):
        fields = [{"name": "city", "logicalType": type_}]
        return contract({"logicalType": "array", "items": {"logicalType": "object", "properties": fields}})

    change = only(nested("string"), nested("integer"))
    assert change.path == "schema.t.properties.c.items.properties.city.logicalType"
    assert change.message == "logicalType was string and is now integer: not every old value fits it."


def test_worst_first_and_by_class():
    new = contract({"required": True, "description": "d", "enum": [{"value": 1}]}, version="2.0.0")
    found = diff(contract({"unique": True}), new)
    assert [change.impact for change in found] == [
        BREAKING,
        TIGHTENING,
        LOOSENING,
        INFORMATIONAL,
        INFORMATIONAL,
    ]
    assert found.worst == BREAKING
    assert len(found.at_least(LOOSENING)) == 3
    assert [change.path for change in found.of(TIGHTENING)] == ["schema.t.properties.c.enum"]
    body = found.to_dict()
    assert (body["contract"], body["old_version"], body["new_version"]) == ("orders", "1.0.0", "2.0.0")
    assert body["counts"] == {"breaking": 1, "tightening": 1, "loosening": 1, "informational": 2}


def test_nothing_changed():
    found = diff(contract(), contract())
    assert (found.changes, found.worst, len(found)) == ((), None, 0)


def test_another_id_is_another_contract():
    with pytest.raises(ConfigError, match="two contracts, not two versions of one: the ids are orders and x"):
        diff(contract(), contract(id="x"))
    with pytest.raises(ConfigError, match="the new contract must be an object, not list"):
        diff(contract(), [])


def test_the_documents_are_left_as_they_are():
    old, new = contract(rule=NULLS), contract()
    kept = copy.deepcopy((old, new))
    diff(old, new)
    assert (old, new) == kept
