"""The Protocols and value types that cross packages. Imports nothing heavy.

One run goes: ``Source.open`` gives an ``Extract`` (SQL over the run's DuckDB connection), transforms wrap
it, ``TargetSession.resolve`` fits it to the table, ``TargetSession.stage`` writes files nobody can see yet,
gates judge the ``Batch``, ``TargetSession.publish`` makes it visible in one step or ``discard`` deletes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ldp_core.clock import Clock, system_clock
from ldp_core.errors import Problem
from ldp_core.shape import Shape

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog


@dataclass(frozen=True)
class Spec:
    """One plugin's part of a config, already checked against its shape.

    Attributes:
        values: The mapping as written (aliases resolved, defaults not filled in).
        base_dir: The folder that relative paths start from.
        key: Its dotted place in the config, for messages: ``metadata.source``.
        file: The config file as the user named it, for messages.
    """

    values: Mapping[str, Any]
    base_dir: Path
    key: str = ""
    file: str | None = None

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self.values.get(name, default)

    def path(self, text: str) -> str:
        """A path or URI: one with a scheme is kept, a relative path starts at ``base_dir``."""
        if "://" in text:
            return text
        return str(Path(self.base_dir, Path(text).expanduser()))

    def sub(self, name: str) -> Spec:
        """The spec of a nested object, such as ``catalog``."""
        return Spec(self.values.get(name) or {}, self.base_dir, f"{self.key}.{name}", self.file)


class Progress(Protocol):
    """What a long step tells of itself; the command line draws it, Python ignores it."""

    def step(
        self, what: str, *, total_bytes: int | None = None, total_rows: int | None = None
    ) -> AbstractContextManager[Callable[[int, int], None]]:
        """Begin a step; the yielded function takes (rows so far, bytes so far)."""


@dataclass(frozen=True)
class RunContext:
    """What every step of one run shares.

    Attributes:
        con: The run's DuckDB connection (bounded memory, spills into ``scratch``).
        base_dir: The config's folder.
        scratch: A folder of this run alone; removed when the run ends.
        run_id: uuid7 or any text.
        attempt: From 1.
        clock: The time.
        progress: Where long steps report.
        warn: Takes one line for the user; collected in the result, printed by the command.
        strict: ``--strict``: what would be a warning about data is an error.
    """

    con: DuckDBPyConnection
    base_dir: Path
    scratch: Path
    run_id: str
    attempt: int
    progress: Progress
    warn: Callable[[str], None]
    clock: Clock = system_clock
    strict: bool = False


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


class Source(Protocol):
    """A kind of source, registered in ``ldp.sources`` under the word of ``format``."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say. Reads nothing; keys are relative to the spec: ``columns.fare``.

        Parts that the shape refuses are left out of the spec, even required ones.
        """

    def describe(self, spec: Spec) -> str:
        """A few words for ``plan``: the path, the query, the table."""

    def missing(self, spec: Spec) -> str | None:
        """Why the source cannot be read at present (an absent file), or None. Looks, does not open."""

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Open for reading.

        Args:
            spec: The ``metadata.source`` of a config.
            ctx: The run.
            wanted: The types that the target's columns have (only when no transform stands between);
                text sources cast to them, typed sources ignore it.
        """


class Transform(Protocol):
    """A kind of transform, registered in ``ldp.transforms`` under its key."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say."""

    def apply(self, spec: Spec, sql: str, schema: pa.Schema, ctx: RunContext) -> tuple[str, pa.Schema]:
        """Wrap the SQL of the rows so far; returns the new SQL and its Arrow schema."""


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
    """

    sql: str
    schema: pa.Schema
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    state: Any = None


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
    """

    con: DuckDBPyConnection
    sql: str
    schema: pa.Schema
    rows: int
    source_rows: int
    ordered_sql: str
    now: datetime


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
    """

    rows: int
    rows_in: int
    files: int
    bytes: int
    sql: str
    ordered_sql: str
    losses: tuple[Loss, ...] = ()
    state: Any = None


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
        files: Data files added.
        bytes: Their size.
        losses: The loss report.
    """

    table_identifier: str
    mode: str
    rows_written: int
    rows_before: int | None
    rows_after: int | None
    snapshot_id: int | None
    rows_unchanged: int = 0
    rows_deduplicated: int = 0
    files: int = 0
    bytes: int = 0
    losses: tuple[Loss, ...] = ()

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

    def publish(self, staged: Staged, summary: Mapping[str, str]) -> WriteResult:
        """Make them visible in one step. ``summary`` goes into the snapshot."""

    def discard(self) -> None:
        """Delete whatever this session wrote and did not publish; safe to call at any time, twice too."""


