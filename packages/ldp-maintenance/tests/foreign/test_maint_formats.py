"""Tables with files that are not Parquet: they are looked after, and those files stay."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Change
from ldp_core.commit.publish import publish
from ldp_core.fs import local_path
from ldp_core.testing import deletes
from ldp_maintenance import Doing, Maintenance, Policy, Target, health
from ldp_maintenance.policy import Expire, Orphans, Rewrite
from ldp_maintenance.testing import builders, looks
from pyarrow import orc
from pyiceberg.avro.file import AvroFile, AvroOutputFile
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Record
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestampType

COLUMNS = ("id", "city", "at", "amount")
AVRO = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "city", StringType(), required=True),
    NestedField(3, "at", TimestampType(), required=True),
    NestedField(4, "amount", DoubleType(), required=True),
)
POSITIONS = Schema(
    NestedField(2147483546, "file_path", StringType(), required=True),
    NestedField(2147483545, "pos", LongType(), required=True),
)
EPOCH = dt.datetime(1970, 1, 1)
DAYS = 20
_MICROSECOND = dt.timedelta(microseconds=1)


def _orc(path: Path, ids: Sequence[int]) -> None:
    types = (pa.int64(), pa.string(), pa.timestamp("us"), pa.float64())
    fields = [
        pa.field(name, kind, metadata={"iceberg.id": str(number)})
        for number, (name, kind) in enumerate(zip(COLUMNS, types, strict=True), 1)
    ]
    columns = [list(ids), ["NYC"] * len(ids), [builders.DAY0] * len(ids), [i / 2 for i in ids]]
    orc.write_table(pa.table(columns, schema=pa.schema(fields)), str(path))


def _avro(path: Path, ids: Sequence[int], table: Table) -> None:
    at = (builders.DAY0 - EPOCH) // _MICROSECOND
    rows = [Record(i, "NYC", at, i / 2) for i in ids]
    with AvroOutputFile[Record](table.io.new_output(str(path)), AVRO, "table") as out:
        out.write_block(rows)


def _put(table: Table, kind: FileFormat, ids: Sequence[int], partition: Record | None = None) -> str:
    """Append rows in a file of a format."""
    path = local_path(f"{table.location()}/data/{uuid.uuid4()}.{kind.value.lower()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == FileFormat.ORC:
        _orc(path, ids)
    else:
        _avro(path, ids, table)
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=str(path),
        file_format=kind,
        partition=partition or Record(),
        record_count=len(ids),
        file_size_in_bytes=path.stat().st_size,
    )
    file.spec_id = 0
    publish(load_base(table.catalog, ("db", "t")), lambda _: Change("append", added=(file,)))
    table.refresh()
    return str(path)


def _position_deletes(table: Table, pairs: Sequence[tuple[str, int]], *, bounds: str | None = None) -> str:
    """Delete rows by positions that stand in an Avro file."""
    made = deletes.delete_file(table, deletes.positions(*pairs), bounds=bounds)
    path = made.file_path.replace(".parquet", ".avro")
    local_path(made.file_path).unlink()
    with AvroOutputFile[Record](table.io.new_output(path), POSITIONS, "delete") as out:
        out.write_block([Record(*pair) for pair in sorted(pairs)])
    file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=path,
        file_format=FileFormat.AVRO,
        partition=Record(),
        record_count=len(pairs),
        file_size_in_bytes=local_path(path).stat().st_size,
        lower_bounds=made.lower_bounds,
        upper_bounds=made.upper_bounds,
    )
    file.spec_id = 0
    deletes.commit(table, file)
    return path


def _entries(table: Table) -> list[Any]:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return [e for m in snapshot.manifests(table.io) for e in m.fetch_manifest_entry(table.io)]


def _ids_of(table: Table, file: DataFile) -> list[int]:
    """The ids in a data file, read by the library of its format."""
    path = str(local_path(file.file_path))
    if file.file_format == FileFormat.PARQUET:
        return list(pq.read_table(path, columns=["id"]).column(0).to_pylist())
    if file.file_format == FileFormat.ORC:
        return list(orc.read_table(path, columns=["id"]).column(0).to_pylist())
    with AvroFile[Record](table.io.new_input(path), AVRO) as rows:
        return [row[0] for row in rows]


def _live(table: Table) -> list[int]:
    """The live ids by the rules of the specification: ours is the only code that reads all formats."""
    table.refresh()
    positions: set[tuple[str, int]] = set()
    keys: dict[int, int] = {}
    for entry in _entries(table):
        file = entry.data_file
        if file.content == DataFileContent.EQUALITY_DELETES:
            keys |= dict.fromkeys(_ids_of(table, file), entry.sequence_number)
        elif file.content == DataFileContent.POSITION_DELETES:
            positions |= _positions_of(table, file)
    return sorted(
        number
        for entry in _entries(table)
        if entry.data_file.content == DataFileContent.DATA
        for place, number in enumerate(_ids_of(table, entry.data_file))
        if (entry.data_file.file_path, place) not in positions
        and entry.sequence_number >= keys.get(number, 0)
    )


def _positions_of(table: Table, file: DataFile) -> set[tuple[str, int]]:
    if file.file_format == FileFormat.PARQUET:
        body = pq.read_table(local_path(file.file_path))
        return set(zip(*(column.to_pylist() for column in body.columns), strict=True))
    with AvroFile[Record](table.io.new_input(file.file_path), POSITIONS) as rows:
        return {(row[0], row[1]) for row in rows}


def _paths(table: Table, kind: FileFormat) -> list[str]:
    """Live data files of a format, in the order of their ids."""
    found = [e.data_file for e in _entries(table) if e.data_file.file_format == kind]
    data = [file for file in found if file.content == DataFileContent.DATA]
    return [file.file_path for file in sorted(data, key=lambda file: _ids_of(table, file))]


def _kept(table: Table) -> dict[str, tuple[Any, ...]]:
    """The live files that are not Parquet, and what their entries say."""
    return {
        e.data_file.file_path: (
            e.sequence_number,
            e.file_sequence_number,
            e.snapshot_id,
            e.data_file.record_count,
        )
        for e in _entries(table)
        if e.data_file.file_format != FileFormat.PARQUET
    }


def _maintained(table: Table) -> Any:
    """All that is due, long after."""
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=DAYS)
    policy = Policy(
        rewrite=Rewrite(skip_newest=None), expire=Expire(max_snapshot_age_days=1), orphans=Orphans()
    )
    target = Target(table.catalog, ("db", "t"), policy)
    found = Maintenance(target).run(commit=True, doing=Doing(clock=lambda: later))
    table.refresh()
    return found


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Four small Parquet files, two of ORC and two of Avro, ten rows each: ids 0 to 79."""
    made = builders.table(builders.catalog(tmp_path))
    builders.small_files(made, 4)
    for place, kind in enumerate([FileFormat.ORC, FileFormat.AVRO] * 2):
        _put(made, kind, range(40 + place * 10, 50 + place * 10))
    return made


