"""A load on its way: what a source offers, what a target makes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi.gates import Standing
    from ldp_core.spi.run import Keyed


class Extract(Protocol):
    """What a source offers to one run: SQL that can be read more than once, with known types."""

    @property
    def sql(self) -> str:
        """A SELECT over ``RunContext.con``; text sources cast in it, guards raise ``error(...)``."""

    @property
    def schema(self) -> pa.Schema:
        """Names and Arrow types as the source has them (``timestamp[ns]``, ``dictionary``, ... included)."""

    @property
    def follows_values(self) -> bool:
        """True for text sources: values are cast to the table's types, the table never widens for them."""

    @property
    def rows(self) -> int | None:
        """Rows in the source, where metadata tells without reading."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files behind it, where they are files."""

    @property
    def rejects(self) -> str | None:
        """A SELECT of the rows of the source that ``sql`` leaves out, to be put aside; None for none.

        Its columns are some of those of the quarantine table (``ldp_core.tables.quarantine``): at least
        ``_ldp_reason``, and for rows that could not be read ``_ldp_file``, ``_ldp_line`` and ``_ldp_raw``.
        """

    def losses(self) -> tuple[Loss, ...]:
        """What the casts in ``sql`` change because the config allows it, counted over the source."""

    def after(self, error: Exception) -> Extract:
        """Answer a DuckDB error met while reading ``sql``.

        Returns:
            An extract with better types (a first load whose candidate types did not hold).

        Raises:
            DriftError: A value cannot be cast; names column, row number and value.
            SourceError: The file is broken; names file and line.
            Exception: ``error`` itself, when it is none of the source's business.
        """


@dataclass(frozen=True)
class Loss:
    """How one column's values changed on the way into the table.

    Attributes:
        column: Dotted name.
        kind: ``ns_to_us``, ``decimal_rescale``, ``dictionary_decoded``, ``uint64_to_decimal``, ...
        source_type: As the source has it.
        target_type: As the table has it.
        changed: Values that are not exactly what they were; 0 for a lossless conversion.
    """

    column: str
    kind: str
    source_type: str
    target_type: str
    changed: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Resolved:
    """An extract fitted to a table.

    Attributes:
        sql: A SELECT that yields the rows in published types and column order, guards included.
        schema: The published Arrow types.
        losses: Conversions, counted (or to be counted while staging, for those the target counts there).
        notes: Lines for the user, such as ``new column tip (double)``.
        state: The target's own.
        marked: Gives for the SQL of the rows the same with one more BOOLEAN column, last: whether a gate is
            going to put the row aside, as far as the row alone tells. What it marks is staged in files of its
            own, so that taking it out rewrites none. None where no such row is expected.
    """

    sql: str
    schema: pa.Schema
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    state: Any = None
    marked: Callable[[str], str] | None = None


@dataclass(frozen=True)
class Staged:
    """Files written and not published.

    Attributes:
        rows: Rows in them, after dedupe.
        rows_in: Rows after the transforms.
        files: How many files.
        bytes: Their size on disk.
        sql: A SELECT of the rows in published names and types.
        ordered_sql: The same with ``__row`` (see ``Batch``).
        losses: The full, counted loss report.
        state: The target's own.
        placed_sql: See ``Batch``.
        quarantined: Rows of ``rows_in`` that were put aside.
    """

    rows: int
    rows_in: int
    files: int
    bytes: int
    sql: str
    ordered_sql: str
    losses: tuple[Loss, ...] = ()
    state: Any = None
    placed_sql: str = ""
    quarantined: int = 0

    @property
    def deduplicated(self) -> int:
        """Rows that ``dedupe`` dropped."""
        return self.rows_in - self.rows - self.quarantined


@dataclass(frozen=True)
class WriteResult:
    """What one publish did to a table or a file.

    Attributes:
        table_identifier: ``namespace.table``, or the path of a file target.
        mode: append, overwrite or upsert.
        rows_written: Rows added or replaced (an upsert leaves equal rows alone).
        rows_before: Rows before it; None where nobody counted.
        rows_after: Rows after it.
        snapshot_id: The snapshot that main points at; None for files.
        rows_unchanged: Upsert: rows that were there already, equal in every column.
        rows_deduplicated: Rows that ``dedupe`` dropped.
        rows_quarantined: Rows that were put into quarantine.
        files: Data files added.
        bytes: Their size.
        losses: The loss report.
        table_uuid: The table; None for files.
    """

    table_identifier: str
    mode: str
    rows_written: int
    rows_before: int | None
    rows_after: int | None
    snapshot_id: int | None
    rows_unchanged: int = 0
    rows_deduplicated: int = 0
    rows_quarantined: int = 0
    files: int = 0
    bytes: int = 0
    losses: tuple[Loss, ...] = ()
    table_uuid: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; the snapshot id is a string, because it passes 2**53."""
        body = {**vars(self), "losses": [loss.to_dict() for loss in self.losses]}
        body["snapshot_id"] = None if self.snapshot_id is None else str(self.snapshot_id)
        return body


class TargetSession(Protocol):
    """One load into one target."""

    @property
    def wanted(self) -> pa.Schema | None:
        """The Arrow types of the table's columns; None where there is no table yet."""

    def tell(
        self,
        *,
        docs: Mapping[str, Any] | None = None,
        allow: Collection[str] = (),
        files: Sequence[str] = (),
        once: bool = False,
    ) -> None:
        """What the config says besides the target; called before ``resolve``, or not at all.

        Args:
            docs: ``metadata.docs``, written with the load.
            allow: Source columns whose values may lose something (``loss: allow``).
            files: Parquet files that are the whole batch, untransformed: they may be taken as they are.
            once: Gates judge the batch, and computed again it may hold other rows or another order.
        """

    def resolve(self, sql: str, schema: pa.Schema, *, follows_values: bool) -> Resolved:
        """Fit rows to the table: order, casts, guards, evolution. Writes nothing.

        Raises:
            DriftError: A type or a column does not fit.
        """

    def stage(self, resolved: Resolved) -> Staged:
        """Write the rows where nobody sees them, in one bounded pass."""

    def without(self, staged: Staged, table: str) -> Staged:
        """Take rows out of what was staged.

        Args:
            staged: The rows.
            table: A table on the run's connection that names them by ``__file`` and ``__pos``, each once.
        """

    def begin_batch(self, keyed: Keyed) -> str:
        """Publish under the key of a run that puts rows aside.

        Returns:
            The name of its batch in the quarantine table: the snapshot that the publish will make.
        """

    def standing(self, staged: Staged) -> Standing:
        """The rows of the target that a publish would leave beside those that were staged."""

    def publish(
        self,
        staged: Staged,
        summary: Mapping[str, str],
        again: Callable[[Callable[[], Standing]], None] | None = None,
    ) -> WriteResult:
        """Make them visible in one step.

        Args:
            staged: The rows.
            summary: Goes into the snapshot.
            again: Called before a commit on another state of the target than ``standing`` told of last, with
                what tells of this one; what it raises ends the publish.
        """

    def keep(self, staged: Staged, summary: Mapping[str, str]) -> str | None:
        """Keep rows that a gate blocked where they can be looked at: the branch, or None."""

    def discard(self) -> None:
        """Delete whatever this session wrote and did not publish; safe to call at any time, twice too."""
