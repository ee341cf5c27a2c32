"""Overwrite of a window: its rows are replaced, all others stay.

A file whose rows are all the window's is dropped; one that holds some of them is written again without
them (copy-on-write); the metrics in the manifests say which files need not be looked at. A row without a
value is in no window and stays. After a lost race the change is made anew on the new head, and what was
written again is used again where the same files are concerned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ldp_core._duck import ident
from ldp_core.commit.change import Base, Change
from ldp_core.commit.summaries import REPLACED
from ldp_core.errors import LDPError
from ldp_core.spi import Keyed, Staged
from ldp_core.tables.scan import plan_scan, scan_sql
from ldp_core.tables.scan_count import live_count
from ldp_core.tables.types import arrow_schema, duck_type
from ldp_core.tables.window_rows import Bounds, bounds, reach
from ldp_core.targets._changes import Plan, live_files
from ldp_core.targets._reconcile import prove_rewrite

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema

    from ldp_core.tables.scan import Scan
    from ldp_core.tables.write import Written


@dataclass(frozen=True)
class Replaced:
    """What an overwrite of a window did to the rows that were there.

    Attributes:
        rows: The rows of the window, which are gone.
    """

    rows: int


def check_columns(keyed: Keyed, schema: pa.Schema, missing: Sequence[str], table: str) -> None:
    """Make sure that the rows of a window can be told in the table.

    Args:
        keyed: The window and its column.
        schema: The columns that are written, in the table's types.
        missing: Columns of the table that the rows do not have.
        table: For messages.

    Raises:
        ConfigError: The table, or what is written into it, has no such column, or another type.
    """
    column = str(keyed.column)
    there = schema if column not in missing else schema.remove(schema.get_field_index(column))
    bounds(keyed, there, f"the rows for {table}, so an overwrite cannot find the rows of the window")


def check_rows(plan: Plan, staged: Staged, keyed: Keyed) -> None:
    """Make sure that the rows which replace a window are the window's, so that it can be replaced again.

    Raises:
        LDPError: Some are not: a transform moved them.
    """
    schema = arrow_schema(plan.layout.schema)
    window, column = bounds(keyed, schema), plan.layout.schema.find_field(str(keyed.column))
    if all(reach(file, column, window) == "inside" for file in staged.state.files):
        return
    held = window.holds(ident(column.name))
    outside = f"SELECT count(*) FROM ({staged.sql}) AS b WHERE NOT coalesce({held}, false)"
    count = int(plan.ctx.con.execute(outside).fetchall()[0][0])
    if count:
        raise LDPError(
            f"{count} of {staged.rows} rows are not in the window by {column.name!r} after the transforms; "
            "an overwrite would leave them there twice when the window is loaded again",
            hint="keep metadata.window.column as the source has it, or overwrite without a window column",
        )


@dataclass
class WindowOverwrite:
    """Builds the change for each base that a publish meets.

    Attributes:
        plan: How the load writes.
        staged: The rows of the window.
        keyed: The window and its column.
        folder: Where files that are written again go.
    """

    plan: Plan
    staged: Staged
    keyed: Keyed
    folder: str
    _written: dict[tuple[Any, ...], Written] = field(default_factory=dict)

    def change(self, base: Base) -> Change:
        """The staged files instead of the rows that the base has in the window.

        Raises:
            TableChanged: The table changed so that the staged files do not fit.
        """
        updates, schema_id, properties = self.plan.evolution(base, rewrites=True)
        old = _Old.of(self.plan.ctx.con, base, self.keyed)
        added: tuple[DataFile, ...] = self.staged.state.files
        removed: tuple[DataFile, ...] = ()
        gone = 0
        if old is not None:
            added = (*added, *self._rest(old))
            removed = (*old.inside, *old.astride)
            gone = old.rows()
        told, info = {REPLACED: "window"}, Replaced(gone)
        return Change("overwrite", added, removed, updates, schema_id, told, properties, info=info)

    def _rest(self, old: _Old) -> tuple[DataFile, ...]:
        """The files astride, written again without the rows of the window."""
        if not old.astride:
            return ()
        key = old.identity()
        if key not in self._written:
            written = self.plan.write(old.rest_sql(self.plan.layout.schema), self.folder)
            prove_rewrite(written.files, old.staying(), 0, old.table)
            self._written[key] = written
        return self._written[key].files


@dataclass(frozen=True)
class _Old:
    """What a table holds of a window.

    Attributes:
        inside: Files of which every row is the window's.
        astride: Files that hold rows of the window, and may hold others.
    """

    con: DuckDBPyConnection
    table: str
    scan: Scan
    column: str
    window: Bounds
    inside: tuple[DataFile, ...]
    astride: tuple[DataFile, ...]

    @classmethod
    def of(cls, con: DuckDBPyConnection, base: Base, keyed: Keyed) -> _Old | None:
        """Look at a base; None where it has no rows, or no such column: all its rows have no value there."""
        schema, column = base.metadata.schema(), str(keyed.column)
        field = next((field for field in schema.fields if field.name == column), None)
        if field is None or base.metadata.current_snapshot() is None:
            return None
        table = ".".join(base.identifier)
        window = bounds(keyed, arrow_schema(schema), table)
        files: dict[str, list[DataFile]] = {"inside": [], "astride": [], "outside": []}
        for file in live_files(base):
            files[reach(file, field, window)].append(file)
        old = cls(con, table, plan_scan(base.metadata, base.io), column, window, tuple(files["inside"]), ())
        holding = old._holding(files["astride"])
        return replace(old, astride=tuple(file for file in files["astride"] if file.file_path in holding))

    def rows(self) -> int:
        """The rows of the window, those that were deleted before not counted."""
        return live_count(self.con, self.scan, _paths(self.inside)) + self._count(self.astride)

    def staying(self) -> int:
        """The rows of the files astride that are not the window's."""
        return live_count(self.con, self.scan, _paths(self.astride)) - self._count(self.astride)

    def identity(self) -> tuple[Any, ...]:
        """What the rows that stay of the files astride depend on."""
        deletes = {file.path: file.deletes for file in self.scan.files}
        names = [delete.path for delete in self.scan.deletes]
        return tuple(
            (file.file_path, tuple(sorted(names[at] for at in deletes[file.file_path])))
            for file in self.astride
        )

    def rest_sql(self, schema: Schema) -> str:
        """The rows of the files astride that are not the window's, in the columns of a schema."""
        wanted = arrow_schema(schema)
        have = [name for name in wanted.names if name in self.scan.columns]
        inner = scan_sql(self.con, self.scan, columns=have, files=_paths(self.astride))
        held = {name: f"h{number}" for number, name in enumerate(have)}
        parts = [
            f"CAST({held.get(column.name, 'NULL')} AS {duck_type(column.type)}) AS {ident(column.name)}"
            for column in wanted
        ]
        gone = self.window.holds(held[self.column])
        return (
            f"SELECT {', '.join(parts)} FROM ({inner}) AS t({', '.join(held.values())}) "
            f"WHERE NOT coalesce({gone}, false)"
        )

    def _holding(self, files: Sequence[DataFile]) -> set[str]:
        """Those of some files that hold a row of the window; deletion vectors hide where a row stands."""
        if not files or any(delete.kind == "vector" for delete in self.scan.deletes):
            return set(_paths(files))
        inner = scan_sql(self.con, self.scan, columns=[self.column], files=_paths(files), position=True)
        found = self.con.execute(
            f"SELECT DISTINCT f FROM ({inner}) AS t(c, f, p) WHERE {self.window.holds('c')}"
        ).fetchall()
        return {str(row[0]) for row in found}

    def _count(self, files: Sequence[DataFile]) -> int:
        if not files:
            return 0
        inner = scan_sql(self.con, self.scan, columns=[self.column], files=_paths(files))
        sql = f"SELECT count(*) FROM ({inner}) AS t(c) WHERE {self.window.holds('c')}"
        return int(self.con.execute(sql).fetchall()[0][0])


def _paths(files: Sequence[DataFile]) -> list[str]:
    return [file.file_path for file in files]
