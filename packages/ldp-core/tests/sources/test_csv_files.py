"""CSV files as they come: each loads right or gives one clear line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.errors import LDPError, SourceError, SourceNotFound


@pytest.mark.parametrize(
    ("content", "keys", "names", "rows"),
    [
        ("a,b\n", {}, ["a", "b"], []),
        ("a,b", {}, ["a", "b"], []),
        ("\ufeffa,b\n1,2\n", {}, ["a", "b"], [(1, 2)]),
        ("a,b\r\n1,x\r\n", {}, ["a", "b"], [(1, "x")]),
        ("a,b\r1,x\r", {}, ["a", "b"], [(1, "x")]),
        ('a,b\n1,"x\ny"\n', {}, ["a", "b"], [(1, "x\ny")]),
        ('a,"b\nc"\n1,2\n', {}, ["a", "b\nc"], [(1, 2)]),
        ("a,b\n1,2\n\n\n", {}, ["a", "b"], [(1, 2)]),
        ("a,b\n1,2", {}, ["a", "b"], [(1, 2)]),
        ("a;b\n1;x, y\n", {}, ["a", "b"], [(1, "x, y")]),
        ("a\tb\n1\t2\n", {}, ["a", "b"], [(1, 2)]),
        ("a|b\n1|2\n", {}, ["a", "b"], [(1, 2)]),
        ("a#b\n1#2\n", {"delimiter": "#"}, ["a", "b"], [(1, 2)]),
        ("a\tb\n1\t2\n", {"delimiter": "\\t"}, ["a", "b"], [(1, 2)]),
        ("a\n1\n2\n", {}, ["a"], [(1,), (2,)]),
        ("1,2\n3,4\n", {"header": False}, ["column0", "column1"], [(1, 2), (3, 4)]),
        ("report of May\n\na,b\n1,2\n", {"skip_rows": 2}, ["a", "b"], [(1, 2)]),
        ("a,b\n1,'x,y'\n", {"quote": "'"}, ["a", "b"], [(1, "x,y")]),
        ('a,b\n1,"x \\" y"\n', {"escape": "\\"}, ["a", "b"], [(1, 'x " y')]),
        ('a,b\n1,"x "" y"\n', {}, ["a", "b"], [(1, 'x " y')]),
        ('a,b\n1,x"y\n', {"quote": ""}, ["a", "b"], [(1, 'x"y')]),
        ("a,b\n1,é\n".encode("cp1252"), {"encoding": "cp1252"}, ["a", "b"], [(1, "é")]),
        ("a,b\n1,é\n".encode("utf-16"), {"encoding": "utf-16"}, ["a", "b"], [(1, "é")]),
        ("select,__row\n1,2\n", {}, ["select", "__row"], [(1, 2)]),
        (
            '"a ""b"" \'c\'","é; DROP TABLE x"\n1,2\n',
            {"delimiter": ","},
            ["a \"b\" 'c'", "é; DROP TABLE x"],
            [(1, 2)],
        ),
        ("a," + "b" * 70_000 + "\n1,2\n", {}, ["a", "b" * 70_000], [(1, 2)]),
        ("a,b\n1," + "x" * 3_000_000 + "\n", {}, ["a", "b"], [(1, "x" * 3_000_000)]),
    ],
)
def test_a_file_loads_right(
    lab: Any, content: str | bytes, keys: dict[str, Any], names: list[str], rows: list[Any]
) -> None:
    loaded = lab.csv(content, **keys)
    assert list(loaded.types) == names
    assert loaded.rows == rows


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        ("", {}, "t.csv: the file is empty"),
        ("\ufeff", {}, "t.csv: the file is empty"),
        ("\n\n", {}, "t.csv: the file is empty"),
        ("a,b\n1,2\n3\n", {}, "t.csv:3: the row has 1 field where 2 are expected: 3"),
        ("a,b\n1,2\n3,4,5\n", {}, "t.csv:3: the row has 3 fields where 2 are expected: 3,4,5"),
        ("a,a\n1,2\n", {}, "t.csv: the header has column 'a' twice"),
        ("a,A\n1,2\n", {}, "t.csv: the header has columns 'a' and 'A', which differ only in case"),
        (b"a,b\n1,\xff\n", {}, "t.csv:2: is not UTF-8; set encoding"),
        ('a,b\n1,"x\n2,y\n', {}, "t.csv:2: a quote is not closed"),
        ('a,b\n1,"x"y\n', {}, "t.csv:2: a quote is not closed, or text follows a closing quote"),
        ("a,b\n1,2\r\n3,4\n", {}, "t.csv: line ends are mixed"),
        (
            "a,b\n1,é\n".encode("utf-16")[:-1],
            {"encoding": "utf-16"},
            "t.csv:2: is not UTF-16",
        ),
    ],
)
def test_a_broken_file_gives_one_clear_line(
    lab: Any, content: str | bytes, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(SourceError) as caught:
        lab.csv(content, **keys)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_late_broken_row_is_found_with_its_line(lab: Any) -> None:
    with pytest.raises(SourceError, match=r"t\.csv:30002: the row has 1 field"):
        lab.csv("a,b\n" + "1,2\n" * 30_000 + "3\n" + "1,2\n" * 30_000)


def test_late_invalid_bytes_are_found(lab: Any) -> None:
    with pytest.raises(SourceError, match=r"t\.csv:30002: is not UTF-8"):
        lab.csv(b"a,b\n" + b"1,2\n" * 30_000 + b"3,\xff\n" + b"1,2\n" * 30_000)


def test_an_unnamed_column_is_named_by_its_place(lab: Any) -> None:
    loaded = lab.csv(",b\n1,2\n")
    assert list(loaded.types) == ["column0", "b"]
    assert "field 1 of the header has no name" in loaded.warnings[0]


def test_quoted_emptiness_is_the_empty_text_and_an_empty_field_is_null(lab: Any) -> None:
    assert lab.csv('a,b\n1,""\n2,\n').rows == [(1, ""), (2, None)]


def test_a_header_only_file_takes_the_types_of_the_table(lab: Any) -> None:
    assert lab.csv("a\n", pa.schema([("a", pa.int32())])).types == {"a": "int32"}


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "pack", "keys"),
    [
        ("t.csv.gz", gzip.compress, {}),
        ("t.csv.zst", zstd, {}),
        ("t.dat", gzip.compress, {"compression": "gzip"}),
        ("t.dat", zstd, {"compression": "zstd"}),
        ("t.gz", bytes, {"compression": "none"}),
    ],
)
def test_compressed_files(lab: Any, name: str, pack: Callable[[bytes], bytes], keys: dict[str, Any]) -> None:
    body = b"a,b\n" + b"1,x\n" * 100_000
    lab.write(name, pack(body))
    loaded = lab.load("CSV", path=name, **keys)
    assert loaded.types == {"a": "int64", "b": "string"}
    assert len(loaded.rows) == 100_000


def test_a_cut_archive_is_one_clear_line(lab: Any) -> None:
    lab.write("t.csv.gz", gzip.compress(b"a,b\n" + b"1,x\n" * 100_000)[:300])
    with pytest.raises(LDPError) as caught:
        lab.load("CSV", path="t.csv.gz")
    assert "t.csv.gz" in str(caught.value)


def test_a_folder_is_read_in_the_order_of_names_without_hidden_files(lab: Any) -> None:
    lab.write("d/b.csv", "a\n2\n")
    lab.write("d/a.csv", "a\n1\n")
    lab.write("d/_SUCCESS", "")
    lab.write("d/.hidden.csv", "x,y\n1,2\n")
    assert lab.load("CSV", path="d").rows == [(1,), (2,)]
    assert lab.load("CSV", path="d/*.csv").rows == [(1,), (2,)]


def test_a_name_with_characters_of_a_glob_is_that_file(lab: Any) -> None:
    lab.write("a[1]*.csv", "a\n1\n")
    lab.write("a1x.csv", "a\n2\n")
    assert lab.load("CSV", path="a[1]*.csv").rows == [(1,)]


def test_files_with_other_columns_are_named(lab: Any) -> None:
    lab.write("d/a.csv", "a,b\n1,2\n")
    lab.write("d/b.csv", "b,c\n3,4\n")
    with pytest.raises(
        SourceError, match=r"d/b\.csv: lacks column 'a' and has column 'c' more than d/a\.csv"
    ):
        lab.load("CSV", path="d")
    loaded = lab.load("CSV", path="d", files={"union": "by_name"})
    assert list(loaded.types) == ["a", "b", "c"]
    assert loaded.rows == [(1, 2, None), (None, 3, 4)]


@pytest.mark.parametrize(
    ("path", "message"), [("nope.csv", "CSV file not found"), ("d", "CSV folder has no files")]
)
def test_an_absent_source_is_an_os_error_too(lab: Any, path: str, message: str) -> None:
    (lab.folder / "d").mkdir()
    with pytest.raises(SourceNotFound, match=message) as caught:
        lab.load("CSV", path=path)
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.retriable


def test_every_problem_of_a_spec_is_told(lab: Any) -> None:
    from ldp_core.sources.csv import SOURCE

    spec = lab.spec(
        path="t.csv",
        delimiter=";;",
        quote="''",
        encoding="klingon",
        columns={"a": "money"},
    )
    assert sorted(problem.key for problem in SOURCE.problems(spec)) == [
        "columns.a",
        "delimiter",
        "encoding",
        "quote",
    ]


def test_the_order_of_the_input_is_kept(lab: Any) -> None:
    loaded = lab.csv("n,t\n" + "".join(f"{n},x\n" for n in range(50_000)))
    assert [row[0] for row in loaded.rows] == list(range(50_000))


def test_blank_lines_of_one_column_are_rows_and_at_the_end_they_are_told_of(lab: Any) -> None:
    loaded = lab.csv("a\n1\n\n2\n\n\n")
    assert loaded.rows == [(1,), (None,), (2,), (None,), (None,)]
    assert loaded.warnings == [
        "t.csv: 2 blank lines at its end read as rows without a value, because it has one column"
    ]
    lab.warnings.clear()
    assert lab.csv("a\r\n1\r\n").warnings == []
    assert lab.csv("a\n1").warnings == []


@pytest.mark.parametrize("blank", ["\n", "\n\n", "\r\n\r\n", "\ufeff\n"])
def test_blank_lines_before_the_header_are_passed_over(lab: Any, blank: str) -> None:
    end = "\r\n" if "\r" in blank else "\n"
    loaded = lab.csv(f"{blank}a,b{end}1,2{end}")
    assert (loaded.types, loaded.rows) == ({"a": "int64", "b": "int64"}, [(1, 2)])
    skipped = lab.csv(f"# a line{end}{blank.removeprefix(chr(0xFEFF))}a,b{end}1,2{end}", skip_rows=1)
    assert skipped.rows == [(1, 2)]


def test_files_that_are_no_text_say_what_they_are(lab: Any) -> None:
    import gzip

    with pytest.raises(SourceError, match="is compressed with gzip, not text; set compression: gzip"):
        lab.csv(gzip.compress(b"a,b\n1,2\n"))
    assert lab.csv(gzip.compress(b"a,b\n1,2\n"), compression="gzip").rows == [(1, 2)]
    with pytest.raises(SourceError, match="is a zip archive or a workbook, not text"):
        lab.csv(b"PK\x03\x04...")
    assert lab.csv(b"PK,b\n1,2\n").types == {"PK": "int64", "b": "int64"}


def test_lines_before_the_header_point_to_skip_rows(lab: Any) -> None:
    with pytest.raises(SourceError, match="2 fields where 1 is expected: a,b; set skip_rows"):
        lab.csv("# a report\na,b\n1,2\n")
