"""Tables in need of upkeep, made once and copied back before each run: metadata holds absolute paths."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from _data import CACHE, TYPES, lineitem

ROOT = CACHE / "upkeep"
NAME = ("bench", "lineitem")


def catalog(folder: Path) -> Path:
    """The file that names the catalog of a folder, for ``--catalog``."""
    spec = folder.parent / f"{folder.name}.json"
    spec.write_text(json.dumps({"type": "local", "identifier": "bench", "warehouse_path": str(folder)}))
    return spec


def restored(name: str, make: Callable[[Path], None]) -> Path:
    """The warehouse of a case as it was made."""
    place, kept = ROOT / name, ROOT / f"{name}.kept"
    if not kept.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        # In a process of its own: a child's peak memory begins with that of the process it is forked from.
        child = multiprocessing.get_context("fork").Process(target=make, args=(place,))
        child.start()
        child.join()
        if child.exitcode:
            raise SystemExit(f"{name} could not be made")
        shutil.copytree(place, kept)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(kept, place)
    old = 1_700_000_000
    for path in place.rglob("*.parquet"):
        os.utime(path, (old, old))
    return place


def small_files(rows: int, count: int) -> Callable[[Path], None]:
    """Lineitem in ``count`` files of one snapshot."""

    def make(folder: Path) -> None:
        import duckdb
        from ldp_core.catalogs import LocalIcebergCatalog
        from ldp_core.commit.base import NewTable, load_base
        from ldp_core.commit.change import Change
        from ldp_core.commit.publish import publish
        from ldp_core.tables.write import Layout, write_files
        from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC

        cat = LocalIcebergCatalog("bench", folder)
        base = load_base(cat, NAME, NewTable(_schema(), UNPARTITIONED_PARTITION_SPEC))
        metadata = base.metadata
        layout = Layout(metadata.schema(), metadata.spec(), metadata.properties, {})
        types = ", ".join(f"'{name}': '{kind}'" for name, kind in TYPES.items())
        files = []
        with duckdb.connect() as con:
            con.execute(f"CREATE TABLE t AS FROM read_csv('{lineitem(rows)}', types={{{types}}})")
            step = -(-rows // count)
            for number in range(count):
                sql = f"SELECT * FROM t WHERE rowid >= {number * step} AND rowid < {(number + 1) * step}"
                files += write_files(con, sql, layout, f"{metadata.location}/data").files
        publish(base, lambda fresh: Change("append", added=tuple(files)))

    return make


def many_snapshots(count: int, **properties: str) -> Callable[[Path], None]:
    """A table of ``count`` appends of one row, without merging of manifests when asked."""

    def make(folder: Path) -> None:
        from ldp_core.catalogs import LocalIcebergCatalog
        from ldp_core.commit.base import NewTable, load_base
        from ldp_core.testing.builders import append, new_table
        from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC

        cat = LocalIcebergCatalog("bench", folder)
        new = NewTable(new_table().schema, UNPARTITIONED_PARTITION_SPEC, properties)
        for number in range(count):
            append(load_base(cat, NAME, new), f"r{number}", [number])

    return make


def orphans(count: int) -> Callable[[Path], None]:
    """A table of 100 appends and ``count`` files that nothing refers to."""

    def make(folder: Path) -> None:
        many_snapshots(100)(folder)
        (table,) = [path.parent for path in folder.rglob("metadata") if path.is_dir()]
        for number in range(count):
            (table / "data" / f"left-{number}.parquet").write_bytes(b"PAR1")

    return make


def _schema():  # type: ignore[no-untyped-def]
    from pyiceberg.schema import Schema
    from pyiceberg.types import DateType, DecimalType, LongType, NestedField, StringType

    kinds = {
        "BIGINT": LongType(),
        "DECIMAL(18,2)": DecimalType(18, 2),
        "VARCHAR": StringType(),
        "DATE": DateType(),
    }
    return Schema(*(NestedField(n, name, kinds[kind]) for n, (name, kind) in enumerate(TYPES.items(), 1)))
