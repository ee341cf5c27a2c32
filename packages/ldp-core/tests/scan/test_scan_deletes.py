"""Position and equality deletes, written as other engines write them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core._duck import connect
from ldp_core.api import run_config
from ldp_core.api import table as read_table
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.config import Config
from ldp_core.errors import SnapshotNotFound
from ldp_core.tables.scan import Scan, plan_scan, scan_sql
from ldp_core.tables.scan_plan import match
from ldp_core.testing.deletes import commit, delete_file, keys, positions
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestEntry, ManifestEntryStatus
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import DoubleType, ListType, LongType, NestedField, StringType, StructType

_IDS = itertools.count(10_000)


@pytest.fixture
def catalog(tmp_path: Path) -> SqlCatalog:
    catalog = ClosingCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path / "wh"))
    catalog.create_namespace("n")
    return catalog


SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "p", StringType()))
BY_P = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p"))


def rows(*pairs: tuple[int | None, str | None]) -> pa.Table:
    return pa.table({"id": pa.array([a for a, _ in pairs], pa.int64()), "p": pa.array([b for _, b in pairs])})


def read(table: Table, **options: Any) -> tuple[Scan, list[Any]]:
    scan = plan_scan(table.metadata, table.io)
    con = connect()
    return scan, sorted(con.sql(scan_sql(con, scan, **options)).fetchall(), key=repr)


def expected(table: Table) -> list[Any]:
    return sorted((tuple(row.values()) for row in table.scan().to_arrow().to_pylist()), key=repr)


def paths(table: Table) -> list[str]:
    """Data files, oldest first."""
    scan = plan_scan(table.metadata, table.io)
    return [file.path for file in sorted(scan.files, key=lambda file: file.sequence)]


def test_position_deletes(catalog: SqlCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    table.append(rows((1, "a"), (2, "b"), (3, "c")))
    table.append(rows((4, "a"), (5, "b")))
    table.append(rows((6, "z")))
    first, second, _ = paths(table)
    commit(table, delete_file(table, positions((first, 0), (first, 2), (second, 1))))
    scan, found = read(table)
    assert found == expected(table) == [(2, "b"), (4, "a"), (6, "z")]
    assert [len(file.deletes) for file in sorted(scan.files, key=lambda f: f.sequence)] == [1, 1, 1]
    commit(table, delete_file(table, positions((first, 1)), bounds=first))
    table.append(rows((7, "y")))
    scan, found = read(table)
    assert found == expected(table) == [(4, "a"), (6, "z"), (7, "y")]
    assert [len(file.deletes) for file in sorted(scan.files, key=lambda f: f.sequence)] == [2, 1, 1, 0]
    _, found = read(table, columns=["id"], position=True)
    assert [(a, c) for a, _, c in found] == [(4, 0), (6, 0), (7, 0)]
    _, found = read(table, files=[first])
    assert found == []


def test_position_deletes_after_evolution_and_through_pyiceberg(catalog: SqlCatalog) -> None:
    table = catalog.create_table(
        "n.t",
        Schema(
            NestedField(1, "id", LongType()), NestedField(2, "s", StructType(NestedField(3, "x", LongType())))
        ),
    )
    table.append(pa.table({"id": [1, 2, 3], "s": [{"x": 1}, {"x": 2}, None]}))
    commit(table, delete_file(table, positions((paths(table)[0], 1))))
    with table.update_schema() as update:
        update.rename_column(("s", "x"), "y")
    scan, found = read(table, position=True)
    assert scan.needs_pyiceberg
    assert [(a, b, d) for a, b, _, d in found] == [(1, {"y": 1}, 0), (3, None, 2)]
    assert [row[:2] for row in found] == expected(table)


def test_position_deletes_of_a_partition(catalog: SqlCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA, partition_spec=BY_P)
    table.append(rows((1, "a"), (2, "a"), (3, "b"), (4, None)))
    target = next(
        file.path for file in plan_scan(table.metadata, table.io).files if file.partition["p"] == "a"
    )
    commit(table, delete_file(table, positions((target, 0)), partition=Record("a")))
    scan, found = read(table)
    assert len(found) == 3
    assert found == expected(table)
    assert {file.partition["p"]: len(file.deletes) for file in scan.files} == {"a": 1, "b": 0, None: 0}


def test_equality_deletes_reach_older_rows_only(catalog: SqlCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    table.append(rows((1, "a"), (2, "b"), (None, "c")))
    commit(
        table,
        delete_file(table, keys(1, "id", pa.int64(), [1, None]), equality=[1]),
        delete_file(table, keys(2, "p", pa.string(), ["b"]), equality=[2]),
    )
    assert read(table)[1] == []
    table.append(rows((1, "again"), (9, "b")))
    assert read(table)[1] == [(1, "again"), (9, "b")]
    commit(table, delete_file(table, keys(1, "id", pa.int64(), [9]), equality=[1]))
    assert read(table)[1] == [(1, "again")]
    assert read(table, columns=["p"])[1] == [("again",)]
    assert [row[::2] for row in read(table, columns=["id"], position=True)[1]] == [(1, 0)]


def test_equality_deletes_after_evolution(catalog: SqlCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    table.append(rows((1, "a"), (2, "b")))
    commit(table, delete_file(table, keys(1, "id", pa.int64(), [1]), equality=[1]))
    with table.update_schema() as update:
        update.rename_column("id", "key")
    assert read(table)[1] == [(2, "b")]
    with table.update_schema() as update:
        update.delete_column("key")
    assert read(table)[1] == [("b",)]


def test_equality_deletes_of_a_partition(catalog: SqlCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA, partition_spec=BY_P)
    table.append(rows((1, "a"), (1, "b")))
    commit(table, delete_file(table, keys(1, "id", pa.int64(), [1]), equality=[1], partition=Record("a")))
    assert read(table)[1] == [(1, "b")]


def copy(folder: Path, **source: Any) -> Any:
    body = {
        "identifier": "copy",
        "metadata": {
            "source": {
                "name": "t",
                "format": "ICEBERG",
                "catalog": {
                    "type": "sql",
                    "identifier": "n",
                    "uri": f"sqlite:///{folder}/c.db",
                    "warehouse": str(folder / "wh"),
                },
                **source,
            },
            "target": {
                "name": "t",
                "format": "ICEBERG",
                "write_mode": "overwrite",
                "catalog": {"type": "local", "identifier": "out", "warehouse_path": str(folder / "copy")},
            },
        },
    }
    return run_config(Config.from_dict(body, base_dir=folder))


def copied(folder: Path) -> list[dict[str, Any]]:
    found = read_table("out.t", folder / "copy").to_arrow().to_pylist()
    return sorted(found, key=lambda row: int(row["id"]))


def test_deletes_of_a_partition_of_nan_or_of_a_signed_zero(catalog: SqlCatalog) -> None:
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "p", DoubleType()))
    table = catalog.create_table("n.t", schema, partition_spec=BY_P)

    def entry(value: str, content: DataFileContent, sequence: int) -> ManifestEntry:
        path = f"{content.name}-{value}"
        given = {"file_path": path, "file_format": FileFormat.PARQUET, "record_count": 1}
        file = DataFile.from_args(
            content=content, partition=Record(float(value)), file_size_in_bytes=1, **given
        )
        file.spec_id = 0
        return ManifestEntry.from_args(
            status=ManifestEntryStatus.ADDED, snapshot_id=1, sequence_number=sequence, data_file=file
        )

    data = [entry(value, DataFileContent.DATA, 1) for value in ("nan", "0.0", "-0.0", "1.5")]
    deletes = [entry(value, DataFileContent.EQUALITY_DELETES, 2) for value in ("nan", "-0.0")]
    files, applied = match(table.metadata, data, deletes)
    assert [[applied[n].data_file.file_path for n in file.deletes] for file in files] == [
        ["EQUALITY_DELETES-nan"],
        [],
        ["EQUALITY_DELETES--0.0"],
        [],
    ]


def test_a_table_with_deletes_and_a_history_is_copied_by_a_load(catalog: SqlCatalog, tmp_path: Path) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    table.append(rows((1, "a"), (2, "b"), (3, "c")))
    before = table.metadata.current_snapshot_id
    commit(table, delete_file(table, positions((paths(table)[0], 1))))
    table.append(rows((4, "d"), (5, "e")))
    commit(table, delete_file(table, keys(1, "id", pa.int64(), [5]), equality=[1]))
    with table.update_schema() as update:
        update.rename_column("p", "name")
        update.add_column("tags", ListType(10, StructType(NestedField(11, "k", LongType())), False))
    table.append(pa.table({"id": [6], "name": ["f"], "tags": [[{"k": 1}]]}))

    result = copy(tmp_path)
    assert (result.rows_read, result.rows_written, result.write_result.losses) == (4, 4, ())
    assert copied(tmp_path) == [
        {"id": 1, "name": "a", "tags": None},
        {"id": 3, "name": "c", "tags": None},
        {"id": 4, "name": "d", "tags": None},
        {"id": 6, "name": "f", "tags": [{"k": 1}]},
    ]

    with table.update_schema() as update:
        update.add_column("more", StringType())
        update.delete_column("tags")
    table.append(pa.table({"id": [7], "name": ["g"], "more": ["m"]}))
    assert copy(tmp_path).notes == ("new column more (string)",)
    assert copied(tmp_path)[-1] == {"id": 7, "name": "g", "tags": None, "more": "m"}

    with pytest.raises(SnapshotNotFound, match="no snapshot 5"):
        copy(tmp_path, snapshot=5)
    assert copy(tmp_path, snapshot=str(before)).notes == ("new column p (string)",)
    assert [row["p"] for row in copied(tmp_path)] == ["a", "b", "c"]
