"""Small tables and files for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ldp_core.commit.base import NewTable
from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.publish import publish
from ldp_core.commit.stage import Stage
from ldp_core.fs import is_local, local_path

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile


def new_table(*, partitioned: bool = False, **properties: str) -> NewTable:
    """A table of ``id long, city string``, by city when partitioned."""
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import LongType, NestedField, StringType

    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "city", StringType()))
    by_city = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "city"))
    return NewTable(schema, by_city if partitioned else UNPARTITIONED_PARTITION_SPEC, properties)


def data_files(base: Base, paths: Sequence[str]) -> tuple[DataFile, ...]:
    """The ``DataFile`` of each Parquet file, statistics included, for the base's schema and default spec."""
    from pyiceberg.io.pyarrow import parquet_files_to_data_files

    files = tuple(parquet_files_to_data_files(base.io, base.metadata, iter(paths)))
    for file in files:
        file.spec_id = base.metadata.default_spec_id
    return files


def write_parquet(base: Base, path: str, columns: dict[str, list[Any]]) -> str:
    """Write a Parquet file with the base's field ids; returns its path."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    table = pa.table(columns, schema=schema_to_pyarrow(base.metadata.schema()))
    if is_local(path):
        target = local_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, target)
    else:
        with base.io.new_output(path).create(overwrite=True) as stream:
            pq.write_table(table, stream)
    return path


def append(base: Base, run_id: str, ids: Sequence[int], city: str = "NYC", **kwargs: Any) -> Published:
    """Stage and publish rows ``(id, city)`` in one file, as a run does.

    Args:
        base: The table.
        run_id: The run.
        ids: The ids.
        city: The city of all rows.
        kwargs: For ``publish``.
    """
    with Stage(base, run_id) as stage:
        path = write_parquet(base, stage.new_file(), {"id": list(ids), "city": [city] * len(ids)})
        return publish(
            base, lambda fresh: Change("append", added=data_files(fresh, [path])), stage=stage, **kwargs
        )


def orphans(base: Base) -> list[str]:
    """Files below a local table's location that neither its metadata nor any snapshot refers to."""
    root = local_path(base.metadata.location)
    kept = {base.metadata_location, *(entry.metadata_file for entry in base.metadata.metadata_log)}
    for snapshot in base.metadata.snapshots if base.exists else ():
        kept.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(base.io):
            if manifest.manifest_path in kept:
                continue
            kept.add(manifest.manifest_path)
            kept |= {entry.data_file.file_path for entry in manifest.fetch_manifest_entry(base.io, False)}
    known = {local_path(uri) for uri in kept if uri}
    return sorted(str(path) for path in _files(root) if path not in known)


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]
