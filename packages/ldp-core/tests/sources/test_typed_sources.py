"""Sources that know their types: Parquet, DuckDB, Iceberg, BigQuery; and JSON and Excel beside them."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.errors import (
    ConfigError,
    DriftError,
    LDPError,
    NoData,
    SourceError,
    SourceNotFound,
    TableNotFound,
)
from ldp_core.sources import bigquery


def parquet(path: Path, columns: dict[str, Any], **options: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)


def test_parquet_types_and_rows_come_from_the_footers(lab: Any) -> None:
    parquet(
        lab.folder / "a.parquet",
        {
            "ns": pa.array([1, None], pa.timestamp("ns")),
            "u": pa.array([2**64 - 1, 0], pa.uint64()),
            "d": pa.array(["x", "y"]).dictionary_encode(),
            "f": pa.array([b"abcd", None], pa.binary(4)),
            "s": [{"k": 1}, None],
        },
    )
    loaded = lab.load("PARQUET", path="a.parquet")
    assert loaded.types["ns"] == "timestamp[ns]"
    assert loaded.types["u"] == "uint64"
    assert loaded.types["d"].startswith("dictionary")
    assert loaded.types["f"] == "fixed_size_binary[4]"
    assert loaded.extract.rows == 2
    assert not loaded.extract.follows_values


def test_old_spark_timestamps_keep_their_nanoseconds(lab: Any) -> None:
    parquet(
        lab.folder / "a.parquet",
        {"t": pa.array([1001], pa.timestamp("ns"))},
        use_deprecated_int96_timestamps=True,
    )
    extract = lab.open("PARQUET", path="a.parquet")
    assert lab.con.sql(f"SELECT epoch_ns(t) FROM ({extract.sql})").fetchall() == [(1001,)]


def test_parquet_files_must_agree_unless_put_together_by_name(lab: Any) -> None:
    parquet(lab.folder / "d/a.parquet", {"a": [1]})
    parquet(lab.folder / "d/b.parquet", {"a": [2], "b": ["x"]})
    with pytest.raises(SourceError, match=r"d/b\.parquet: does not have the same columns as .*: 'b'"):
        lab.load("PARQUET", path="d")
    assert lab.load("PARQUET", path="d", files={"union": "by_name"}).rows == [(1, None), (2, "x")]
    parquet(lab.folder / "d/c.parquet", {"a": ["text"]})
    with pytest.raises(SourceError, match=r"d/c\.parquet: column 'a' is string here and int64 in"):
        lab.load("PARQUET", path="d", files={"union": "by_name"})


def test_parquet_texts_are_one_type_however_they_were_kept(lab: Any) -> None:
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()]
    for at, kind in enumerate(kinds):
        parquet(lab.folder / f"d/{at}.parquet", {"a": pa.array([f"v{at}"]).cast(kind)})
    loaded = lab.load("PARQUET", path="d")
    assert loaded.types == {"a": "string"}
    assert loaded.rows == [("v0",), ("v1",), ("v2",), ("v3",)]


def test_a_broken_parquet_file_is_one_line(lab: Any) -> None:
    lab.write("a.parquet", "no")
    with pytest.raises(SourceError, match=r"a\.parquet: is no Parquet file") as caught:
        lab.load("PARQUET", path="a.parquet")
    assert "\n" not in str(caught.value)


def test_parquet_names_that_differ_only_in_case(lab: Any) -> None:
    parquet(lab.folder / "a.parquet", {"a": [1], "A": [2]})
    with pytest.raises(SourceError, match="'a' and 'A', which differ only in case"):
        lab.load("PARQUET", path="a.parquet")


@pytest.fixture
def database(lab: Any) -> str:
    with duckdb.connect(str(lab.folder / "d.duckdb")) as con:
        con.execute(
            "CREATE TABLE rides AS SELECT 1 AS a, 5::HUGEINT AS h; "
            "CREATE VIEW v AS SELECT a + 1 AS c FROM rides; "
            'CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 7 AS q; CREATE TABLE "we.ird" AS SELECT 2 AS z'
        )
    return "d.duckdb"


@pytest.mark.parametrize(
    ("what", "rows"),
    [
        ({"relation": "rides"}, [(1, Decimal(5))]),
        ({"relation": "main.rides"}, [(1, Decimal(5))]),
        ({"relation": "v"}, [(2,)]),
        ({"relation": "s.t"}, [(7,)]),
        ({"relation": "we.ird"}, [(2,)]),
        ({"sql": "WITH x AS (SELECT * FROM rides) SELECT a FROM x;"}, [(1,)]),
    ],
)
def test_a_relation_or_one_select_of_a_database(
    lab: Any, database: str, what: dict[str, str], rows: Any
) -> None:
    loaded = lab.load("DUCKDB", path=database, **what)
    assert loaded.rows == rows
    assert loaded.extract.rows == len(rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; SELECT 2",
        "COPY rides TO 'x.csv'",
        "WITH x AS (COPY rides TO 'x.csv') SELECT 1",
        "SELECT * FROM read_csv('t.csv')",
        "SELECT * FROM 't.csv'",
        "DROP TABLE rides",
        "SELECT nope FROM rides",
    ],
)
def test_only_one_select_over_the_database_runs(lab: Any, database: str, sql: str) -> None:
    lab.write("t.csv", "a\n1\n")
    with pytest.raises(ConfigError, match=r"metadata\.source\.sql") as caught:
        lab.load("DUCKDB", path=database, sql=sql)
    assert "\n" not in str(caught.value)
    assert not (lab.folder / "x.csv").exists()


def test_an_absent_relation_lists_those_that_are_there(lab: Any, database: str) -> None:
    with pytest.raises(SourceError, match=r"has no table or view 'nope'; it has rides, s\.t, v"):
        lab.load("DUCKDB", path=database, relation="nope")
    with pytest.raises(SourceNotFound):
        lab.load("DUCKDB", path="no.duckdb", relation="nope")
    lab.write("not.duckdb", "no database" * 1000)
    with pytest.raises(SourceError, match="is no DuckDB database"):
        lab.load("DUCKDB", path="not.duckdb", relation="nope")


def test_types_of_a_database_stay_what_they_are(lab: Any) -> None:
    with duckdb.connect(str(lab.folder / "d.duckdb")) as con:
        con.execute(
            "CREATE TABLE t AS SELECT '6f1ed002-ab5b-4d0b-8fd3-0f6a1c9d0d2e'::UUID AS u, [uuid()] AS l, "
            "'01:02:03+02'::TIMETZ AS z, '101'::BIT AS b, '{}'::JSON AS j, TIMESTAMP_NS '2026-01-01' AS n; "
            "CREATE TABLE i AS SELECT 1 AS a, INTERVAL 1 DAY AS span"
        )
    loaded = lab.load("DUCKDB", path="d.duckdb", relation="t")
    assert loaded.types == {
        "u": "extension<arrow.uuid>",
        "l": "list<l: extension<arrow.uuid>>",
        "z": "string",
        "b": "string",
        "j": "string",
        "n": "timestamp[ns]",
    }
    assert loaded.rows[0][2:4] == ("01:02:03+02", "101")
    for _ in range(2):
        with pytest.raises(SourceError, match="column span has a type that cannot be loaded"):
            lab.load("DUCKDB", path="d.duckdb", relation="i")


def json_rows(lab: Any, content: str, **keys: Any) -> Any:
    lab.write("t.json", content)
    return lab.load("JSONL", path="t.json", **keys)


def test_json_lines_and_arrays_are_typed_by_all_their_values(lab: Any) -> None:
    loaded = json_rows(
        lab,
        '{"i": 1, "big": 12345678901234567890, "s": "02116", "d": "2026-08-01", '
        '"t": "2026-08-01T10:00:00Z"}\n'
        '{"i": 2.5, "big": 1, "s": "x", "d": null, "late": true}\n',
    )
    assert loaded.types == {
        "i": "double",
        "big": "decimal128(38, 0)",
        "s": "string",
        "d": "date32[day]",
        "t": "timestamp[us, tz=UTC]",
        "late": "bool",
    }
    assert loaded.rows[0][:4] == (1.0, Decimal("12345678901234567890"), "02116", date(2026, 8, 1))
    assert json_rows(lab, '[{"a": 1}, {"a": 2, "b": "x"}]').rows == [(1, None), (2, "x")]


def test_nested_json_keeps_its_structure(lab: Any) -> None:
    loaded = json_rows(lab, '{"n": {"a": 1, "l": [1.5]}}\n{"n": {"a": 2, "x": {"y": "z"}}}\n')
    assert loaded.rows == [
        ({"a": 1, "l": [1.5], "x": None},),
        ({"a": 2, "l": None, "x": {"y": "z"}},),
    ]
    assert loaded.types["n"].startswith("struct<a: int64, l: list<")


def test_nested_numbers_that_would_lose_digits_stay_text(lab: Any) -> None:
    loaded = json_rows(lab, '{"n": {"z": 123456789012345678901234567890}}\n')
    assert loaded.rows == [('{"z":123456789012345678901234567890}',)]
    assert "more than 18 digits" in loaded.warnings[0]


def test_mixed_json_is_text_with_a_warning_and_an_error_with_strict(lab: Any) -> None:
    loaded = json_rows(lab, '{"e": 1}\n{"e": "s"}\n')
    assert loaded.rows == [("1",), ("s",)]
    assert loaded.warnings == ["column e holds numbers and strings; loaded as text"]
    lab.strict = True
    with pytest.raises(DriftError, match="column e holds numbers and strings"):
        json_rows(lab, '{"e": 1}\n{"e": "s"}\n')


def test_json_is_cast_to_the_table_or_drifts(lab: Any) -> None:
    table = pa.schema([("a", pa.int64())])
    assert json_rows(lab, '{"a": 1}\n', wanted=table).rows == [(1,)]
    with pytest.raises(DriftError, match=r"t\.json: column a, row 2: '1.5'"):
        json_rows(lab, '{"a": 1}\n{"a": 1.5}\n', wanted=table)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}\n", "t.json: holds no object"),
        ('{"a": 1}\n{"a":}\n{"a": 2}\n', "t.json:2: is not valid JSON"),
        ('[{"a": 1},\n{"a":}]', "t.json: record 2 is not valid JSON"),
        ('{"a": 1}\n[1]\n', "t.json: record 2 is an array, not an object"),
        ('{"a": 1, "a": 2}\n', "t.json: record 1 has a key twice"),
        ('{"a": 1, "A": 2}\n', "t.json: keys 'a' and 'A' differ only in case"),
        ('{"": 1}\n', "t.json: an object has an empty key"),
    ],
)
def test_broken_json_is_one_clear_line(lab: Any, content: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        json_rows(lab, content)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("content", ["", " \n", "[]"])
def test_json_without_a_row_has_the_columns_that_it_is_told(lab: Any, content: str) -> None:
    with pytest.raises(NoData, match=r"there is no row in t\.json"):
        json_rows(lab, content)
    assert json_rows(lab, content, wanted=pa.schema([("a", pa.int64())])).rows == []


def test_any_json_key_is_a_column(lab: Any) -> None:
    assert json_rows(lab, '{"x y\\"z/~": 1, "select": 2, "$.a[0]": 3}\n').rows == [(1, 2, 3)]


def test_compressed_json(lab: Any) -> None:
    lab.write("t.jsonl.gz", gzip.compress(b'{"a": 1}\n'))
    assert lab.load("JSONL", path="t.jsonl.gz").rows == [(1,)]


class Result:
    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def result(self) -> Result:
        return self

    def to_arrow(self) -> pa.Table:
        return self.table

    def to_arrow_iterable(self) -> Any:
        return iter(self.table.to_batches(max_chunksize=2))


class Client:
    """Answers like BigQuery's client, and counts."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.queries: list[str] = []

    def query(self, sql: str) -> Result:
        self.queries.append(sql)
        return Result(self.table)


