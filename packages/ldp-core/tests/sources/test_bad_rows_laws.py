"""Laws of ``on_bad_rows: quarantine``: the rows and those put aside are the file, each in its place."""

from __future__ import annotations

import re
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core import registry
from ldp_core.errors import SourceError
from ldp_core.spi import Extract

few = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

kinds = st.sampled_from(
    [
        *(pa.string(), pa.int64(), pa.int32(), pa.decimal128(6, 2), pa.float64(), pa.bool_()),
        *(pa.date32(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")),
    ]
)
values = st.sampled_from(
    [
        *("1", "x", "", "1.5", "2.25", "9999999999999", "true", "2026-01-01", "2026-02-30", "nan", "é"),
        *("2026-01-01 10:00", "2026-01-01T10:00:00Z", '""', '"a,b"', '"a\nb"', '"1"', '"q""q"', ' "1" '),
    ]
)
junk = st.text(st.sampled_from('a1,"\n '), max_size=6)
lines = st.one_of(st.lists(values, min_size=2, max_size=2).map(",".join), junk)
nullable = st.booleans()


def read(lab: Any, kind: str, path: str, wanted: pa.Schema | None, **keys: Any) -> tuple[list[Any], Extract]:
    extract: Extract = registry.load("ldp.sources", kind).open(lab.spec(path=path, **keys), lab.ctx, wanted)
    for _ in range(12):
        try:
            return lab.con.sql(extract.sql).fetchall(), extract
        except duckdb.Error as error:
            extract = extract.after(error)
    raise AssertionError("no types hold")


def aside(lab: Any, extract: Extract) -> list[tuple[int, str, str]]:
    if extract.rejects is None:
        return []
    found = lab.con.sql(extract.rejects).fetchall()
    return sorted((line, raw, reason) for _, line, raw, _, reason in found)


def holds(lab: Any, content: str, wanted: pa.Schema, end: str) -> None:
    lab.write("t.csv", content)
    keys = {"delimiter": ",", "on_bad_rows": "quarantine"}
    rows, extract = read(lab, "CSV", "t.csv", wanted, **keys)
    rejects = aside(lab, extract)
    parts = content.split(end)
    for line, raw, _ in reversed(rejects):
        count = raw.count(end) + 1
        assert end.join(parts[line - 1 : line - 1 + count]).rstrip("\r\n") == raw.rstrip("\r\n")
        del parts[line - 1 : line - 1 + count]
    lab.write("good.csv", end.join(parts))
    assert repr(
        read(
            lab,
            "CSV",
            "good.csv",
            wanted,
            **keys,
        )[0]
    ) == repr(rows)
    assert read(lab, "CSV", "good.csv", wanted, **keys)[1].rejects is None
    for _, raw, reason in rejects:
        if "line end" not in reason and "\r" not in raw.replace(end, ""):
            lab.write("bad.csv", f"a,b{end}{raw}")
            assert [item[1] for item in aside(lab, read(lab, "CSV", "bad.csv", wanted, **keys)[1])] == [raw]


@few
@given(st.lists(lines, max_size=8), kinds, kinds, nullable, nullable, st.sampled_from(["\n", "\r\n", "\r"]))
def test_csv(lab: Any, body: list[str], a: Any, b: Any, no_a: bool, no_b: bool, end: str) -> None:
    content = end.join(["a,b", *(line.replace("\n", end) for line in body)])
    holds(lab, content, pa.schema([pa.field("a", a, no_a), pa.field("b", b, no_b)]), end)


@few
@given(st.lists(lines, min_size=1, max_size=8), st.data())
def test_csv_with_line_ends_of_more_than_one_kind(lab: Any, body: list[str], data: Any) -> None:
    ends = data.draw(st.lists(st.sampled_from(["\n", "\n", "\r\n", "\r"]), min_size=8, max_size=8))
    content = "a,b\n" + "".join(line + end for line, end in zip(body, ends, strict=False))
    try:
        holds(lab, content, pa.schema([("a", pa.int64()), ("b", pa.string())]), "\n")
    except SourceError as error:  # right after the header the engine takes another line end now and then
        if "found again" not in error.message:
            raise


objects = st.sampled_from(
    [
        *('{"a": 1, "b": "x"}', '{"a": "x"}', '{"b":2.5}', '{"a": 2, "b": true}', "{}", '{"a": null}'),
        *('{"a": 1', "x", "[1]", "null", '{"a": 1, "a": 2}', '{"a": 1} {"a": 2}', "", "  ", '"s"', "5"),
    ]
)


@few
@given(st.lists(objects, max_size=8), kinds, kinds, nullable, nullable)
def test_jsonl(lab: Any, body: list[str], a: Any, b: Any, no_a: bool, no_b: bool) -> None:
    wanted = pa.schema([pa.field("a", a, no_a), pa.field("b", b, no_b)])
    every = ['{"a": null, "b": null}', *body]
    lab.write("t.jsonl", "\n".join(every))
    try:
        rows, extract = read(lab, "JSONL", "t.jsonl", wanted, on_bad_rows="quarantine")
    except SourceError as error:
        if not re.search("is not valid JSON|not an object|has a key twice", error.message):
            raise
        return  # more lines are broken than not
    rejects = aside(lab, extract)
    for line, raw, _ in rejects:
        assert every[line - 1].strip() == raw
    gone = {line for line, _, _ in rejects}
    left = [line for at, line in enumerate(every, 1) if at not in gone and line.strip()]
    assert len(left) == len(rows)
    if not left:
        return
    lab.write("good.jsonl", "\n".join(left))
    again, good = read(lab, "JSONL", "good.jsonl", wanted)
    same = [extract.schema.names.index(name) for name in good.schema.names]
    assert repr(again) == repr([tuple(row[at] for at in same) for row in rows])


@pytest.mark.parametrize("seed", range(3))
def test_many_rows_are_put_aside_in_their_places(lab: Any, seed: int) -> None:
    rows = [f"{n},{'x' if n % (7 + seed) == 0 else n}" for n in range(20_000)]
    rows[500 + seed :: 997] = [f'{n},"broken' for n in range(len(rows[500 + seed :: 997]))]
    lab.write("t.csv", "a,b\n" + "\n".join(rows))
    wanted = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    good, extract = read(lab, "CSV", "t.csv", wanted, on_bad_rows="quarantine")
    rejects = aside(lab, extract)
    assert len(good) + len(rejects) == len(rows)
    assert all(rows[line - 2] == raw for line, raw, _ in rejects)
