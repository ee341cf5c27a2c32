"""Gates: what judges the rows before anybody can read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from ldp_core.spi.spec import Spec

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Standing:
    """The rows of the target that a publish of a batch would leave beside it.

    Attributes:
        sql: A SELECT of them over ``Batch.con``, in the columns and types of the batch.
        snapshot: The snapshot of the table that they are of; None where it has none.
        ordered_sql: The same rows with one more column ``__row`` (BIGINT): a number for each that stays the
            same from read to read, and says nothing else.
        window_sql: Those of them that are in the window of the run; None where it has none that rows show.
        window_ordered_sql: The same with ``__row``.
    """

    sql: str
    snapshot: int | None
    ordered_sql: str = ""
    window_sql: str | None = None
    window_ordered_sql: str | None = None


@dataclass(frozen=True)
class Batch:
    """The rows that would be published, for gates to judge: written, not yet visible.

    Attributes:
        con: A DuckDB connection that can read it.
        sql: A SELECT of the rows in published names and types; may be read many times.
        schema: Their Arrow types.
        rows: How many.
        source_rows: Rows of the source (inside the window, when there is one).
        ordered_sql: The same rows with one more column ``__row`` (BIGINT, from 0, the order of the input).
        now: The moment that freshness is measured against.
        on_failure: What a failure does in this run, above what configs and rules say; None leaves it to them.
        placed_sql: The rows of ``sql`` with two more columns, the last ones, that name each row: ``__file``
            (VARCHAR) and ``__pos`` (BIGINT, no order of the input), with more underscores before them where a
            column of the rows is called so; empty where rows cannot be put aside.
        standing: The rows of the target that would stand beside these; None where there is no target to look
            into.
        partial: They are a part of what an earlier run loaded: rows that come back from the quarantine.
    """

    con: DuckDBPyConnection
    sql: str
    schema: pa.Schema
    rows: int
    source_rows: int
    ordered_sql: str
    now: datetime
    on_failure: str | None = None
    placed_sql: str = ""
    standing: Callable[[], Standing] | None = None
    partial: bool = False


@dataclass(frozen=True)
class Apart:
    """Rows of a batch that are put aside, into the quarantine table, while the others are published.

    Attributes:
        table: A temporary table on ``Batch.con`` with one line a row: ``__file`` and ``__pos`` as in
            ``Batch.placed_sql``, ``rules`` (VARCHAR[], the labels of the rules it breaks) and ``reason``
            (VARCHAR).
        rows: Its lines.
        primary_key: The columns that name a row to people; empty where nobody said.
    """

    table: str
    rows: int
    primary_key: tuple[str, ...] = ()


class Report(Protocol):
    """What a gate found, in its own words."""

    def summary(self) -> str:
        """Lines for a person."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""


@dataclass(frozen=True)
class Verdict:
    """What a gate decided.

    Attributes:
        passed: Nothing failed.
        blocks: The batch must not be published.
        report: Everything it found; may hold sample rows.
        evaluated: The same without rows or values, for events.
        apart: Rows that are not to be published with the others.
        of_table: The verdict rests on what stood in the target, too: judge again when that changes.
    """

    passed: bool
    blocks: bool
    report: Report
    evaluated: Mapping[str, Any] = field(default_factory=dict)
    apart: Apart | None = None
    of_table: bool = False


class PreparedGate(Protocol):
    """A gate for one run."""

    @property
    def checks(self) -> int:
        """How many checks it will make."""

    @property
    def max_share(self) -> float:
        """The share of the rows (0 to 1) that may be put aside, by the source too; the run fails above it."""

    def judge(self, batch: Batch) -> Verdict:
        """Judge the rows that would be published."""


class Marks(Protocol):
    """What a prepared gate may do besides: it knows a row that it will put aside before any is written."""

    def marked(
        self, con: DuckDBPyConnection, schema: pa.Schema, on_failure: str | None
    ) -> Callable[[str], str] | None:
        """See ``Resolved.marked``; None where no rule puts a row aside for what is in it.

        Args:
            con: The connection that will read the rows.
            schema: Their columns.
            on_failure: See ``Batch``.
        """


class Gate(Protocol):
    """A kind of gate, registered in ``ldp.gates`` under the name of its section."""

    def prepare(self, section: Any, spec: Spec) -> PreparedGate:
        """Read the section (already validated) once, before the source is opened."""
