"""What this build of pyiceberg can do, found out by doing it on a throw-away table; no version is compared.

Where the library cannot do what an operation needs, this project does it, and that is tried as well.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldp_core.commit.change import Base
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile, ManifestContent
    from pyiceberg.table import Table

logger = logging.getLogger("ldp")
NAME = ("probe", "t")


@dataclass(frozen=True)
class Probe:
    """One thing that was tried.

    Attributes:
        name: What.
        library: Whether pyiceberg does it.
        ours: Whether this project does it instead; None where there is no such thing.
        needed: Whether operations of this package stand on it.
        means: What follows where nobody does it.
    """

    name: str
    library: bool
    ours: bool | None = None
    needed: bool = True
    means: str = ""

    @property
    def usable(self) -> bool:
        """Whether what stands on it can run."""
        return self.library or bool(self.ours) or not self.needed

    @property
    def text(self) -> str:
        """In words."""
        if self.library:
            return "yes"
        if self.ours:
            return "not by pyiceberg; done by ldp"
        return f"no: {self.means}" if self.means else "no"


def probes() -> tuple[Probe, ...]:
    """Try everything, in a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ldp-probe-") as folder:
        place = _Place(Path(folder))
        try:
            return (
                Probe("replace snapshots", place.tried(_replace), means="no rewrite can be committed"),
                Probe(
                    "added files keep their own partition spec",
                    place.tried(_own_spec_library),
                    place.tried(_own_spec),
                    means="files of older partition specs cannot be rewritten",
                ),
                Probe(
                    "delete manifests",
                    place.tried(lambda base: _delete_manifest(base, library=True)),
                    place.tried(lambda base: _delete_manifest(base, library=False)),
                    means="manifests of delete files cannot be rewritten",
                ),
                Probe(
                    "sequence numbers kept in rewritten manifests",
                    place.tried(_sequence_numbers),
                    means="manifests cannot be rewritten",
                ),
                Probe(
                    "equality deletes",
                    place.tried(_equality_library),
                    place.tried(_equality),
                    means="tables with equality deletes cannot be rewritten",
                ),
                Probe(
                    "streaming writes",
                    place.tried(_streaming_library),
                    place.tried(_streaming),
                    means="a group must fit into memory",
                ),
                Probe(
                    "metadata of format version 3 written",
                    place.tried(_version_three),
                    needed=False,
                    means="such tables are read, and refused before anything is touched",
                ),
            )
        finally:
            place.close()


def usable(found: tuple[Probe, ...]) -> bool:
    """Whether every operation can run."""
    return all(probe.usable for probe in found)


class _Place:
    """A catalog in a folder, with a fresh table of three rows for each probe."""

    def __init__(self, folder: Path) -> None:
        from ldp_core.catalogs.sqlite import ClosingCatalog

        self.catalog: Catalog = ClosingCatalog(
            "probe", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}"
        )
        self.catalog.create_namespace(NAME[0])

    def tried(self, probe: Callable[[Base], bool]) -> bool:
        """Whether a probe on a fresh table says yes; one that raises says no."""
        import pyarrow as pa
        from ldp_core.commit.base import load_base
        from pyiceberg.schema import Schema
        from pyiceberg.types import LongType, NestedField, StringType

        schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "city", StringType()))
        try:
            table = self.catalog.create_table(NAME, schema)
            table.append(pa.table({"id": [1, 2, 3], "city": ["a", "b", "c"]}))
            return probe(load_base(self.catalog, NAME))
        except Exception as error:
            logger.debug("probe: %s: %s", type(error).__name__, error)
            return False
        finally:
            if self.catalog.table_exists(NAME):
                self.catalog.drop_table(NAME)

    def close(self) -> None:
        """Let go of the catalog's file."""
        engine = getattr(self.catalog, "engine", None)
        if engine is not None:
            engine.dispose()


def _replace(base: Base) -> bool:
    """A snapshot with operation ``replace`` is committed, and read back with the rows."""
    from ldp_core.commit.change import Change
    from ldp_core.commit.publish import publish

    published = publish(base, lambda _: Change("replace"))
    table = _table(base)
    summary = table.metadata.snapshot_by_id(published.snapshot_id)
    named = (
        summary is not None and summary.summary is not None and summary.summary.operation.value == "replace"
    )
    return named and _ids(table) == [1, 2, 3]


def _own_spec_library(base: Base) -> bool:
    table = _by_city(base)
    file = _entry(table).data_file
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as update:
        update.append_data_file(_again(base, file))
    return _added_spec(table) == 0


def _own_spec(base: Base) -> bool:
    from ldp_core.commit.base import load_base
    from ldp_core.commit.change import Change
    from ldp_core.commit.publish import publish

    table = _by_city(base)
    file = _again(base, _entry(table).data_file)
    publish(load_base(base.catalog, base.identifier), lambda _: Change("append", added=(file,)))
    table.refresh()
    return _added_spec(table) == 0


def _delete_manifest(base: Base, *, library: bool) -> bool:
    """A manifest of a delete file says that it is one."""
    from ldp_core._pyiceberg import write_delete_manifest
    from pyiceberg.manifest import (
        ManifestContent,
        ManifestEntry,
        ManifestEntryStatus,
        write_manifest,
    )

    file = _deletes(base)
    entry = ManifestEntry.from_args(
        status=ManifestEntryStatus.ADDED, snapshot_id=1, sequence_number=None, data_file=file
    )
    make = write_manifest if library else write_delete_manifest
    output = base.io.new_output(f"{base.metadata.location}/metadata/probe.avro")
    with make(
        format_version=2,
        spec=base.metadata.spec(),
        schema=base.metadata.schema(),
        output_file=output,
        snapshot_id=1,
        avro_compression="deflate",
    ) as writer:
        writer.add_entry(entry)
    made = writer.to_manifest_file()
    return bool(made.content == ManifestContent.DELETES)