def test_a_bigquery_query_runs_exactly_once(lab: Any) -> None:
    client = Client(pa.table({"a": [1, 2, 3]}))
    lab.write("q.json", json.dumps({"query": "SELECT 1"}))
    extract = bigquery.source(client).open(lab.spec(path="q.json"), lab.ctx, None)
    assert [lab.con.sql(extract.sql).fetchall() for _ in range(2)] == [[(1,), (2,), (3,)]] * 2
    assert client.queries == ["SELECT 1"]
    assert extract.rows == 3


def test_bigquery_in_python(lab: Any) -> None:
    client = Client(pa.table({"a": [1]}))
    store = bigquery.BigQuery("q", {"name": "n", "path": "secret.json"}, client=client)
    assert store.get("SELECT 2").num_rows == 1
    assert client.queries == ["SELECT 2"]
    assert "secret" not in repr(store)
    lab.write("q.json", "[]")
    with pytest.raises(ConfigError, match="must hold"):
        bigquery.read_query(lab.folder / "q.json")
    with pytest.raises(SourceNotFound):
        bigquery.read_query(lab.folder / "no.json")


def test_an_absent_table_is_named_with_its_warehouse(lab: Any) -> None:
    catalog = {"type": "local", "identifier": "nyc", "warehouse_path": "wh"}
    with pytest.raises(TableNotFound, match=r"Iceberg table nyc\.rides does not exist in .*wh$"):
        lab.open("ICEBERG", **{"name": "rides", "catalog": catalog})
    assert not (lab.folder / "wh").exists()


