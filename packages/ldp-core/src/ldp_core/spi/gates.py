"""Gates: what judges the rows before anybody can read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from ldp_core.spi.spec import Spec

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


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
    """

    con: DuckDBPyConnection
    sql: str
    schema: pa.Schema
    rows: int
    source_rows: int
    ordered_sql: str
    now: datetime
    on_failure: str | None = None


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
