"""``on_bad_rows: quarantine``: rows that cannot be read are put aside, with file, line, text and reason."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from ldp_core import registry
from ldp_core.errors import DriftError, LDPError, SourceError
from ldp_core.run.windowed import kept_sql
from ldp_core.sources import _rejects, csv_open
from ldp_core.spi import Extract, Keyed
from ldp_core.tables import quarantine

PACKED = gzip.compress(b"n,t\n1,a\n2\n3,c\n", mtime=0)

APART = {"on_bad_rows": "quarantine"}
NUMBERS = pa.schema([("n", pa.int64()), ("t", pa.string())])


@dataclass
class Apart:
    """What a run has of a source: good rows and those put aside."""

    rows: list[tuple[Any, ...]]
    rejects: list[dict[str, Any]]
    types: dict[str, str]
    extract: Extract

    @property
    def places(self) -> list[tuple[int | None, str]]:
        return [(row["_ldp_line"], row["_ldp_raw"]) for row in self.rejects]

    @property
    def reasons(self) -> list[str]:
        return [row["_ldp_reason"] for row in self.rejects]


def read(
    lab: Any, kind: str, wanted: pa.Schema | None = None, keyed: Keyed | None = None, **keys: Any
) -> Apart:
    ctx = replace(lab.ctx, keyed=keyed)
    spec = lab.spec(**{**APART, **keys})
    extract: Extract = registry.load("ldp.sources", kind).open(spec, ctx, wanted)
    for _ in range(8):
        try:
            sql = extract.sql
            if keyed is not None:
                sql = kept_sql(keyed, extract)
            rows = lab.con.sql(sql).fetchall()
            break
        except duckdb.Error as error:
            extract = extract.after(error)
    found = lab.con.sql(extract.rejects).to_arrow_table().to_pylist() if extract.rejects else []
    found.sort(key=lambda row: (row["_ldp_file"], row["_ldp_line"] or 0))
    return Apart(rows, found, {column.name: str(column.type) for column in extract.schema}, extract)


def csv(lab: Any, content: str | bytes, wanted: pa.Schema | None = None, **keys: Any) -> Apart:
    lab.write("t.csv", content)
    return read(lab, "CSV", wanted, path="t.csv", **keys)


def jsonl(lab: Any, content: str | bytes, wanted: pa.Schema | None = None, **keys: Any) -> Apart:
    lab.write("t.jsonl", content)
    return read(lab, "JSONL", wanted, path="t.jsonl", **keys)


def test_the_columns_have_the_types_of_the_quarantine_table() -> None:
    table = quarantine.schema()
    assert [table.field(name).type for name in _rejects.schema().names] == _rejects.schema().types


def test_nothing_is_put_aside_where_every_row_is_good(lab: Any) -> None:
    found = csv(lab, "n,t\n1,a\n2,b\n", NUMBERS)
    assert found.rows == [(1, "a"), (2, "b")]
    assert found.extract.rejects is None


def test_a_value_that_the_table_cannot_have_puts_its_row_aside(lab: Any) -> None:
    found = csv(lab, 'n,t\n1,a\nx,"two\nlines"\n\n3,c\n1.5,d\n', NUMBERS)
    assert found.rows == [(1, "a"), (3, "c")]
    assert found.rejects == [
        {
            "_ldp_file": "t.csv",
            "_ldp_line": 3,
            "_ldp_raw": 'x,"two\nlines"',
            "_ldp_rules": ["cast"],
            "_ldp_reason": "n 'x' is no long",
        },
        {
            "_ldp_file": "t.csv",
            "_ldp_line": 7,
            "_ldp_raw": "1.5,d",
            "_ldp_rules": ["cast"],
            "_ldp_reason": "n '1.5' is no long",
        },
    ]


def test_every_value_of_a_row_that_is_bad_is_told(lab: Any) -> None:
    wanted = pa.schema(
        [("n", pa.int64()), ("d", pa.decimal128(18, 2)), pa.field("k", pa.string(), nullable=False)]
    )
    found = csv(lab, "n,d,k\n1,1.50,a\nx,y,\n", wanted)
    assert found.rows == [(1, Decimal("1.50"), "a")]
    assert found.rejects[0]["_ldp_rules"] == ["cast", "not_null"]
    assert found.reasons == ["n 'x' is no long; d 'y' is no decimal(18,2); k has no value"]


def test_a_row_without_a_value_that_the_table_requires_is_put_aside(lab: Any) -> None:
    wanted = pa.schema([pa.field("n", pa.int64(), nullable=False), ("t", pa.string())])
    found = csv(lab, "n,t\n1,a\n,b\n", wanted)
    assert found.rows == [(1, "a")]
    assert (found.places, found.reasons) == ([(3, ",b")], ["n has no value"])


@pytest.mark.parametrize(
    ("content", "keys", "good", "places", "reason"),
    [
        ("n,t\n1,a\n2\n3,c\n", {}, [1, 3], [(3, "2")], "the row has 1 field where 2 are expected"),
        ("n,t\n1,a\n2,b,c\n3,c", {}, [1, 3], [(3, "2,b,c")], "the row has 3 fields where 2 are expected"),
        ("n,t\r\n1,a\r\n2\r\n3,c\r\n", {}, [1, 3], [(3, "2")], "the row has 1 field where 2 are expected"),
        ("n,t\r1,a\r2\r3,c\r", {}, [1, 3], [(3, "2")], "the row has 1 field where 2 are expected"),
        ('n,t\n1,a\n2,"b\n3,c\n', {}, [1, 3], [(3, '2,"b')], "a quote is not closed"),
        ('n,t\n1,a\n2,"b"c\n3,c\n', {}, [1, 3], [(3, '2,"b"c')], "text follows a closing quote"),
        ('n,t\n"1","\n"\n2,"b\n3,"c"\n', {}, [1, 3], [(4, '2,"b')], "a quote is not closed"),
        (b"n,t\n1,a\n2,\xff\n3,c\n", {}, [1, 3], [(3, "2,\\xff")], "is not UTF-8"),
        ("n,t\n1,a\n2,b\r\n3,c\n", {}, [1, 3], [(3, "2,b")], "its line end is not that of the first line"),
        ("n,t\n1,a\n2,b\r", {}, [1], [(3, "2,b")], "its line end is not that of the first line"),
        ("about\n\nn,t\n1,a\n2\n3,c\n", {"skip_rows": 2}, [1, 3], [(5, "2")], "1 field"),
        ("\ufeffn,t\n1,a\n2\n3,c\n", {}, [1, 3], [(3, "2")], "1 field"),
        ("1,a\n2\n3,c\n", {"header": False, "delimiter": ","}, [1, 3], [(2, "2")], "1 field"),
        ("n;t\n1;a\n2\n3;c\n", {"delimiter": ";"}, [1, 3], [(3, "2")], "1 field"),
        (
            "n\n1\n\n2,2\n3\n",
            {"delimiter": ","},
            [1, None, 3],
            [(4, "2,2")],
            "the row has 2 fields where 1 is",
        ),
        ('n,t\n1,"a\\""\n2,"b""\n3,c\n', {"escape": "\\"}, [1, 3], [(3, '2,"b""')], "a quote is not closed"),
        ("n,t\n1,é\n2\n3,c\n".encode("cp1252"), {"encoding": "cp1252"}, [1, 3], [(3, "2")], "1 field"),
        (PACKED, {"compression": "gzip"}, [1, 3], [(3, "2")], "1 field"),
    ],
)
def test_a_row_that_cannot_be_split_is_put_aside(
    lab: Any, content: str | bytes, keys: dict[str, Any], good: list[int], places: list[Any], reason: str
) -> None:
    found = csv(lab, content, **keys)
    assert [row[0] for row in found.rows] == good
    assert found.places == places
    assert reason in found.reasons[0]
    assert found.rejects[0]["_ldp_rules"] == ["parse"]


def test_a_header_in_another_encoding_is_an_error(lab: Any) -> None:
    with pytest.raises(SourceError, match=r"t\.csv:1: is not UTF-8"):
        csv(lab, "é,t\n1,a\n".encode("latin-1"))


def test_lines_are_those_of_the_file_when_rows_of_both_kinds_are_put_aside(lab: Any) -> None:
    found = csv(lab, 'n,t\n1\n2,"a\nb"\nx,c\n3,"d\n\ny,e\n4,f\n', NUMBERS)
    assert found.rows == [(2, "a\nb"), (4, "f")]
    assert found.places == [(2, "1"), (5, "x,c"), (6, '3,"d'), (8, "y,e")]


def test_files_are_told_apart_and_only_those_with_bad_rows_are_read_again(lab: Any) -> None:
    lab.write("a.csv", "n,t\n1,a\n")
    lab.write("b.csv", "t,n\nb,2\nc,x\nd\n")
    lab.write("c.csv.gz", gzip.compress(b"n,t\n3,e\n4\n"))
    found = read(lab, "CSV", NUMBERS, path="*.csv*", files={"union": "by_name"})
    assert found.rows == [(1, "a"), (2, "b"), (3, "e")]
    assert [(row["_ldp_file"], row["_ldp_line"]) for row in found.rejects] == [
        ("b.csv", 3),
        ("b.csv", 4),
        ("c.csv.gz", 3),
    ]


def test_few_odd_values_are_put_aside_on_the_first_load_and_the_column_keeps_its_type(lab: Any) -> None:
    found = csv(lab, "n\n" + "".join(f"{n}\n" for n in range(300)) + "x\n")
    assert found.types == {"n": "int64"}
    assert len(found.rows) == 300
    assert (found.places, found.reasons) == ([(302, "x")], ["n 'x' is no long"])
    assert lab.warnings == [
        "column n: 1 of 301 values are no long; the first is row 301 of t.csv: 'x'; their rows are put aside"
    ]


def test_a_sample_that_misleads_is_mended(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_open, "SMALL", 0)
    monkeypatch.setattr(csv_open, "sample_sql", lambda source, ctx: f"{source.text_sql()} LIMIT 2")
    body = "".join(f"{n},a\n" for n in range(300))
    found = csv(lab, f"n,t\n{body}x,b\n5\n")
    assert len(found.rows) == 300
    assert found.places == [(302, "x,b"), (303, "5")]


def test_many_odd_values_make_a_text_column_as_ever(lab: Any) -> None:
    found = csv(lab, "n\n1\n2\nx\n")
    assert found.types == {"n": "string"}
    assert (len(found.rows), found.rejects) == (3, [])


def test_odd_values_do_not_settle_what_is_day_and_what_is_month(lab: Any) -> None:
    days = "".join(f"0{1 + n % 9}/02/2026\n" for n in range(300))
    found = csv(lab, f"d\n{days}x\n")
    assert (found.types, found.rejects) == ({"d": "string"}, [])
    with pytest.raises(DriftError, match="days and months of its dates cannot be told apart"):
        csv(lab, f"d\n{days}x\n", pa.schema([("d", pa.date32())]))


def test_strict_makes_odd_values_of_a_first_load_an_error(lab: Any) -> None:
    lab.strict = True
    with pytest.raises(DriftError, match="1 of 301 values are no long"):
        csv(lab, "n\n" + "".join(f"{n}\n" for n in range(300)) + "x\n")


def test_allowed_losses_are_counted_over_the_rows_that_are_read(lab: Any) -> None:
    found = csv(lab, "n\n1\n1.5\nx\n", columns={"n": {"type": "long", "loss": "allow"}})
    assert [row[0] for row in found.rows] == [1, 2]
    assert [(loss.column, loss.changed) for loss in found.extract.losses()] == [("n", 1)]
    assert found.places == [(4, "x")]


def window(column: str = "d") -> Keyed:
    return Keyed(
        "p", start=datetime(2026, 1, 1, tzinfo=UTC), end=datetime(2026, 1, 2, tzinfo=UTC), column=column
    )


DAYS = pa.schema([("d", pa.date32()), ("n", pa.int64())])


def test_a_bad_row_of_another_window_is_not_of_this_run(lab: Any) -> None:
    lab.write("t.csv", "d,n\n2026-01-01,1\n2026-01-01,x\n2026-01-02,y\n,z\n")
    found = read(lab, "CSV", DAYS, window(), path="t.csv")
    assert found.rows == [(date(2026, 1, 1), 1)]
    assert found.places == [(3, "2026-01-01,x")]


@pytest.mark.parametrize("wanted", [DAYS, None])
def test_a_row_whose_window_cannot_be_read_stops_the_run(lab: Any, wanted: pa.Schema | None) -> None:
    good = "".join("2026-01-01,1\n" for _ in range(300))
    lab.write("t.csv", f"d,n\n{good}2026-13-01,2\n")
    with pytest.raises(DriftError, match=r"t\.csv:302: column d.*'2026-13-01'.*belongs to no window"):
        read(lab, "CSV", wanted, window(), path="t.csv")


def test_a_bad_row_whose_window_cannot_be_read_either_stops_the_run(lab: Any) -> None:
    lab.write("t.csv", "d,n\n2026-01-01,x\n2026-13-01,y\n")
    with pytest.raises(DriftError, match=r"t\.csv:3: column d.*'2026-13-01'.*belongs to no window"):
        read(lab, "CSV", DAYS, window(), path="t.csv")


def test_a_row_that_cannot_be_split_stops_a_run_for_a_window(lab: Any) -> None:
    lab.write("t.csv", "d,n\n2026-01-01,1\n5\n")
    with pytest.raises(SourceError, match=r"t\.csv:3: the row has 1 field"):
        read(lab, "CSV", DAYS, window(), path="t.csv")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"n": 2', "is not valid JSON"),
        ("2", "is not an object but "),
        ("[]", "is not an object but array"),
        ("null", "is not an object but null"),
        ('{"n": 2} x', "is not valid JSON"),
        ('{"n": 2, "n": 3}', "has a key twice"),
        ('{"n": "\\ud800"}', "is not valid JSON"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_line_that_holds_no_object_is_put_aside(lab: Any, broken: str, reason: str, first: bool) -> None:
    good = ['{"n": 1}', "", '{"n": 3}']
    lines = [broken, *good] if first else [*good, broken]
    found = jsonl(lab, "\n".join(lines))
    assert found.rows == [(1,), (3,)]
    assert found.places == [(1 if first else 4, broken)]
    assert found.reasons[0].startswith(reason)


def test_a_value_of_an_object_that_the_table_cannot_have_puts_it_aside(lab: Any) -> None:
    found = jsonl(lab, '{"n": 1, "t": "a"}\n{"n": "x",  "t": "b"}\n{"n": 1.5}\n', NUMBERS)
    assert found.rows == [(1, "a")]
    assert found.places == [(2, '{"n": "x",  "t": "b"}'), (3, '{"n": 1.5}')]
    assert found.reasons == ["n 'x' is no long", "n '1.5' is no long"]


def test_objects_over_several_lines_have_the_line_that_they_begin_at(lab: Any) -> None:
    content = '[\n{"n": 1,\n "t": "]"},\n{"n": "x",\n"t": "b"},\n{"n": 2}, {"n": "y"}]'
    found = jsonl(lab, content, NUMBERS)
    assert found.rows == [(1, "]"), (2, None)]
    assert found.places == [(4, '{"n": "x",\n"t": "b"}'), (6, '{"n": "y"}')]


def test_lines_and_objects_are_put_aside_together(lab: Any) -> None:
    found = jsonl(lab, '{"n": 1}\nx\n\n{"n": "y"}\n{"n": 2}\n{"n": 3}\nz', NUMBERS)
    assert [row[0] for row in found.rows] == [1, 2, 3]
    assert found.places == [(2, "x"), (4, '{"n": "y"}'), (7, "z")]


def test_an_array_that_breaks_off_is_an_error(lab: Any) -> None:
    with pytest.raises(SourceError, match="is not valid JSON"):
        jsonl(lab, '[{"n": 1},\n{"n": 2},\n{"n": \n')


def test_a_file_that_is_not_an_object_a_line_is_an_error(lab: Any) -> None:
    with pytest.raises(SourceError, match="is not valid JSON"):
        jsonl(lab, '{"n":\n1}\n{"n":\n2}\n{"n"\n')


def test_few_odd_kinds_of_values_are_put_aside(lab: Any) -> None:
    content = "".join(f'{{"n": {n}}}\n' for n in range(300)) + '{"n": "x"}\n'
    found = jsonl(lab, content)
    assert found.types == {"n": "int64"}
    assert found.places == [(301, '{"n": "x"}')]
    assert lab.warnings[0].endswith("'x'; their rows are put aside")


def test_by_default_a_bad_row_stops_the_load(lab: Any) -> None:
    for kind, name, content in (("CSV", "t.csv", "n,t\nx,a\n"), ("JSONL", "t.jsonl", '{"n": "x"}\n')):
        lab.write(name, content)
        with pytest.raises(LDPError, match="cannot be loaded as long"):
            lab.load(kind, NUMBERS, path=name)
