"""What a check asks for before it judges, and what it is told.

A check compiles to a ``Plan``; an ``Executor`` answers the questions in it; the plan's ``finish`` turns the
answers into a result. Nothing here knows an engine: one executor for DuckDB stands in ``executor``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ldp_core.spi import Spec

from ldp_quality.expr import Aggregate, Holds, Predicate, Value
from ldp_quality.history import History
from ldp_quality.kinds import Kind
from ldp_quality.references import Reference
from ldp_quality.result import CheckResult

if TYPE_CHECKING:
    from ldp_quality.detectors import Detector

SAMPLES = 5
"""How many rows, keys or values a failed check shows."""


FIRST, NONE = "first", "none"
KEEPS = (FIRST, NONE)
"""Which row of a repeated key stays where the others are put aside."""


class CannotEvaluate(Exception):
    """An engine could not answer a question about the data; the text says why."""


@dataclass(frozen=True)
class Context:
    """What checks may know besides the rows.

    Attributes:
        now: The moment that freshness is measured against; None for the present one.
        source_rows: Rows of the source; None where nobody knows.
        base_dir: Where relative paths in checks start; None for the working folder.
        catalog: The catalog of the run's own target.
        history: Earlier runs of the dataset; None where nobody knows of any.
        where: The condition of the rule that is judged.
    """

    now: datetime | None = None
    source_rows: int | None = None
    base_dir: Path | None = None
    catalog: Spec | None = None
    history: History | None = None
    where: str | None = None


@dataclass(frozen=True)
class Hit:
    """One row that breaks a check.

    Attributes:
        row: Its number in the input, from 0.
        shown: What the plan asked to see of it.
    """

    row: int
    shown: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Keys:
    """Rows that share a key; a row with a null in the key has none.

    Attributes:
        columns: The key.
        keep: Which row of a key is not at fault: the ``first`` in the order of the input, or ``none``.
    """

    columns: tuple[str, ...]
    keep: str = FIRST


@dataclass(frozen=True)
class KeyCounts:
    """The answer to ``Keys``.

    Attributes:
        distinct: Different keys.
        repeated: Keys that stand in more than one row.
        repeated_rows: Rows that hold these.
        sample: The repeated keys that come first in the input, each with its rows; the values as JSON.
        hits: The first rows that hold a repeated key.
        among: What else keys were compared with: the ``table`` or the ``window``; empty for nothing. Rows of
            the batch alone are counted, and a key that stands there is a repeated one.
        taken: Keys that stand there.
        taken_rows: Rows of the batch that hold these.
    """

    distinct: int
    repeated: int
    repeated_rows: int
    sample: tuple[tuple[tuple[Any, ...], int], ...] = ()
    hits: tuple[Hit, ...] = ()
    among: str = ""
    taken: int = 0
    taken_rows: int = 0


@dataclass(frozen=True)
class Steps:
    """From each row to the next within its group; rows without a value, or with NaN, do not take part.

    Attributes:
        column: The value that is compared with the one before.
        group_by: Rows with equal values here (nulls are equal) make a group.
        order_by: Columns that put the rows in order, before the order of the input.
        at_least: A step is broken where the value is not at least the one before (``strict``: above it).
        strict: See ``at_least``.
        gap_over: A step is broken where the ticks of the column grow by more than this.
    """

    column: str
    group_by: tuple[str, ...] = ()
    order_by: tuple[str, ...] = ()
    strict: bool = False
    gap_over: int | None = None


@dataclass(frozen=True)
class StepCounts:
    """The answer to ``Steps``.

    Attributes:
        checked: Rows with a value.
        groups: Groups with at least one.
        broken: Steps that are broken.
        largest: The largest step in ticks, where gaps were asked for; None without steps.
        hits: The first broken steps, each with its value and the one before.
    """

    checked: int
    groups: int
    broken: int
    largest: int | None = None
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Rates:
    """How often a boolean column is true in each group, of the rows where it is not null.

    Attributes:
        column: The boolean column.
        group_by: What makes a group (nulls are equal).
        numerator: A group is over when its rate is above ``numerator / denominator``.
        denominator: See ``numerator``.
    """

    column: str
    group_by: tuple[str, ...]
    numerator: int
    denominator: int


@dataclass(frozen=True)
class RateCounts:
    """The answer to ``Rates``.

    Attributes:
        groups: How many groups have a value.
        over: How many are over the limit.
        true_over: True rows in these.
        highest: The highest rate; None without values.
        sample: The groups with the highest rates over the limit: key as JSON, true rows, rows with a value.
        hits: The first true rows of groups over the limit.
    """

    groups: int
    over: int
    true_over: int
    highest: float | None
    sample: tuple[tuple[tuple[Any, ...], int, int], ...] = ()
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Absent:
    """Keys that another table does not have; a row with a null in the key has none.

    Attributes:
        columns: The key.
        to: The other table and its columns.
        base_dir: Where a relative path of ``to`` starts.
        catalog: The catalog for a table's name.
    """

    columns: tuple[str, ...]
    to: Reference
    base_dir: Path | None = None
    catalog: Spec | None = None


@dataclass(frozen=True)
class AbsentCounts:
    """The answer to ``Absent``.

    Attributes:
        keys: Different keys that are absent.
        rows: Rows that hold these.
        snapshot: The snapshot of the other table that was looked into.
        hits: The first of these rows.
    """

    keys: int
    rows: int
    snapshot: str | None = None
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Outliers:
    """Values of a numeric column that lie far from the mean; nulls and NaN do not take part.

    Attributes:
        column: The column.
        sigma: How many sample standard deviations are too far.
        past: The mean and the standard deviation to compare with; None for those of the rows' finite values.
        min_rows: With fewer values, and without a past, nothing is an outlier.
    """

    column: str
    sigma: float
    past: tuple[float, float] | None = None
    min_rows: int = 2


@dataclass(frozen=True)
class OutlierCounts:
    """The answer to ``Outliers``.

    Attributes:
        values: Rows with a value.
        mean: What they were compared with; None where there are too few, or another detector looked.
        stddev: See ``mean``.
        rows: Rows that lie too far.
        hits: The first of these.
        known: Whether there were enough rows to know what is usual.
    """

    values: int
    mean: float | None = None
    stddev: float | None = None
    rows: int = 0
    hits: tuple[Hit, ...] = ()
    known: bool = True


@dataclass(frozen=True)
class Scan:
    """Rows that a detector finds unlike the others; the answer is ``OutlierCounts``.

    Attributes:
        columns: What it looks at.
        detector: The detector.
    """

    columns: tuple[str, ...]
    detector: Detector


@dataclass(frozen=True)
class Scalar:
    """A query of the user over the rows, already guarded (see ``statement``), that gives one number or truth.

    Attributes:
        sql: In DuckDB's dialect.
        table: What it calls the rows.
    """

    sql: str
    table: str


@dataclass(frozen=True)
class ScalarValue:
    """The answer to ``Scalar``.

    Attributes:
        value: A finite number, true or false.
        hits: None: no single row is to blame.
    """

    value: Any
    hits: tuple[Hit, ...] = ()


Question: TypeAlias = Keys | Steps | Rates | Absent | Outliers | Scan | Scalar
Answer: TypeAlias = KeyCounts | StepCounts | RateCounts | AbsentCounts | OutlierCounts | ScalarValue


@dataclass(frozen=True)
class Search:
    """The first rows of a kind.

    Attributes:
        where: Which rows.
        shown: What to see of each besides its number.
        count: How many there are in all, where that is known.
    """

    where: Predicate
    shown: tuple[Value, ...] = ()
    count: int | None = None


@dataclass(frozen=True)
class Facts:
    """The answers to one plan.

    Attributes:
        rows: All rows.
        values: The plan's aggregates, by name.
        bad: Bad rows.
        answer: To the plan's question.
        hits: The first bad rows, once the check is known to fail.
        distinct: Different bad values in the order of the input, once the check is known to fail.
    """

    rows: int
    values: Mapping[str, Any] = field(default_factory=dict)
    bad: int = 0
    answer: Any = None
    hits: tuple[Hit, ...] = ()
    distinct: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What a check asks.

    Attributes:
        finish: Judges; called again with ``hits`` and ``distinct`` when the first verdict is a failure.
        aggregates: Answered for all checks together in one pass over the rows.
        bad: A bad row; counted in the same pass, sampled when the check fails.
        shown: What ``finish`` wants to see of the sampled rows.
        distinct: A column whose different values in bad rows ``finish`` wants to see.
        question: Needs a pass of its own.
    """

    finish: Callable[[Facts], CheckResult]
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    bad: Predicate | None = None
    shown: tuple[Value, ...] = ()
    distinct: str | None = None
    question: Question | None = None


class Executor(Protocol):
    """An engine that answers plans about one set of rows. Each method may raise ``CannotEvaluate``."""

    @property
    def columns(self) -> Mapping[str, Kind]:
        """The columns in their order."""
        ...

    def narrowed(self, scope: Holds) -> Executor:
        """Only the rows for which a condition of the user is true; they keep their numbers."""
        ...

    def aggregate(self, wanted: Sequence[Aggregate]) -> list[Any]:
        """All aggregates in one pass; temporal values as ticks."""
        ...

    def first(self, searches: Sequence[Search]) -> list[tuple[Hit, ...]]:
        """The first ``SAMPLES`` rows of each search, in input order, in one pass."""
        ...

    def distinct(self, column: str, where: Predicate) -> tuple[Any, ...]:
        """The first ``SAMPLES`` different values of a column, in input order, as JSON."""
        ...

    def answer(self, question: Question) -> Answer:
        """Answer a question in a pass of its own."""
        ...

    def rows(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Whole rows by their number, as JSON."""
        ...
