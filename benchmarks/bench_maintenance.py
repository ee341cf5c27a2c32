"""Upkeep beside a plain copy, and beside ``iceberg-zamboni`` where ``LDP_BENCH_ZAMBONI`` names its Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from _data import workdir
from _measure import Run, in_turn, ldp, report, run
from _tables import NAME, catalog, many_snapshots, orphans, restored, small_files

TABLE = ".".join(NAME)
OTHER = os.environ.get("LDP_BENCH_ZAMBONI")
COPY = """
import duckdb, pathlib, sys
files = sorted(str(p) for p in pathlib.Path(sys.argv[1]).rglob('*.parquet'))
con = duckdb.connect(config={'memory_limit': '400MB', 'temp_directory': sys.argv[2] + '/tmp'})
# Into one file, for with FILE_SIZE_BYTES the threads mix the order.
con.execute('COPY (FROM read_parquet($1)) TO ' + repr(sys.argv[2] + '/out.parquet') +
            " (FORMAT parquet, COMPRESSION zstd)", [files])
"""
OTHERS = {
    "rewrite-data-files": (
        "TableCompactor(s, t, CompactionConfig(target_file_size_bytes=134217728, **extra)).execute()"
    ),
    "expire-snapshots": "SnapshotExpirer(RetentionPolicy(max_snapshot_age_ms=1)).run(cat.load_table(t))",
    "rewrite-manifests": "ManifestRewriter().run(cat.load_table(t))",
    "remove-orphans": "OrphanCleaner().run(cat.load_table(t))",
}


def main(rows: int, runs: int) -> None:
    """Each operation on a fresh copy of its table."""
    del rows
    compact(runs)
    metadata(
        "expire-snapshots", "1,000 snapshots", many_snapshots(1_000), runs, "--max-snapshot-age-days", "0"
    )
    unmerged = many_snapshots(500, **{"commit.manifest-merge.enabled": "false"})
    metadata("rewrite-manifests", "500 manifests", unmerged, runs)
    metadata("remove-orphans", "10,000 files", orphans(10_000), runs)


def compact(runs: int) -> None:
    """1,000 files of 5M rows: a copy that keeps order, bin-packed, sorted, z-ordered."""
    make = small_files(5_000_000, 1_000)

    def ours(*options: str) -> Run:
        return maintain("rewrite-data-files", restored("small", make), *options)

    def copy() -> Run:
        folder = workdir("copy")
        return run([sys.executable, "-c", COPY, str(restored("small", make)), str(folder)], folder)

    ways: dict[str, Callable[[], Run]] = {
        "a plain copy by DuckDB": copy,
        "bin-packed": ours,
        "sorted": lambda: ours("--order-by", "l_shipdate,l_orderkey"),
        "z-ordered": lambda: ours("--zorder", "l_shipdate,l_partkey"),
    }
    if OTHER:
        ways["zamboni"] = lambda: other("rewrite-data-files", restored("small", make))
        sort, order = "sort_expression='l_shipdate, l_orderkey'", "zorder_columns=('l_shipdate', 'l_partkey')"
        ways["zamboni, sorted"] = lambda: other("rewrite-data-files", restored("small", make), sort)
        ways["zamboni, z-ordered"] = lambda: other("rewrite-data-files", restored("small", make), order)
    report("1,000 files of 5,000,000 rows", in_turn(ways, runs), "a plain copy by DuckDB")


def metadata(operation: str, title: str, make: Callable[[Path], None], runs: int, *options: str) -> None:
    """An operation on metadata, and the start of the command alone."""
    name = operation.replace("-", "_")
    folder = workdir(name)
    ways: dict[str, Callable[[], Run]] = {
        operation: lambda: maintain(operation, restored(name, make), *options),
        "ldp --version": lambda: run(ldp("--version"), folder),
    }
    if OTHER:
        ways["zamboni"] = lambda: other(operation, restored(name, make))
    report(f"{operation}: {title}", in_turn(ways, runs), operation)


def maintain(operation: str, warehouse: Path, *options: str) -> Run:
    """Our command, committed."""
    spec = str(catalog(warehouse))
    return run(ldp("maintain", operation, TABLE, "--catalog", spec, *options, "--yes"), workdir("maintain"))


def other(operation: str, warehouse: Path, extra: str = "") -> Run:
    """The other tool's, by its Python interface."""
    code = f"""
from pyiceberg.catalog.sql import SqlCatalog
from zamboni import *
from zamboni import CatalogSession
import warnings; warnings.simplefilter('ignore')
cat = SqlCatalog('bench', uri='sqlite:///{warehouse}/bench_catalog.db', warehouse='file://{warehouse}')
s, t, extra = CatalogSession.from_catalog(cat), '{TABLE}', dict({extra})
{OTHERS[operation]}
"""
    return run([str(OTHER), "-c", code], workdir("other"))
