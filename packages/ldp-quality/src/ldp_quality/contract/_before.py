"""The rows of an older snapshot beside those that a later one added, as a gate would have seen them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core._duck import ident
from ldp_core.spi import Standing

from ldp_quality.executor import DuckDBExecutor

if TYPE_CHECKING:
    from ldp_core.tables.scan import Scan


def before(rows: DuckDBExecutor, scan: Scan | None) -> Standing:
    """What stood in the table before some rows were added.

    Args:
        rows: The rows that were added.
        scan: The snapshot before; None where there was none.
    """
    from ldp_core.tables.scan import scan_sql

    if scan is None:
        none = "SELECT * FROM (\n{}\n) AS s WHERE false"
        return Standing(none.format(rows.sql), None, none.format(rows.numbered()))
    have = [name for name in rows.columns if name in scan.columns]
    held = {name: f"h{at}" for at, name in enumerate(have)}
    types = rows.con.sql(rows.sql).types
    listed = ", ".join(
        f"CAST({held.get(name, 'NULL')} AS {kind}) AS {ident(f'c{at}')}"
        for at, (name, kind) in enumerate(zip(rows.columns, types, strict=True))
    )
    inner = f"(\n{scan_sql(rows.con, scan, columns=have)}\n) AS t({', '.join(held.values())})"
    return Standing(
        f"SELECT {listed} FROM {inner}",
        scan.snapshot_id,
        f"SELECT {listed}, row_number() OVER () - 1 AS n FROM {inner}",
    )
