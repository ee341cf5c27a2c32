"""How many live rows there are in the files of a scan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ldp_core.tables.scan import Scan, scan_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def live_count(con: DuckDBPyConnection, scan: Scan, paths: Iterable[str] | None = None) -> int:
    """The rows of a scan; files with deletes are read, the others tell by themselves.

    Args:
        con: Where SQL may run.
        scan: From ``plan_scan``.
        paths: Only these data files; all by default.
    """
    wanted = None if paths is None else set(paths)
    files = [file for file in scan.files if wanted is None or file.path in wanted]
    rows = sum(file.rows for file in files if not file.deletes)
    others = [file.path for file in files if file.deletes]
    if not others:
        return rows
    counted = con.execute(f"SELECT count(*) FROM ({scan_sql(con, scan, files=others)}) AS t").fetchall()
    return rows + int(counted[0][0])
