"""What holds for any two contracts, and verdicts against an oracle."""

import copy
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldp_quality import diff
from ldp_quality.checks.operators import OPERATORS, Operator
from ldp_quality.grade import STATUSES, Grade, Limit

BREAKING, TIGHTENING, LOOSENING, INFORMATIONAL = "breaking", "tightening", "loosening", "informational"
MIRRORS = {
    BREAKING: {BREAKING, TIGHTENING, LOOSENING, INFORMATIONAL},
    TIGHTENING: {TIGHTENING, LOOSENING, BREAKING},
    LOOSENING: {BREAKING, TIGHTENING, INFORMATIONAL},
    INFORMATIONAL: {INFORMATIONAL, BREAKING, LOOSENING},
}
IDENTITIES = {"id", "name", "property", "server", "username", "value", "to"}
"""Keys by which a member of a list is known: another one is another member."""

words = st.text("abc.[ é", min_size=1, max_size=2)
flags = st.booleans()
numbers = st.integers(-3, 9) | st.sampled_from([0.5, 2.5, -1.25])


def some(**keys):
    """An object that has any of the keys."""
    return st.fixed_dictionaries({}, optional=keys)


def named(key, names, /, **keys):
    """A list of objects, each with another name."""
    one = st.fixed_dictionaries({key: names}, optional=keys)
    return st.lists(one, max_size=2, unique_by=lambda item: item[key])


def labels(prefix):
    return st.integers(0, 4).map(lambda number: f"{prefix}{number}")


custom = named("property", labels("p") | st.sampled_from(["where", "on_failure", "fail_above"]), value=words)
texts = {
    "description": words,
    "tags": st.lists(words, max_size=2, unique=True),
    "customProperties": custom,
}
rules = named(
    "name",
    labels("r"),
    metric=st.sampled_from(["nullValues", "invalidValues"]),
    unit=st.sampled_from(["rows", "percent"]),
    mustBe=numbers,
    mustBeLessThan=numbers,
    severity=st.sampled_from(["error", "warning"]),
    arguments=some(validValues=st.lists(words | numbers, max_size=2, unique_by=repr), pattern=words),
    dimension=words,
    **texts,
)
options = some(
    minimum=numbers, exclusiveMinimum=numbers, maximum=numbers, maxLength=st.integers(0, 5), pattern=words
)
values = st.lists(words | flags | st.integers(0, 3), max_size=2, unique_by=lambda item: repr(item))
leaf = {
    "logicalType": st.sampled_from(["string", "integer", "number", "date"]),
    "physicalType": st.sampled_from(["INT", "bigint", "decimal(9,2)", "decimal(12, 2)", "text", "odd(x)"]),
    "logicalTypeOptions": options,
    "required": flags,
    "unique": flags,
    "primaryKey": flags,
    "partitioned": flags,
    "enum": values.map(lambda listed: [{"value": item} for item in listed]),
    "quality": rules,
    "relationships": st.lists(words, max_size=2, unique=True).map(
        lambda listed: [{"to": to} for to in listed]
    ),
    **texts,
}
columns = named(
    "name", labels("c"), **leaf, items=some(**leaf), properties=named("name", labels("f"), **leaf)
)
contracts = st.fixed_dictionaries(
    {"id": st.just("x"), "version": labels("1.")},
    optional={
        "status": st.sampled_from(["draft", "active", "deprecated", "retired"]),
        "schema": named("name", labels("t"), properties=columns, quality=rules, physicalType=words, **texts),
        "slaProperties": named(
            "property", st.sampled_from(["latency", "retention", "x"]), value=numbers, unit=words
        ),
        "servers": named("server", labels("s"), host=words, description=words),
        "team": some(name=words, members=named("username", words, role=words)),
        **texts,
    },
)


def shuffled(value, seed):
    """The same with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.Random(seed).shuffle(keys)
        return {key: shuffled(value[key], seed) for key in keys}
    return [shuffled(item, seed) for item in value] if isinstance(value, list) else value


def spots(value, path=()):
    """Where one thing can be changed: every key that holds a scalar, and every member of a list."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from spots(item, (*path, key))
            elif key not in IDENTITIES or path == ():
                yield (*path, key)
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield (*path, place)
            yield from spots(item, (*path, place)) if isinstance(item, dict | list) else ()


