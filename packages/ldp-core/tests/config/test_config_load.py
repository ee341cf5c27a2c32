"""Files into data and lines."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.config._json import parse_json
from ldp_core.config._yaml import parse_yaml
from ldp_core.config.load import load_document
from ldp_core.errors import ConfigError

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def of(text: str, name: str = "c.yaml") -> Any:
    return (parse_json if name.endswith(".json") else parse_yaml)(text, name)[0]


def refused(text: str, name: str) -> str:
    with pytest.raises(ConfigError) as caught:
        of(text, name)
    return str(caught.value)


@settings(deadline=None, max_examples=150)
@given(VALUES, st.sampled_from([None, 2]))
def test_json_reads_what_the_standard_library_writes(value: Any, indent: int | None) -> None:
    read = of(json.dumps(value, indent=indent), "c.json")
    assert read == value
    assert json.dumps(read) == json.dumps(value)


@settings(deadline=None, max_examples=100)
@given(VALUES)
def test_json_text_is_the_same_data_as_yaml(value: Any) -> None:
    text = json.dumps(value)
    assert json.dumps(of(text, "c.yaml")) == json.dumps(of(text, "c.json"))


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet='{}[]":,01e.-+ntruefalsI\n \\ud8', max_size=25))
def test_json_accepts_what_the_standard_library_accepts(text: str) -> None:
    def no_constant(word: str) -> Any:
        raise ValueError(word)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("twice")
        return found

    try:
        expected = json.loads(text, parse_constant=no_constant, object_pairs_hook=once)
        json.dumps(expected, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        with pytest.raises(ConfigError):
            of(text, "c.json")
    else:
        assert of(text, "c.json") == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("2026-08-01", "2026-08-01"),
        ("2026-08-01T10:00:00Z", "2026-08-01T10:00:00Z"),
        ("12:30:45", "12:30:45"),
        ("190:20:30", "190:20:30"),
        ("0o17", 15),
        ("017", 17),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("+12", 12),
        ("-0", 0),
        ("9007199254740993", 9007199254740993),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("nULL", "nULL"),
        ("''", ""),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("!!float 3", 3.0),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("|\n  a\n  b\n", "a\nb\n"),
    ],
)
def test_yaml_is_the_core_schema(text: str, value: Any) -> None:
    read = of(f"k: {text}")["k"]
    assert read == value
    assert type(read) is type(value)


def test_a_key_in_yaml_is_its_text() -> None:
    assert of("on: 1\n2019: a\nnull: b\ntrue: c\n") == {"on": 1, "2019": "a", "null": "b", "true": "c"}


def test_aliases_repeat_and_merge_keys_are_plain_keys() -> None:
    assert of("a: &a {x: 1}\nb: *a\n") == {"a": {"x": 1}, "b": {"x": 1}}
    assert of("a: &a {x: 1}\nb:\n  <<: *a\n") == {"a": {"x": 1}, "b": {"<<": {"x": 1}}}


@pytest.mark.parametrize("name", ["c.json", "c.yaml"])
def test_lines_of_every_key(tmp_path: Path, name: str) -> None:
    text = {
        "c.json": '{\n"a": {\n "b": [\n  {"c": 1},\n  {\n   "d": 2}\n ]},\n"e": 3}',
        "c.yaml": "\na:\n b:\n  - c: 1\n  -\n    d: 2\n\ne: 3\n",
    }[name]
    (tmp_path / name).write_text(text)
    document = load_document(tmp_path / name)
    assert document.data == {"a": {"b": [{"c": 1}, {"d": 2}]}, "e": 3}
    lines = [document.line_of(key) for key in ("a", "a.b", "a.b[0].c", "a.b[1].d", "e")]
    assert lines == [2, 3, 4, 6, 8]
    assert document.line_of("a.b[1].absent.deeper") == document.line_of("a.b[1]")
    assert document.line_of("f") == 1 + (name == "c.yaml")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.json", '{"a": 1,}', "c.json:1: a comma before '}'"),
        ("c.json", '{\n "a": NaN}', "c.json:2: 'NaN' is not JSON"),
        ("c.json", '{"a": -Infinity}', "c.json:1: '-Infinity' is not JSON"),
        ("c.json", '{"a": 1e999}', "c.json:1: 1e999 is out of range"),
        ("c.json", '{"a": 01}', "c.json:1: '01' begins no JSON number"),
        ("c.json", '{"a": 1,\n\n"a": 2}', "c.json:3: a: the key stands twice, first on line 1"),
        ("c.json", '{"a": "x', "c.json:1: not JSON: unterminated string starting at"),
        ("c.json", '{"a": 1', "c.json:1: expected ',' or '}', found the end of the file"),
        ("c.json", "{'a': 1}", 'c.json:1: expected a key in double quotes, found "\'"'),
        ("c.json", '{"a" 1}', "c.json:1: expected ':' after 'a', found '1'"),
        ("c.json", '{"a": 1}\n{}', "c.json:2: nothing may follow the object at the top"),
        ("c.json", '{"a": "\\ud800"}', "c.json:1: half of a surrogate pair in a text"),
        ("c.json", '{"a": ' + "[" * 200 + "]" * 200 + "}", "c.json:1: nested deeper than 100 levels"),
        ("c.json", '{"a": ' + "1" * 5000 + "}", "c.json:1: a number of more than 1000 digits"),
        ("c.yaml", "a: 1\nb: 2\na: 3\n", "c.yaml:3: a: the key stands twice, first on line 1"),
        ("c.yaml", "a:\n  - b: 1\n    b: 2\n", "c.yaml:3: a[0].b: the key stands twice, first on line 2"),
        ("c.yaml", "a: [1\nb: 2\n", "c.yaml:2: not YAML"),
        ("c.yaml", "a: b: c\n", "c.yaml:1: not YAML"),
        ("c.yaml", "a:\n\t- b\n", "c.yaml:2: not YAML"),
        ("c.yaml", "a: *b\n", "c.yaml:1: not YAML: found undefined alias"),
        ("c.yaml", "a: 1\n---\nb: 2\n", "c.yaml:2: not YAML"),
        ("c.yaml", "a: .nan\n", "c.yaml:1: a: .nan is not a number that a config may hold"),
        ("c.yaml", "a: -.inf\n", "c.yaml:1: a: -.inf is not a number that a config may hold"),
        ("c.yaml", "a: !!binary aGk=\n", "c.yaml:1: a: the tag !!binary is not of the core schema"),
        ("c.yaml", "a: !env HOME\n", "c.yaml:1: a: the tag !env is not of the core schema"),
        ("c.yaml", "a: !!set {x}\n", "c.yaml:1: a: the tag !!set is not of the core schema"),
        ("c.yaml", "a: !!int x\n", "c.yaml:1: a: 'x' does not fit its tag !!int"),
        ("c.yaml", "a: &a [*a]\n", "c.yaml:1: a[0]: an anchor that contains itself"),
        ("c.yaml", "a: 1\n? [x]\n: 2\n", "c.yaml:2: a key must be text"),
        ("c.yaml", "a: \x01\n", "c.yaml:1: not YAML: special characters are not allowed"),
        ("c.yaml", 'a: "\\uD800"\n', "c.yaml:1: a: half of a surrogate pair in a text"),
        ("c.yaml", "# nothing\n", "c.yaml: the file is empty"),
    ],
)
def test_one_clear_line_a_fault(name: str, text: str, message: str) -> None:
    found = refused(text, name)
    assert found.startswith(message)
    assert "\n" not in found


def test_aliases_cannot_explode() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 9)]
    assert "values (aliases count each time)" in refused("\n".join(lines), "c.yaml")


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("c.json", b"", "the file is empty"),
        ("c.yaml", b" \n", "the file is empty"),
        ("c.json", b"[1]", "the top level must be an object, not a list"),
        ("c.yaml", b"just text", "the top level must be an object, not text"),
        ("c.json", b'{"a":\n"\xff"}', "the file is not UTF-8"),
        ("c.json", '{"a": 1}'.encode("utf-16"), "the file is not UTF-8"),
    ],
)
def test_files_that_are_no_config(tmp_path: Path, name: str, raw: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(ConfigError) as caught:
        load_document(tmp_path / name)
    assert message in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


def test_absent_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="config file not found"):
        load_document(tmp_path / "no.json")
    with pytest.raises(ConfigError, match="is a folder"):
        load_document(tmp_path)


def test_a_byte_order_mark_and_any_suffix(tmp_path: Path) -> None:
    (tmp_path / "c.conf").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert load_document(tmp_path / "c.conf").data == {"a": 1}
    (tmp_path / "c.YML").write_text("a: no\n")
    assert load_document(tmp_path / "c.YML").data == {"a": "no"}
    assert math.isfinite(load_document(tmp_path / "c.conf").data["a"])
