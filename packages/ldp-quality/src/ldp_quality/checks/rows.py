"""Checks that look at one value at a time: not null, one of a list, like a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, ListOf, Literal, OneOf, Scalar, Shape, Text

from ldp_quality import kinds
from ldp_quality._values import json_value
from ldp_quality.bounds import NotComparable, equal
from ldp_quality.checks.base import COLUMN, NAME, NAMES, Check, CheckType, cut, names, one_name, rows_text
from ldp_quality.expr import Aggregate, And, AnyOf, IsNull, Matches, Not, Or, has_value
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class NotNull(Check):
    """Every row has a value in each of the columns; NaN is a value, a struct of nulls too.

    Attributes:
        columns: One column or several.
        name: See ``Check``.

    Raises:
        ConfigError: ``columns`` names none.
    """

    kind: ClassVar[str] = "not_null"
    columns: str | Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names(self.columns, "columns"))

    def subject(self) -> str:
        """The columns."""
        return ", ".join(self.columns)

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"{' or '.join(self.columns)} has no value"

    def needs(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.columns)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """A bad row has a null in one of the columns; nulls are counted by column too."""
        counts = {name: Aggregate("count", where=IsNull(name)) for name in self.columns}
        return Plan(self._judge, counts, bad=Or(tuple(IsNull(name) for name in self.columns)))

    def _judge(self, facts: Facts) -> CheckResult:
        nulls = {name: facts.values[name] for name in self.columns}
        listed = self.subject()
        if not facts.bad:
            return self.result(
                facts, True, f"no nulls in {listed} ({rows_text(facts.rows)})", {"null_counts": nulls}
            )
        found = ", ".join(f"{name}={count}" for name, count in nulls.items() if count)
        details = f"{facts.bad} of {rows_text(facts.rows)} have a null in {listed} ({found})"
        return self.result(facts, False, details, {"null_counts": nulls}, facts.bad)


@dataclass(frozen=True)
class AcceptedValues(Check):
    """Every value of a column is one of a list; nulls pass.

    Values are compared exactly: 1.5 is not 1, ``"1.10"`` is the decimal 1.10, ``"1"`` is the integer 1.

    Attributes:
        column: The column.
        values: What is accepted.
        name: See ``Check``.

    Raises:
        ConfigError: ``values`` is no list, or empty.
    """

    kind: ClassVar[str] = "accepted_values"
    column: str
    values: Sequence[Any]

    def __post_init__(self) -> None:
        one_name(self.column, "column")
        if isinstance(self.values, str | bytes | Mapping) or not isinstance(
            self.values, Sequence | set | frozenset
        ):
            raise ConfigError(
                f"values must be a list of accepted values, e.g. ['NYC', 'BKK'], got {self.values!r}",
                key="values",
            )
        if not self.values:
            raise ConfigError("values must hold at least one accepted value", key="values")
        object.__setattr__(self, "values", tuple(self.values))

    def subject(self) -> str:
        """The column."""
        return self.column

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"{self.column} is none of {cut(str([json_value(value) for value in self.values]))}"

    def needs(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """A bad row has a value that equals none of the list."""
        kind = columns[self.column]
        try:
            constants = [equal(kind, value) for value in self.values]
        except NotComparable as error:
            return self.refused(f"could not be evaluated: {error}", {"error": "NotComparable"})
        accepted = AnyOf(self.column, tuple(value for value in constants if value is not None))
        return Plan(
            self._judge,
            {"nulls": Aggregate("count", where=IsNull(self.column))},
            bad=And((has_value(self.column), Not(accepted))),
            distinct=self.column,
        )

    def _judge(self, facts: Facts) -> CheckResult:
        accepted = [json_value(value) for value in self.values]
        metrics: dict[str, Any] = {
            "null_count": facts.values["nulls"],
            "invalid_count": facts.bad,
            "accepted_values": accepted,
        }
        if not facts.bad:
            details = f"every non-null value of {self.column} is in {accepted}"
            return self.result(facts, True, details, metrics)
        metrics["invalid_values"] = list(facts.distinct)
        details = (
            f"{facts.bad} of {rows_text(facts.rows)} have a {self.column} outside {accepted}; "
            f"e.g. {list(facts.distinct)}"
        )
        return self.result(facts, False, details, metrics, facts.bad)


@dataclass(frozen=True)
class Regex(Check):
    """Some part of every text of a column matches an RE2 pattern (``^`` and ``$`` bind it); nulls pass.

    Attributes:
        column: A column of texts.
        pattern: RE2 syntax.
        name: See ``Check``.

    Raises:
        ConfigError: The pattern is not RE2.
    """

    kind: ClassVar[str] = "regex"
    column: str
    pattern: str

    def __post_init__(self) -> None:
        one_name(self.column, "column")
        if not isinstance(self.pattern, str):
            raise ConfigError(f"pattern must be a text, got {self.pattern!r}", key="pattern")
        problem = _re2_problem(self.pattern)
        if problem:
            raise ConfigError(f"pattern {self.pattern!r} is not RE2: {problem}", key="pattern")

    def subject(self) -> str:
        """The column."""
        return self.column

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"{self.column} does not match {cut(self.pattern)}"

    def needs(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """A bad row has a text without a match."""
        kind = columns[self.column]
        if kind.family not in {kinds.TEXT, kinds.NULL}:
            raise NotComparable(f"a pattern needs a column of texts, and {self.column} is {kind.name}")
        nulls = {"nulls": Aggregate("count", where=IsNull(self.column))}
        if kind.family == kinds.NULL:
            return Plan(self._judge, nulls)
        bad = And((has_value(self.column), Not(Matches(self.column, self.pattern))))
        return Plan(self._judge, nulls, bad=bad, distinct=self.column)

    def _judge(self, facts: Facts) -> CheckResult:
        metrics: dict[str, Any] = {
            "null_count": facts.values["nulls"],
            "invalid_count": facts.bad,
            "pattern": self.pattern,
        }
        if not facts.bad:
            details = f"every non-null value of {self.column} matches {self.pattern!r}"
            return self.result(facts, True, details, metrics)
        metrics["invalid_values"] = list(facts.distinct)
        details = (
            f"{facts.bad} of {rows_text(facts.rows)} have a {self.column} that does not match "
            f"{self.pattern!r}; e.g. {list(facts.distinct)}"
        )
        return self.result(facts, False, details, metrics, facts.bad)


def _re2_problem(pattern: str) -> str | None:
    """Why RE2, as DuckDB has it, does not take a pattern; None when it does."""
    import duckdb
    from ldp_core import _duck

    with _duck.connect(threads=1) as con:
        try:
            con.execute("SELECT regexp_matches('', ?)", [pattern]).fetchall()
        except duckdb.Error as error:
            return str(error).partition(": ")[2] or str(error)
    return None


NOT_NULL = CheckType(
    "not_null",
    NotNull,
    Shape(
        (Key("columns", NAMES, "Columns that have a value in every row.", required=True), NAME),
        doc="No nulls.",
    ),
)
ACCEPTED_VALUES = CheckType(
    "accepted_values",
    AcceptedValues,
    Shape(
        (
            COLUMN,
            Key("values", ListOf(OneOf((Scalar(), Literal(None))), 1), "What is accepted.", required=True),
            NAME,
        ),
        doc="Every value is one of a list; nulls pass.",
    ),
)
REGEX = CheckType(
    "regex",
    Regex,
    Shape(
        (
            COLUMN,
            Key("pattern", Text(), "An RE2 pattern that some part of each text matches.", required=True),
            NAME,
        ),
        doc="Every text matches a pattern; nulls pass.",
    ),
)