@given(contracts)
def test_a_contract_does_not_differ_from_itself(one):
    assert not diff(one, copy.deepcopy(one)).changes


@given(contracts, contracts, st.integers())
def test_the_order_of_keys_does_not_matter(old, new, seed):
    assert diff(shuffled(old, seed), shuffled(new, seed)) == diff(old, new)


@given(contracts, contracts)
def test_only_equal_contracts_have_no_difference(old, new):
    assert bool(diff(old, new).changes) == (repr(shuffled(old, 0)) != repr(shuffled(new, 0)) and old != new)


def place(change):
    """Where a change stands, seen from either side: a renamed rule has the old name in its path."""
    around, _, key = change.path.rpartition(".")
    if key == "name" and ".quality." in change.path:
        return around.rpartition(".")[0], frozenset({str(change.old), str(change.new)})
    return change.path


@given(contracts, contracts)
def test_the_way_back_mirrors_the_way_forth(old, new):
    mirror = {"added": "removed", "removed": "added", "changed": "changed"}
    forth, back = ({place(change): change for change in diff(*pair)} for pair in ((old, new), (new, old)))
    assert forth.keys() == back.keys()
    for path, change in forth.items():
        other = back[path]
        assert (mirror[change.kind], change.new, change.old) == (other.kind, other.old, other.new)
        assert other.impact in MIRRORS[change.impact], (change, other)


@given(contracts, st.data())
def test_one_thing_changed_is_seen_exactly_once(old, data):
    found = [spot for spot in spots(old) if spot != ("id",)]
    *way, last = data.draw(st.sampled_from(found))
    new = copy.deepcopy(old)
    around = new
    for step in way:
        around = around[step]
    if isinstance(last, int) or data.draw(flags):
        del around[last]
    else:
        around[last] = data.draw(st.sampled_from(["another", 77, None]))
    changes = diff(old, new).changes
    assert len(changes) == 1, changes
    if isinstance(last, str):
        assert changes[0].path.split(".")[-1] == last or ".customProperties." in changes[0].path


pairs = st.tuples(st.integers(-2, 8), st.integers(1, 4)).map(lambda pair: [pair[0], pair[0] + pair[1]])
operators = st.tuples(st.sampled_from(OPERATORS[:6]), st.integers(-4, 20).map(lambda n: n / 2)) | st.tuples(
    st.sampled_from(["mustBeBetween", "mustNotBeBetween"]), pairs
)


def by_oracle(old, new):
    """The class by what each accepts of many numbers."""
    if old == new:
        return INFORMATIONAL
    return LOOSENING if old <= new else TIGHTENING


@given(operators, operators, st.sampled_from(["rows", "percent", "sql"]))
def test_operators_are_compared_by_what_they_accept(old, new, unit):
    numbers = {
        "rows": [Fraction(n) for n in range(30)],
        "percent": [Fraction(n, 4) for n in range(401)],
        "sql": [Fraction(n, 4) for n in range(-40, 100)],
    }[unit]
    about = {"type": "sql", "query": "SELECT 1"} if unit == "sql" else {"metric": "nullValues", "unit": unit}
    sides = [{"name": "r", **about, operator: wanted} for operator, wanted in (old, new)]
    changes = diff(*({"schema": [{"name": "t", "quality": [rule]}]} for rule in sides)).changes
    wanted = by_oracle(*({n for n in numbers if Operator.of(*side).holds(n)} for side in (old, new)))
    assert [change.impact for change in changes] == ([] if old == new else [wanted])


halves = st.integers(-4, 4).map(lambda n: n / 2)
bounds = some(minimum=halves, exclusiveMinimum=halves)