def _sequence_numbers(base: Base) -> bool:
    """A live entry that is written into another manifest keeps its sequence numbers and its snapshot."""
    from ldp_core.commit.change import Change
    from ldp_core.commit.publish import publish

    before = _entry(_table(base))

    def regroup(writer: Any, metadata: Any, left: list[Any]) -> list[Any]:
        from ldp_core.commit._manifests import existing

        entries = [existing(entry) for manifest in left for entry in manifest.fetch_manifest_entry(base.io)]
        return [writer.rewrite(metadata, metadata.schema(), 0, entries)]

    publish(base, lambda _: Change("replace", regroup=regroup))
    after = _entry(_table(base))
    kept = ("sequence_number", "file_sequence_number", "snapshot_id")
    return all(getattr(before, name) == getattr(after, name) is not None for name in kept)


def _equality_library(base: Base) -> bool:
    return _ids(_with_equality(base)) == [1, 3]


def _equality(base: Base) -> bool:
    import duckdb
    from ldp_core.tables.scan import plan_scan, scan_sql

    table = _with_equality(base)
    with duckdb.connect() as con:
        sql = scan_sql(con, plan_scan(table.metadata, table.io), columns=["id"])
        return sorted(con.sql(sql).fetchall()) == [(1,), (3,)]


def _streaming_library(base: Base) -> bool:
    """The library takes batches one by one and commits them all."""
    import pyarrow as pa

    table = _table(base)
    body = pa.table({"id": [4, 5], "city": ["d", "e"]})
    table.append(pa.RecordBatchReader.from_batches(body.schema, body.to_batches(max_chunksize=1)))
    return _ids(table) == [1, 2, 3, 4, 5]


def _streaming(base: Base) -> bool:
    """DuckDB copies the live rows of a table to a file, piece by piece."""
    import duckdb
    import pyarrow.parquet as pq
    from ldp_core.fs import local_path
    from ldp_core.tables.scan import plan_scan, scan_sql

    place = local_path(f"{base.metadata.location}/data/copy.parquet")
    with duckdb.connect() as con:
        rows = con.sql(scan_sql(con, plan_scan(base.metadata, base.io))).to_arrow_reader(1)
        with pq.ParquetWriter(place, rows.schema) as writer:
            for batch in rows:
                writer.write_batch(batch)
    return bool(pq.read_metadata(place).num_rows == 3)


def _version_three(base: Base) -> bool:
    from pyiceberg.table.metadata import TableMetadataUtil

    body = base.metadata.model_dump(mode="json", by_alias=True, exclude_none=True)
    body |= {"format-version": 3, "next-row-id": 3}
    return '"format-version":3' in TableMetadataUtil.parse_obj(body).model_dump_json()


def _with_equality(base: Base) -> Table:
    """The table after an equality delete of id 2."""
    from ldp_core.commit.change import Change
    from ldp_core.commit.publish import publish
    from pyiceberg.manifest import ManifestContent, ManifestEntry, ManifestEntryStatus

    file = _deletes(base)

    def regroup(writer: Any, metadata: Any, left: list[Any]) -> list[Any]:
        entry = ManifestEntry.from_args(
            status=ManifestEntryStatus.ADDED,
            snapshot_id=writer.snapshot_id,
            sequence_number=None,
            data_file=file,
        )
        content: ManifestContent = ManifestContent.DELETES
        return [writer.rewrite(metadata, metadata.schema(), 0, [entry], content), *left]

    publish(base, lambda _: Change("delete", regroup=regroup))
    return _table(base)


def _deletes(base: Base) -> DataFile:
    """A written equality delete of id 2."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from ldp_core.fs import local_path
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    place = local_path(f"{base.metadata.location}/data/deletes.parquet")
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(pa.table([[2]], schema=pa.schema([field])), place)
    file = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES,
        file_path=str(place),
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=1,
        file_size_in_bytes=place.stat().st_size,
        equality_ids=[1],
    )
    file.spec_id = 0
    return file


def _again(base: Base, file: DataFile) -> DataFile:
    """The same file under another name, to be added once more."""
    import shutil

    from ldp_core.fs import local_path
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    place = local_path(f"{base.metadata.location}/data/again.parquet")
    shutil.copyfile(local_path(file.file_path), place)
    made = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=str(place),
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=file.record_count,
        file_size_in_bytes=file.file_size_in_bytes,
    )
    made.spec_id = 0
    return made


def _by_city(base: Base) -> Table:
    """The table with a default spec that its file is not of."""
    table = _table(base)
    with table.update_spec() as update:
        update.add_identity("city")
    return table


def _added_spec(table: Table) -> int | None:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    added = [m for m in snapshot.manifests(table.io) if m.added_snapshot_id == snapshot.snapshot_id]
    return added[0].partition_spec_id if len(added) == 1 else None


def _entry(table: Table) -> Any:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return snapshot.manifests(table.io)[0].fetch_manifest_entry(table.io)[0]


def _ids(table: Table) -> list[int]:
    found: list[int] = table.scan(selected_fields=("id",)).to_arrow().column(0).to_pylist()
    return sorted(found)


def _table(base: Base) -> Table:
    return base.catalog.load_table(base.identifier)
