"""Small tables and files for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from ldp_core.commit.change import Base
from ldp_core.fs import local_path

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile


def data_files(base: Base, paths: Sequence[str]) -> tuple[DataFile, ...]:
    """The ``DataFile`` of each Parquet file, statistics included, for the base's schema and default spec."""
    from pyiceberg.io.pyarrow import parquet_files_to_data_files

    files = tuple(parquet_files_to_data_files(base.io, base.metadata, iter(paths)))
    for file in files:
        file.spec_id = base.metadata.default_spec_id
    return files


def write_parquet(base: Base, path: str, columns: dict[str, list[object]]) -> str:
    """Write a local Parquet file with the base's field ids; returns its path."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    target = local_path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns, schema=schema_to_pyarrow(base.metadata.schema())), target)
    return path