@given(bounds, bounds, st.sampled_from(["integer", "number"]), st.sampled_from(["Minimum", "Maximum"]))
def test_bounds_are_compared_by_what_they_accept(old, new, type_, side):
    sign = 1 if side == "Minimum" else -1
    numbers = [Fraction(n, 1 if type_ == "integer" else 4) for n in range(-40, 41)]

    def accepted(said):
        low, above = said.get("minimum", -99), said.get("exclusiveMinimum", -99)
        return {n for n in numbers if n >= low and n > above}

    keys = {"minimum": side.lower(), "exclusiveMinimum": f"exclusive{side}"}

    def contract(said):
        written = {keys[key]: sign * value for key, value in said.items()}
        column = {"name": "c", "logicalType": type_, "logicalTypeOptions": written}
        return {"schema": [{"name": "t", "properties": [column]}]}

    changes = diff(contract(old), contract(new)).changes
    wanted = by_oracle(accepted(old), accepted(new))
    assert [change.impact for change in changes] == ([] if old == new else [wanted])


limits = st.none() | st.integers(0, 5) | st.sampled_from(["0%", "10%", "50%"]) | st.just([2, "20%"])
grades = st.tuples(st.sampled_from(["error", "warn"]), limits, limits)


@given(grades, grades)
def test_tolerances_are_compared_by_how_bad_rows_are_graded(old, new):
    def contract(severity, warn, fail):
        listed = [("warn_above", warn), ("fail_above", fail)]
        said = [{"property": name, "value": value} for name, value in listed if value is not None]
        rule = {
            "name": "r",
            "metric": "nullValues",
            "mustBe": 0,
            "severity": severity,
            "customProperties": said,
        }
        return {"schema": [{"name": "t", "quality": [rule]}]}

    def statuses(severity, warn, fail):
        grade = Grade(severity, Limit.of(warn, "warn_above"), Limit.of(fail, "fail_above"))
        cases = [(bad, rows) for rows in (*range(1, 40), 10_000_000) for bad in range(1, 40) if bad <= rows]
        return [STATUSES.index(grade.status(False, *case)) for case in cases]

    was, now = statuses(*old), statuses(*new)
    worse = any(after > before for before, after in zip(was, now, strict=True))
    wanted = INFORMATIONAL if was == now else TIGHTENING if worse else LOOSENING
    impacts = {change.impact for change in diff(contract(*old), contract(*new))}
    assert impacts == (set() if old == new else {wanted})


RULE = {
    "metric": "invalidValues",
    "type": "library",
    "unit": "rows",
    "mustBe": 0,
    "severity": "error",
    "arguments": {"validValues": ["a"], "min": 1, "pattern": "a"},
    "implementation": {"fail_above": 1, "where": "a"},
    "customProperties": [{"property": "fail_above", "value": 1}, {"property": "on_failure", "value": "warn"}],
}
FULL = {
    "version": "1.0.0",
    "status": "active",
    "servers": [{"server": "s", "host": "h"}],
    "schema": [
        {
            "name": "t",
            "physicalType": "table",
            "quality": [RULE],
            "properties": [
                {
                    "name": "c",
                    "logicalType": "integer",
                    "physicalType": "INT",
                    "physicalName": "d",
                    "logicalTypeOptions": {"minimum": 1, "format": "i32", "multipleOf": 2, "required": ["a"]},
                    "required": True,
                    "enum": [{"value": 1}],
                    "items": {"logicalType": "string"},
                    "map": {"key": {"logicalType": "string"}, "value": {"logicalType": "vector"}},
                    "relationships": [{"from": "a", "to": ["b"]}],
                }
            ],
        }
    ],
    "slaProperties": [{"property": "latency", "value": 1, "unit": "d", "element": "t.c"}],
    "slaDefaultElement": "t.c",
    "customProperties": [{"property": "where", "value": "a"}],
}


def everywhere(value, path=()):
    """Every key and every member of a list."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inside:
        yield (*path, step)
        yield from everywhere(item, (*path, step))


@pytest.mark.parametrize("broken", [None, 3, "x", True, [], [3], [[]], {}, {"a": 1}, float("nan")], ids=repr)
def test_whatever_stands_there_is_told_and_not_raised(broken):
    for *way, last in everywhere(FULL):
        new = copy.deepcopy(FULL)
        around = new
        for step in way:
            around = around[step]
        if around[last] is not broken:
            around[last] = broken
            assert diff(FULL, new).changes, (way, last)
            assert len(diff(new, FULL)) == len(diff(FULL, new)), (way, last)
            assert not diff(new, copy.deepcopy(new)).changes