@dataclass(frozen=True)
class TargetInfo:
    """What ``plan`` says of a target.

    Attributes:
        name: ``nyc.rides`` or a path.
        mode: The write mode that holds.
        catalog: The catalog's kind, for tables.
        exists: Whether it is there; None where nobody looked.
        rows: Rows in it, where metadata tells.
        snapshot_id: The current snapshot.
        notes: Lines for the user.
    """

    name: str
    mode: str
    catalog: str | None = None
    exists: bool | None = None
    rows: int | None = None
    snapshot_id: int | None = None
    notes: tuple[str, ...] = ()


class Target(Protocol):
    """A kind of target, registered in ``ldp.targets`` under the word of ``format``."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say; see ``Source.problems``. Reads nothing."""

    def describe(self, spec: Spec, mode: str | None = None) -> TargetInfo:
        """For ``plan``: peeks at metadata, creates nothing, imports nothing heavy for local catalogs."""

    def open(self, spec: Spec, ctx: RunContext, mode: str | None = None) -> TargetSession:
        """Begin a load; ``mode`` overrides the config's ``write_mode``."""


class CatalogProvider(Protocol):
    """A kind of catalog, registered in ``ldp.catalogs`` under the word of ``type``."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say (a password in a URI)."""

    def namespace(self, spec: Spec) -> str:
        """The namespace of the config's table."""

    def open(self, spec: Spec, *, create: bool) -> Catalog:
        """A pyiceberg catalog.

        Args:
            spec: The ``catalog`` of a config.
            create: Whether folders, the SQLite file and its tables may be made.

        Raises:
            TableNotFound: ``create`` is false and there is no catalog.
            CatalogError: It cannot be reached.
        """


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
    """

    passed: bool
    blocks: bool
    report: Report
    evaluated: Mapping[str, Any] = field(default_factory=dict)


class PreparedGate(Protocol):
    """A gate for one run."""

    @property
    def checks(self) -> int:
        """How many checks it will make."""

    def judge(self, batch: Batch) -> Verdict:
        """Judge the rows that would be published."""


class Gate(Protocol):
    """A kind of gate, registered in ``ldp.gates`` under the name of its section."""

    def prepare(self, section: Any, spec: Spec) -> PreparedGate:
        """Read the section (already validated) once, before the source is opened."""


class Section(Protocol):
    """A part of a config's ``metadata``, registered in ``ldp.sections`` under its key."""

    shape: Any
    """A ``ldp_core.shape.Type``."""
    hashed: bool
    """Whether it is part of the spec hash."""

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """What the shape cannot say; ``spec`` is the whole metadata. Keys are relative to the section.

        Parts that the shape refuses are left out of the value, even required ones.
        """

    def canonical(self, value: Any, spec: Spec) -> Any:
        """The value as it is hashed."""

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """Lines (label, text) for ``plan``."""


class EventSink(Protocol):
    """Where events go, registered in ``ldp.event_sinks``."""

    shape: Shape

    def open(self, spec: Spec) -> Callable[[Mapping[str, Any]], None]:
        """A function that takes one event; it may raise, the run logs a warning and goes on."""


@dataclass(frozen=True)
class DoctorLine:
    """One finding of ``ldp doctor``.

    Attributes:
        ok: Whether it is as it should be.
        what: What was looked at.
        found: What was found.
        fix: The exact command or edit that mends it.
    """

    ok: bool
    what: str
    found: str
    fix: str | None = None