def book(lab: Any, sheets: dict[str, list[list[Any]]]) -> None:
    """A minimal workbook, written as the format's zip of XML (ECMA-376) with inline strings."""
    import zipfile
    from xml.sax.saxutils import escape

    def cell(value: Any) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, datetime):
            return f'<c s="1"><v>{(value - datetime(1899, 12, 30)).total_seconds() / 86400!r}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value!r}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    names = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="r{at}" Type="{rel}/worksheet" Target="worksheets/s{at}.xml"/>'
        for at, _ in enumerate(sheets, 1)
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="w" Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{links}'
        f'<Relationship Id="st" Type="{rel}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/>'
        '<xf numFmtId="22"/></cellXfs></styleSheet>',
    }
    for at, rows in enumerate(sheets.values(), 1):
        body = "".join(f"<row>{''.join(cell(value) for value in row)}</row>" for row in rows)
        parts[f"xl/worksheets/s{at}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(lab.folder / "b.xlsx", "w") as out:
        for name, content in parts.items():
            out.writestr(name, content)


def test_a_sheet_is_typed_like_text(lab: Any) -> None:
    header = ["id", "zip", "fare", "at", "ok", "none"]
    book(
        lab,
        {
            "First": [
                ["a title"],
                header,
                [1, "02116", 1.5, datetime(2026, 8, 1, 10), True, None],
                [2, "10001", 2, datetime(2026, 8, 2), False, None],
            ],
            "Second": [["q"], ["x"]],
        },
    )
    loaded = lab.load("XLSX", path="b.xlsx", header_row=2)
    assert loaded.types == {
        "id": "int64",
        "zip": "string",
        "fare": "double",
        "at": "timestamp[us]",
        "ok": "bool",
        "none": "string",
    }
    assert loaded.rows[0] == (1, "02116", 1.5, datetime(2026, 8, 1, 10), True, None)
    assert lab.load("XLSX", path="b.xlsx", sheet="Second").rows == [("x",)]
    assert lab.load("XLSX", path="b.xlsx", sheet=1).rows == [("x",)]
    with pytest.raises(SourceError, match=r"b\.xlsx: has no sheet 'Third'; it has First, Second"):
        lab.load("XLSX", path="b.xlsx", sheet="Third")
    with pytest.raises(SourceError, match="has no sheet 5"):
        lab.load("XLSX", path="b.xlsx", sheet=5)
    with pytest.raises(SourceError, match="row 9 of the sheet holds no names"):
        lab.load("XLSX", path="b.xlsx", header_row=9)


def test_a_broken_workbook_is_one_line(lab: Any) -> None:
    lab.write("b.xlsx", "no")
    with pytest.raises(LDPError, match=r"b\.xlsx: is no workbook"):
        lab.load("XLSX", path="b.xlsx")
