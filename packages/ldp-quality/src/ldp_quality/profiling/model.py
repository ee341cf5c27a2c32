"""A profile: what the rows show of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ldp_quality import kinds
from ldp_quality._values import json_value
from ldp_quality.kinds import Kind
from ldp_quality.profiling.patterns import Pattern


@dataclass(frozen=True)
class ColumnProfile:
    """What the rows show of one column.

    Attributes:
        name: The column.
        type: Its DuckDB type.
        kind: What its values can be compared with.
        rows: All rows.
        nulls: Rows without a value; NaN is a value.
        distinct: Different values; None for nested types.
        exact: Whether ``distinct`` is counted, and not estimated.
        min: The smallest value, NaN and infinite moments aside; temporal ones as text.
        max: The largest.
        newest_ns: The largest value of a date or a timestamp, in nanoseconds since 1970.
        mean: The mean of the finite numbers.
        stddev: Their standard deviation (of a sample).
        nans: Values that are no number.
        min_length: Characters of the shortest text.
        max_length: Characters of the longest.
        pattern: What every text looks like.
        values: All values with their counts where they are few, the most frequent first.
    """

    name: str
    type: str
    kind: Kind
    rows: int
    nulls: int
    distinct: int | None = None
    exact: bool = False
    min: Any = None
    max: Any = None
    newest_ns: int | None = None
    mean: float | None = None
    stddev: float | None = None
    nans: int = 0
    min_length: int | None = None
    max_length: int | None = None
    pattern: Pattern | None = None
    values: Mapping[Any, int] | None = None

    @property
    def count(self) -> int:
        """Rows with a value."""
        return self.rows - self.nulls

    @property
    def unique(self) -> bool:
        """Whether no value occurs twice; counted, and never said of a single row."""
        return self.exact and self.distinct == self.count and self.count > 1

    @property
    def is_moment(self) -> bool:
        """Whether it holds dates or timestamps."""
        return self.kind.family in kinds.INSTANTS

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what does not apply to the type is left out."""
        values = self.values and [
            {"value": json_value(value), "count": count} for value, count in self.values.items()
        ]
        found = {
            "name": self.name,
            "type": self.type,
            "nulls": self.nulls,
            "distinct": self.distinct,
            "distinct_is_exact": self.exact,
            "unique": self.unique,
            "min": json_value(self.min),
            "max": json_value(self.max),
            "mean": self.mean,
            "stddev": self.stddev,
            "nan": self.nans if self.kind.nan else None,
            "min_length": self.min_length,
            "max_length": self.max_length,
            "pattern": self.pattern and self.pattern.regex,
            "values": values or None,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Profile:
    """What the rows show.

    Attributes:
        rows: How many there are.
        columns: One a column, in their order.
        pair: Two columns that tell all rows apart, looked for where no single one does.
    """

    rows: int
    columns: tuple[ColumnProfile, ...]
    pair: tuple[str, str] | None = None

    def column(self, name: str) -> ColumnProfile:
        """A column by its name.

        Raises:
            KeyError: There is none.
        """
        return {column.name: column for column in self.columns}[name]

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """What tells all rows apart: single columns without a null, else the pair."""
        single = tuple((column.name,) for column in self.columns if column.unique and not column.nulls)
        return single or ((self.pair,) if self.pair else ())

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "rows": self.rows,
            "columns": [column.to_dict() for column in self.columns],
            "keys": [list(key) for key in self.keys],
        }
