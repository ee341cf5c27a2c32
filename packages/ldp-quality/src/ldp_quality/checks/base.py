"""What every kind of check is, and how a config names it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError, Problem
from ldp_core.shape import Key, ListOf, Shape, Text
from ldp_core.spi import Spec

from ldp_quality.bounds import NotComparable
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult

NAME = Key("name", Text(), "What the check is called in reports.")
COLUMN = Key("column", Text(), "The column that is looked at.", required=True)
NAMES = ListOf(Text(), min_items=1, or_single=True)


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """One thing that must be true of the rows.

    Attributes:
        name: What it is called in reports; check and columns by default.
    """

    kind: ClassVar[str]
    counts_rows: ClassVar[bool] = True
    """Whether single rows break it, so that there is something to tolerate."""
    name: str | None = None

    @property
    def names_rows(self) -> bool:
        """Whether it holds once the rows that break it are put aside."""
        return self.counts_rows

    @property
    def only_of_batch(self) -> str:
        """Why it can judge no other rows than those of the run; empty where it can."""
        return ""

    @property
    def label(self) -> str:
        """The name in reports: ``range(fare)`` unless it has its own."""
        subject = self.subject()
        return self.name or (f"{self.kind}({subject})" if subject else self.kind)

    def blame(self) -> str:
        """Why a row breaks it, in the check's own words: nothing of other rows."""
        return f"breaks {self.label}"

    @abstractmethod
    def subject(self) -> str:
        """The columns it is about, for its name; empty where it is about the whole batch."""

    @abstractmethod
    def needs(self) -> tuple[str, ...]:
        """The columns it cannot do without."""

    @abstractmethod
    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """What to ask, where all columns it needs are there.

        Raises:
            NotComparable: A column is of a kind that it cannot judge.
        """

    def compile(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """What to ask; of columns that are missing or of the wrong kind, only how many rows there are."""
        missing = [name for name in self.needs() if name not in columns]
        if missing:
            text = f"missing column(s) {missing}; the table has {list(columns)}"
            return self.refused(text, {"missing_columns": missing})
        try:
            return self.plan(columns, context)
        except NotComparable as error:
            return self.refused(str(error), self._types(columns))

    def refused(self, details: str, metrics: Mapping[str, Any]) -> Plan:
        """A plan that fails without looking at values."""

        def finish(facts: Facts) -> CheckResult:
            return CheckResult(self.label, False, details, 0, {"row_count": facts.rows, **metrics})

        return Plan(finish)

    def _types(self, columns: Mapping[str, Kind]) -> dict[str, Any]:
        types = [columns[name].name for name in self.needs()]
        return {"column_type": types[0]} if len(types) == 1 else {"column_types": types}

    def result(
        self, facts: Facts, passed: bool, details: str, metrics: Mapping[str, Any], failing_rows: int = 0
    ) -> CheckResult:
        """A verdict, with the number of rows first in its metrics."""
        return CheckResult(self.label, passed, details, failing_rows, {"row_count": facts.rows, **metrics})

    def run(self, df: Any, context: Mapping[str, Any] | Context | None = None) -> CheckResult:
        """Judge rows in memory by this check alone; see ``ldp_quality.run_checks``."""
        from ldp_quality.engine import run_checks

        return run_checks(df, [self], context).results[0]


@dataclass(frozen=True)
class CheckType:
    """A kind of check as the entry-point group ``ldp.checks`` holds it.

    Attributes:
        name: The word in a config.
        make: The check; its parameters are the keys of the shape.
        shape: What a config may say.
    """

    name: str
    make: type[Check]
    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say, such as a minimum above the maximum. Reads no data."""
        try:
            self.build(spec.values)
        except ConfigError as error:
            return [Problem(error.message, key=error.key or "", hint=error.hint)]
        return []

    def build(self, values: Mapping[str, Any]) -> Check:
        """The check of one item of a config.

        Raises:
            ConfigError: A parameter is unknown, missing or wrong.
        """
        allowed = [key.name for key in self.shape.keys]
        given = {
            key: value
            for key, value in values.items()
            if key != "check" and key != "$schema" and not key.startswith("x-")
        }
        unknown = [key for key in given if key not in allowed]
        if unknown:
            raise ConfigError(f"has unknown parameter(s) {unknown}; allowed: {', '.join(allowed)}")
        needed = [key.name for key in self.shape.keys if key.required and key.name not in given]
        if needed:
            raise ConfigError(f"needs parameter(s) {needed}; allowed: {', '.join(allowed)}")
        return self.make(**given)


def names(value: Any, parameter: str, *, at_least: int = 1) -> tuple[str, ...]:
    """One column or a list of columns, each once.

    Raises:
        ConfigError: It is neither.
    """
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(item, str) for item in listed):
        raise ConfigError(f"{parameter} must be a column or a list of columns, got {value!r}", key=parameter)
    if len(listed) < at_least:
        raise ConfigError(f"{parameter} must name at least one column", key=parameter)
    return tuple(dict.fromkeys(listed))


def one_name(value: Any, parameter: str) -> None:
    """Refuse what is not one column.

    Raises:
        ConfigError: It is no text.
    """
    if not isinstance(value, str):
        raise ConfigError(f"{parameter} must be the name of a column, got {value!r}", key=parameter)


def rows_text(count: int) -> str:
    """``1 row``, ``2 rows``."""
    return f"{count} row" if count == 1 else f"{count} rows"


def is_number(value: Any) -> bool:
    """Whether it is a finite number (a boolean is none)."""
    import math

    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def cut(text: str, width: int = 80) -> str:
    """A text, cut short."""
    return text if len(text) <= width else f"{text[: width - 3]}..."
