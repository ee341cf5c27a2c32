"""``check`` and the JSON Schema say the same of every value; problems are clear."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.config.json_schema import render
from ldp_core.config.normal import normalise
from ldp_core.config.validate import check
from ldp_core.shape import (
    Anything,
    Bool,
    Int,
    Key,
    ListOf,
    Literal,
    MapOf,
    Named,
    Number,
    OneOf,
    Scalar,
    Shape,
    Text,
    Type,
    Variant,
)

FORM = Named(
    group="ldp.test_forms",
    by="form",
    aliases={"disc": "circle", "JSON": "LINES"},
    also=(Key("name", Text(), "A name."),),
    variants=(Variant("JSON", "engine", "QUERY", "query"),),
)
DEFAULT_FORM = Named(group="ldp.test_forms", by="form", default="circle")
NAMES = st.sampled_from(["a", "b", "c", "x-note", "$schema", "radius", "width", "side"])
LEAVES: list[Type] = [
    Text(),
    Text(choices=("append", "Upsert"), ignore_case=True),
    Text(choices=("append", "upsert")),
    Text(pattern=r"\S"),
    Text(pattern="^[a-z]+$"),
    Int(),
    Int(min=0, max=2),
    Number(),
    Number(min=0.5, max=2),
    Number(above=0),
    Bool(),
    Literal("none"),
    Literal(1),
    Literal(True),
    Literal(None),
    Scalar(),
    Anything(),
    FORM,
    DEFAULT_FORM,
]


def shapes(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Shape]:
    keys = st.dictionaries(
        st.sampled_from(["a", "b", "c", "form"]), st.tuples(inner, st.booleans()), max_size=4
    )
    groups = st.lists(st.sampled_from([("a", "b"), ("a", "b", "c"), ("c",)]), max_size=1)
    return st.builds(
        lambda found, exactly, at_most: Shape(
            keys=tuple(Key(name, type, "", required=needed) for name, (type, needed) in found.items()),
            exactly_one=tuple(exactly),
            at_most_one=tuple(at_most),
        ),
        keys,
        groups,
        groups,
    )


TYPES: st.SearchStrategy[Type] = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: (
        st.builds(ListOf, inner, st.integers(0, 2))
        | st.builds(ListOf, st.sampled_from(LEAVES[:8]), st.integers(0, 1), st.just(True))
        | st.builds(MapOf, inner)
        | st.builds(lambda *types: OneOf(types), inner, inner)
        | shapes(inner)
    ),
    max_leaves=6,
)
WORDS = [
    "append",
    "UPSERT",
    "none",
    "",
    " ",
    "word",
    "circle",
    "DISC",
    "json",
    "Query",
    "lines",
    "broken",
    "x",
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, 2, 3, -1, 1.0, 0.5, 0.25, 2.5, 2**60])
    | st.sampled_from(WORDS)
)
FORMS = st.fixed_dictionaries(
    {},
    optional={
        "form": st.sampled_from([*WORDS, "RECTANGLE", "rectangle", "unknown", 1]),
        "radius": st.sampled_from([1, 0, "1"]),
        "width": st.sampled_from([1, 0]),
        "side": st.sampled_from([1, None]),
        "engine": st.sampled_from(["query", "QUERY", "other", 3]),
        "path": st.sampled_from(["a.jsonl", "a"]),
        "name": st.sampled_from(["n", 1]),
        "x-remark": st.just(1),
    },
)
VALUES = st.recursive(
    SCALARS | FORMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES, inner, max_size=3)
        | st.fixed_dictionaries({}, optional={"a": inner, "b": inner, "c": inner, "form": inner})
    ),
    max_leaves=5,
)


def fitting(type: Type) -> st.SearchStrategy[Any]:
    """Values near a type, so that both verdicts occur."""
    match type:
        case Text():
            return st.sampled_from(WORDS)
        case Int() | Number():
            return st.sampled_from([0, 1, 2, 3, 0.25, 1.0])
        case Literal():
            return st.sampled_from([type.value, 1, True, None, "none"])
        case ListOf():
            return st.lists(fitting(type.item), max_size=3) | fitting(type.item)
        case MapOf():
            return st.dictionaries(NAMES, fitting(type.value), max_size=2)
        case OneOf():
            return st.one_of(*(fitting(item) for item in type.types))
        case Named():
            return FORMS
        case Shape():
            return st.fixed_dictionaries({}, optional={key.name: fitting(key.type) for key in type.keys})
        case _:
            return SCALARS


@settings(deadline=None, max_examples=250)
@given(st.data())
def test_check_and_json_schema_agree(data: st.DataObject) -> None:
    type = data.draw(TYPES)
    value = data.draw(fitting(type) | VALUES)
    schema = render(type)
    jsonschema.Draft202012Validator.check_schema(schema)
    verdict = jsonschema.Draft202012Validator(schema).is_valid(value)
    problems = check(type, value, "k")
    assert verdict == (not problems), (problems, schema)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_a_normalised_value_still_fits_and_stays(data: st.DataObject) -> None:
    type = data.draw(TYPES)
    value = data.draw(fitting(type))
    if not check(type, value):
        once = normalise(type, value)
        assert not check(type, once)
        assert normalise(type, once) == once


TARGET = Shape(
    keys=(
        Key("write_mode", Text(choices=("append", "overwrite", "upsert"), ignore_case=True), "How."),
        Key("join_cols", ListOf(Text(), min_items=1, or_single=True), "Keys."),
        Key("relation", Text(), "R."),
        Key("sql", Text(), "S."),
        Key("limit", Int(min=1, max=9), "L."),
        Key("share", Number(above=0, max=1), "S."),
        Key("shape", FORM, "A form."),
    ),
    exactly_one=(("relation", "sql"),),
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"sql": "x", "write_mod": "append"}, "t.write_mod: unknown key; did you mean write_mode?"),
        ({"sql": "x", "writeMode": "append"}, "t.writeMode: unknown key; did you mean write_mode?"),
        ({"sql": "x", "zzz": 1}, "t.zzz: unknown key; known keys: write_mode"),
        (
            {"sql": "x", "write_mode": "apend"},
            't.write_mode: must be one of append, overwrite, upsert, not "apend"; did you mean append?',
        ),
        ({"sql": "x", "write_mode": 3}, "t.write_mode: must be a text, not a number"),
        ({"sql": "x", "write_mode": None}, "t.write_mode: must be a text, not null"),
        ({"sql": "x", "join_cols": []}, "t.join_cols: must not be empty"),
        ({"sql": "x", "join_cols": ["a", 2]}, "t.join_cols[1]: must be a text, not a number"),
        ({"sql": "x", "join_cols": 2}, "t.join_cols: must be a text, not a number"),
        ({"sql": "x", "relation": "y"}, "t: only one of relation or sql may be given, not relation and sql"),
        ({}, "t: needs exactly one of relation or sql"),
        ([], "t: must be an object, not a list"),
        ({"sql": "x", "limit": 0}, "t.limit: must be at least 1, not 0"),
        ({"sql": "x", "limit": 10}, "t.limit: must be at most 9, not 10"),
        ({"sql": "x", "limit": 1.5}, "t.limit: must be a whole number, not 1.5"),
        ({"sql": "x", "limit": True}, "t.limit: must be a whole number, not true or false"),
        ({"sql": "x", "share": 0}, "t.share: must be more than 0, not 0"),
        ({"sql": "x", "shape": {}}, "t.shape.form: is required; one of:"),
        ({"sql": "x", "shape": {"form": "circel"}}, 't.shape.form: unknown form "circel"; known:'),
        ({"sql": "x", "shape": {"form": "circle"}}, "t.shape.radius: is required"),
        ({"sql": "x", "shape": {"form": "DISC", "radius": 1, "nam": "n"}}, "t.shape.nam: unknown key; did"),
        ({"sql": "x", "shape": {"form": "broken"}}, "t.shape.form: test form 'broken' of"),
        ({"sql": "x", "shape": {"form": 3}}, "t.shape.form: must be a text, not a number"),
    ],
)
def test_each_problem_is_one_clear_line(value: Any, expected: str) -> None:
    problems = check(TARGET, value, "t")
    assert len(problems) == 1, problems
    assert str(problems[0]).startswith(expected)


def test_all_problems_at_once_and_remarks_are_none() -> None:
    value = {
        "sql": 1,
        "limit": "x",
        "x-why": {"any": 1},
        "$schema": "s",
        "shape": {"form": "circle", "radius": 0},
    }
    assert [problem.key for problem in check(TARGET, value, "t")] == ["t.sql", "t.limit", "t.shape.radius"]


def test_normalised_spelling() -> None:
    value = {
        "sql": "x",
        "write_mode": "UPSERT",
        "join_cols": "id",
        "limit": 3.0,
        "x-why": 1,
        "shape": {"form": "Disc", "radius": 1},
    }
    assert normalise(TARGET, value) == {
        "sql": "x",
        "write_mode": "upsert",
        "join_cols": ["id"],
        "limit": 3,
        "shape": {"form": "circle", "radius": 1},
    }
    assert normalise(FORM, {"form": "json", "engine": "Query"})["form"] == "query"
    assert normalise(FORM, {"form": "json"})["form"] == "LINES"
    assert normalise(DEFAULT_FORM, {"radius": 1}) == {"radius": 1, "form": "circle"}


def test_the_keys_of_a_free_map_are_data() -> None:
    assert check(MapOf(Text()), {"x-ray": 1}, "m")[0].key == "m.x-ray"
    assert normalise(MapOf(Text()), {"x-ray": "kept"}) == {"x-ray": "kept"}
