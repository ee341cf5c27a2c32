"""DuckDB over rows in memory and over files is held to what every executor is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import ldp_core
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core import registry
from ldp_core.errors import ConfigError
from ldp_quality import FileTable, NotNull, PostgresTable, SchemaHas, Unique, run_checks
from ldp_quality.testing.conformance import Conformance
from ldp_quality.testing.oracle import Oracle


@contextmanager
def in_parquet(table: pa.Table) -> Iterator[FileTable]:
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, Path(folder) / "rows.parquet", row_group_size=3)
        yield FileTable("rows.parquet", base_dir=folder)


class TestMemory(Oracle, Conformance):
    def holding(self, table: pa.Table) -> AbstractContextManager[Any]:
        return nullcontext(table)


class TestParquet(Conformance):
    def holding(self, table: pa.Table) -> AbstractContextManager[Any]:
        return in_parquet(table)


ROWS = pa.table({"id": pa.array([3, 1, 1], pa.int64()), "note": ["a", "b, c", None]})


def test_files_and_tables_are_checked_where_they_lie(tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text('id,note\n3,a\n1,"b, c"\n1,\n', encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"id": 3, "note": "a"}\n{"id": 1}\n{"id": 1}\n', encoding="utf-8")
    catalog = {"identifier": "nyc", "warehouse_path": str(tmp_path / "warehouse")}
    iceberg = ldp_core.Iceberg("rows", catalog, base_dir=tmp_path)
    iceberg.put(ROWS)
    places = [
        FileTable("rows.parquet", base_dir=tmp_path),
        FileTable(tmp_path / "rows.csv"),
        FileTable(tmp_path / "rows.jsonl", format="jsonl"),
        ldp_core.Parquet("rows", "rows.parquet", base_dir=tmp_path),
        ldp_core.CSV("rows", "rows.csv", base_dir=tmp_path),
        iceberg,
        ldp_core.table("nyc.rows", tmp_path),
    ]
    for place in places:
        report = run_checks(place, [Unique("id"), NotNull("note"), SchemaHas({"id": "int64"})])
        assert [result.status for result in report.results] == ["fail", "fail", "pass"], place
        assert [sample["row"] for sample in report.results[0].samples] == [1, 2], place


def test_a_file_of_an_unknown_kind_is_said_with_the_kinds_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"what is in 'rows\.dat'\? give format, one of .*CSV"):
        FileTable("rows.dat")
    with pytest.raises(ConfigError, match="no source has the format 'NOTHING'"):
        FileTable("rows.csv", format="NOTHING")


def test_engines_are_found_by_name(tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    source = registry.load("ldp.check_executors", "duckdb").source({"path": str(tmp_path / "rows.parquet")})
    assert run_checks(source, [NotNull("id")]).passed
    postgres = registry.load("ldp.check_executors", "postgres")
    assert postgres.source({"uri": "postgresql://u@h/d", "table": "public.orders"}).timeout == 300
    with pytest.raises(ConfigError, match="tabel"):
        postgres.source({"uri": "postgresql://u@h/d", "tabel": "public.orders"})


@pytest.mark.parametrize(
    ("uri", "table", "said"),
    [
        ("postgresql://u:secret@h/d", "public.t", "embeds a password"),
        ("postgresql://u@h/d?password=secret", "public.t", "embeds a secret"),
        ("host=h user=u", "public.t", "postgresql://user@host/database"),
        ("sqlite:///x.db", "public.t", "postgresql://user@host/database"),
        ("postgresql://u@h/d", "orders", "schema.table"),
        ("postgresql://u@h/d", "a.b.c", "schema.table"),
        ("postgresql://u@h/d", "public.orders; DROP TABLE x", "schema.table"),
        ("postgresql://u@h/d", 'public."a', "schema.table"),
    ],
)
def test_a_server_is_named_without_a_secret_and_a_table_with_its_schema(
    uri: str, table: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        PostgresTable(uri, table)
    assert "secret@" not in str(caught.value)


def test_a_frame_with_a_column_called_opened_is_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    assert run_checks(pandas.DataFrame({"opened": [1]}), [NotNull("opened")]).passed