def test_maint_files_that_are_not_parquet_are_left_alone_and_told_of(table: Table) -> None:
    kept = _kept(table)
    stray = local_path(f"{table.location()}/data/stray.orc")
    stray.write_bytes(b"x")
    graded = health.health(Target(table.catalog, ("db", "t"))).layout
    assert (graded.data_files, graded.rows) == (8, 80)
    found = _maintained(table)
    assert not found.errors
    assert {one.operation: one.status for one in found.outcomes} == {
        "apply-properties": "skipped",
        "evolve-partitions": "nothing",
        "rewrite-data-files": "done",
        "remove-dangling-deletes": "nothing",
        "rewrite-manifests": "done",
        "expire-snapshots": "done",
        "remove-orphans": "done",
    }
    assert (
        "4 files left alone: they, or the deletes of their rows, are not Parquet"
        in found.of("rewrite-data-files").lines
    )
    assert _kept(table) == kept
    assert _live(table) == list(range(80))
    assert not looks.unreferenced_files(table)
    assert found.after["data_files"] == 5
    assert found.after["manifests"] == 1
    again = _maintained(table)
    assert {one.status for one in again.outcomes} == {"nothing", "skipped"}


def test_maint_deletes_of_files_that_are_not_parquet_stay_when_others_are_rewritten(table: Table) -> None:
    paths = {kind: _paths(table, kind) for kind in (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)}
    parquet, orc, avro = (paths[kind][0] for kind in paths)
    builders.delete_positions(table, {parquet: [0], orc: [1], avro: [2]}, scoped=False)
    builders.delete_keys(table, [11, 42, 53])
    live, kept = _live(table), _kept(table)
    assert len(live) == 74
    found = _maintained(table)
    assert not found.errors
    assert found.after["data_files"] == 5
    assert found.after["delete_files"] == 2
    assert _live(table) == live
    assert _kept(table) == kept
    assert not looks.unreferenced_files(table)


def test_maint_avro_positions_are_kept_as_long_as_they_may_apply(table: Table) -> None:
    parquet, avro = _paths(table, FileFormat.PARQUET), _paths(table, FileFormat.AVRO)
    both = _position_deletes(table, [(avro[0], 1), (parquet[1], 2)])
    scoped = _position_deletes(table, [(parquet[0], 0)], bounds=parquet[0])
    other = _position_deletes(table, [(avro[1], 0)], bounds=avro[1])
    builders.overwrite(table, parquet[0], [1, 2, 3])
    live = _live(table)
    assert len(live) == 70
    found = _maintained(table)
    assert found.of("remove-dangling-deletes").detail["delete_files"] == 1
    assert found.of("rewrite-manifests").status == "done"
    assert found.of("expire-snapshots").status == "done"
    held = {e.data_file.file_path for e in _entries(table) if e.data_file.content != DataFileContent.DATA}
    assert held == {both, other}
    assert not local_path(scoped).exists()
    assert _live(table) == live
    assert looks.entries_in_manifest_of_wrong_content(table) == 0
    assert not looks.unreferenced_files(table)


def test_maint_old_days_in_other_formats_stay_in_days(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="day")
    builders.small_files(table, 2)
    days = next(iter(looks.live_files(table).values())).partition
    for kind in (FileFormat.ORC, FileFormat.AVRO):
        _put(table, kind, range(20, 30), partition=days)
    kept = _kept(table)
    found = _maintained(table)
    assert not found.errors
    assert found.of("evolve-partitions").status == "done"
    assert found.after["data_files"] == 3
    assert _kept(table) == kept
    assert len(_live(table)) == 40
    assert {one.status for one in _maintained(table).outcomes} == {"nothing", "skipped"}
