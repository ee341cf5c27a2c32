"""A batch as the source of a run: some of its rows go through the gate, the others stay put aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core._duck import ident
from ldp_core.errors import LDPError, Problem, UsageError
from ldp_core.shape import Shape
from ldp_core.spi import Extract, Keyed, RunContext, Spec
from ldp_core.tables import quarantine as q
from ldp_core.tables.fit import fit
from ldp_core.tables.window_rows import condition, has_filter

from ldp_quality.quarantine.corrected import Corrected, opened
from ldp_quality.quarantine.extract import BatchExtract
from ldp_quality.quarantine.fixed import TABLE, Fixed, load_fixed
from ldp_quality.quarantine.stored import NOTES, UNREAD, Stored, stored

if TYPE_CHECKING:
    import pyarrow as pa
    from ldp_core.commit.change import Base

_NOTHING = Shape(keys=())


@dataclass(frozen=True)
class BatchSource:
    """The rows of one batch, as a source.

    Attributes:
        base: The quarantine table.
        batch: The name of the batch.
        unread: How many of its rows could not be read.
        keyed: The window of the batch, with the column that selects its rows.
        rows: Corrected rows: a file or a table. None takes the rows as they are stored.
        corrected: A corrected source file, in place of the rows that could not be read.
    """

    base: Base
    batch: str
    unread: int
    keyed: Keyed
    rows: Any = None
    corrected: Corrected | None = None
    shape = _NOTHING

    def problems(self, spec: Spec) -> list[Problem]:
        """None."""
        return []

    def describe(self, spec: Spec) -> str:
        """The batch."""
        return f"batch {self.batch}"

    def missing(self, spec: Spec) -> str | None:
        """It is there."""
        return None

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """The rows that go through the gate, in the types of the table; the others are its rejects.

        Raises:
            UsageError: No row would go through the gate, or the corrected rows are not those of the batch.
            LDPError: A row was corrected out of the window of the batch.
        """
        import pyarrow as pa

        if wanted is None:
            raise UsageError(f"the table of batch {self.batch} does not exist")
        kept = stored(ctx.con, self.base, {self.batch})
        fixed = None if self.rows is None else load_fixed(ctx, self.rows, kept)
        if fixed is not None:
            self._in_window(ctx, kept, fixed)
        self._without_place(ctx, kept, wanted)
        columns = [field for field in kept.schema if field.name in wanted.names]
        again = _again(kept, fixed)
        listed = ", ".join(ident(field.name) for field in columns)
        fitted = fit(
            f"SELECT {listed} FROM ({again}) AS a", pa.schema(columns), wanted, schema_evolution=False
        )
        count = int(ctx.con.execute(f"SELECT count(*) FROM ({again})").fetchall()[0][0])
        extract = BatchExtract(fitted.sql, wanted, _carried(kept, fixed, self.corrected), count)
        if self.corrected is not None:
            return opened(self.corrected, extract, ctx, _lines(ctx, kept, fixed))
        if not count:
            hint = "give a corrected file of its source: --source FILE" if self.unread else None
            raise UsageError(f"no row of batch {self.batch} can go through the gate again", hint=hint)
        return extract

    def _without_place(self, ctx: RunContext, kept: Stored, wanted: pa.Schema) -> None:
        """A line for each column whose values have no place in the table any more."""
        for name in kept.schema.names:
            held = f"SELECT count({ident(name)}) FROM ({kept.sql})"
            if name not in wanted.names and ctx.con.execute(held).fetchall()[0][0]:
                ctx.warn(f"column {name!r} of batch {self.batch} is not in the table any more: left out")

    def _in_window(self, ctx: RunContext, kept: Stored, fixed: Fixed) -> None:
        """Refuse rows that were corrected out of the window: a replacement of it would not find them."""
        column = str(self.keyed.column)
        if not has_filter(self.keyed) or column not in fixed.columns:
            return
        holds = condition(self.keyed, kept.schema, "the table")
        now, then = (f"coalesce({holds.replace(ident(column), f'{a}.{ident(column)}')}" for a in "ns")
        out = ctx.con.execute(
            f"SELECT min(n.{q.ROW}) FROM {TABLE} AS n JOIN ({kept.sql}) AS s USING ({q.ROW}) "
            f"WHERE NOT {now}, false) AND {then}, true)"
        ).fetchall()[0][0]
        if out is not None:
            raise LDPError(
                f"{fixed.label}: row {out} is not in the window of the batch by {column!r}",
                hint="a row of another window goes into that one: correct it in the source",
            )


def _lines(ctx: RunContext, kept: Stored, fixed: Fixed | None) -> int:
    """How many lines the rows that could not be read are, without those that were corrected."""
    done = "" if fixed is None else f" AND {q.ROW} NOT IN (SELECT {q.ROW} FROM {TABLE})"
    ends = f"length(regexp_replace(rtrim({q.RAW}, chr(10) || chr(13)), '[^\\r\\n]', '', 'g'))"
    sql = f"SELECT coalesce(sum(1 + coalesce({ends}, 0)), 0) FROM ({kept.sql}) AS s WHERE {UNREAD}{done}"
    return int(ctx.con.execute(sql).fetchall()[0][0])


def _again(kept: Stored, fixed: Fixed | None) -> str:
    """The stored rows that go through the gate, corrected where they were."""
    if fixed is None:
        return f"SELECT * FROM ({kept.sql}) AS s WHERE NOT {UNREAD}"
    columns = ", ".join(
        f"{'n' if name in fixed.columns else 's'}.{ident(name)} AS {ident(name)}"
        for name in kept.schema.names
    )
    return f"SELECT {columns} FROM ({kept.sql}) AS s JOIN {TABLE} AS n USING ({q.ROW})"


def _carried(kept: Stored, fixed: Fixed | None, corrected: Corrected | None) -> str:
    """The stored rows that stay put aside, with what is wrong with them."""
    stays = UNREAD if fixed is None else f"{q.ROW} NOT IN (SELECT {q.ROW} FROM {TABLE})"
    read = f" AND NOT {UNREAD}" if corrected is not None else ""
    columns = ", ".join([*(ident(name) for name in kept.schema.names), *NOTES])
    return f"SELECT {columns} FROM ({kept.sql}) AS k WHERE {stays}{read}"
