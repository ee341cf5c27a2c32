"""The rows of a table that a publish would leave beside a batch, before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core._duck import ident
from ldp_core.errors import ConfigError
from ldp_core.spi import Keyed, Standing
from ldp_core.tables.scan import plan_scan, scan_sql
from ldp_core.tables.types import arrow_schema, duck_type
from ldp_core.tables.window_rows import bounds, has_filter
from ldp_core.targets._rows import empty_sql

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from ldp_core.commit.change import Base

_ROW = ("__row", "BIGINT")


@dataclass(frozen=True)
class Beside:
    """What decides which rows of a table stay.

    Attributes:
        con: The run's connection.
        schema: The Arrow types of the batch: all columns of the table, then new ones.
        mode: append, overwrite or upsert.
        keyed: The window of the run.
        keys: The join columns of an upsert.
        batch: A SELECT of the batch.
    """

    con: DuckDBPyConnection
    schema: pa.Schema
    mode: str
    keyed: Keyed | None
    keys: Sequence[str]
    batch: str

    def of(self, base: Base) -> Standing:
        """The rows of a base that a publish on it would leave there.

        An append leaves all; an overwrite none, and with a window column those outside the window; an upsert
        those whose key (null-safe, by value) is not in the batch.
        """
        head = head_of(base)
        windowed = has_filter(self.keyed)
        if head is None or (self.mode == "overwrite" and not windowed):
            empty, ordered = empty_sql(self.schema), empty_sql(self.schema, _ROW)
            within = (empty, ordered) if windowed and self._inside(base) is not None else None
            return _standing(head, (empty, ordered), within)
        inside = self._inside(base)
        staying = f"NOT ({inside})" if self.mode == "overwrite" and inside is not None else "true"
        within = None if inside is None else self._rows(base, f"({staying}) AND ({inside})")
        return _standing(head, self._rows(base, staying), within)

    def _inside(self, base: Base) -> str | None:
        """What is true of a table's row in the window, over ``h0``, ``h1`` ...; None: nobody knows."""
        if not has_filter(self.keyed):
            return None
        assert self.keyed is not None
        column, there = str(self.keyed.column), arrow_schema(base.metadata.schema())
        if column not in self.schema.names:
            return None
        if not base.exists or column not in there.names:
            return "false"
        try:
            held = bounds(self.keyed, there, ".".join(base.identifier)).holds(
                self._names(there.names)[column]
            )
        except ConfigError:  # an append whose transforms made something else of the column
            return None
        return f"coalesce({held}, false)"

    def _names(self, there: Sequence[str]) -> dict[str, str]:
        """The columns of the batch that a table has, each as it is called inside."""
        return {name: f"h{at}" for at, name in enumerate(self.schema.names) if name in set(there)}

    def _rows(self, base: Base, condition: str) -> tuple[str, str]:
        """The live rows for which a condition is true, without and with their number."""
        scan = plan_scan(base.metadata, base.io)
        names = self._names(scan.columns)
        inner = scan_sql(self.con, scan, columns=list(names))
        parts = ", ".join(
            f"CAST({names.get(column.name, 'NULL')} AS {duck_type(column.type)}) AS c{at}"
            for at, column in enumerate(self.schema)
        )
        columns = {name: f"c{at}" for at, name in enumerate(self.schema.names)}
        listed = ", ".join(f"{held} AS {ident(name)}" for name, held in columns.items())
        there = f"({inner}) AS t({', '.join(names.values())})"
        numbered = f"(SELECT *, row_number() OVER () - 1 AS n FROM {there})"
        rest = self._not_replaced(columns)
        rows = f"SELECT {parts} FROM {there} WHERE {condition}"
        counted = f"SELECT {parts}, n FROM {numbered} WHERE {condition}"
        return (
            f"SELECT {listed} FROM ({rows}) AS s{rest}",
            f"SELECT {listed}, n AS __row FROM ({counted}) AS s{rest}",
        )

    def _not_replaced(self, columns: dict[str, str]) -> str:
        """An upsert replaces the rows whose key its batch has."""
        if self.mode != "upsert":
            return ""
        keys = ", ".join(f"{ident(key)} AS k{at}" for at, key in enumerate(self.keys))
        same = " AND ".join(
            f"s.{columns[key]} IS NOT DISTINCT FROM b.k{at}" for at, key in enumerate(self.keys)
        )
        return f" ANTI JOIN (SELECT {keys} FROM ({self.batch}) AS r) AS b ON {same}"


def head_of(base: Base) -> int | None:
    """The snapshot that a table shows; None where it has none."""
    snapshot = base.metadata.current_snapshot() if base.exists else None
    return None if snapshot is None else int(snapshot.snapshot_id)


def _standing(head: int | None, rows: tuple[str, str], within: tuple[str, str] | None) -> Standing:
    return Standing(rows[0], head, rows[1], *(within or (None, None)))
