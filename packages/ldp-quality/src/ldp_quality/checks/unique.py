"""No two rows with one key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, Shape, Text

from ldp_quality.checks.base import NAME, NAMES, Check, CheckType, names
from ldp_quality.expr import Aggregate, IsNull, Or
from ldp_quality.kinds import Kind
from ldp_quality.plan import FIRST, KEEPS, Context, Facts, KeyCounts, Keys, Plan
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class Unique(Check):
    """No two rows have the same values in the columns.

    Rows with a null in one of them are skipped. NaN equals NaN, 0.0 equals -0.0, lists and structs are
    compared by value (nulls inside them are equal).

    Attributes:
        columns: One column, or several that make one key.
        keep: Where the rows are put aside: ``first`` leaves the first row of a key in the order of the input,
            ``none`` leaves none.
        name: See ``Check``.

    Raises:
        ConfigError: ``columns`` names none, or ``keep`` is another word.
    """

    kind: ClassVar[str] = "unique"
    columns: str | Sequence[str]
    keep: str = FIRST

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names(self.columns, "columns"))
        object.__setattr__(self, "keep", keep_of(self.keep))

    def subject(self) -> str:
        """The columns."""
        return ", ".join(self.columns)

    def blame(self) -> str:
        """What is wrong with a row."""
        which = "a row before" if self.keep == FIRST else "another row"
        return f"{', '.join(self.columns)} is as in {which}"

    def needs(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.columns)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Keys are grouped in a pass of their own."""
        nulls = Or(tuple(IsNull(name) for name in self.columns))
        return Plan(
            self._judge,
            {"nulls": Aggregate("count", where=nulls)},
            question=Keys(tuple(self.columns), self.keep),
        )

    def _judge(self, facts: Facts) -> CheckResult:
        counts: KeyCounts = facts.answer
        metrics: dict[str, Any] = {
            "null_key_rows": facts.values["nulls"],
            "distinct_keys": counts.distinct,
            "duplicate_keys": counts.repeated,
            "duplicate_rows": counts.repeated_rows,
        }
        if counts.among:
            metrics |= {"keys_standing": counts.taken, "rows_with_keys_standing": counts.taken_rows}
        skipped = f"{facts.values['nulls']} rows with a null key skipped" if facts.values["nulls"] else ""
        if not counts.repeated:
            details = f"every key in ({self.subject()}) is unique" + (f"; {skipped}" if skipped else "")
            return self.result(facts, True, details, metrics)
        metrics["sample"] = [{"key": self._key(key), "count": count} for key, count in counts.sample]
        first = metrics["sample"][0]
        details = "; ".join(
            [
                f"{counts.repeated} duplicated key(s) in ({self.subject()}) "
                f"across {counts.repeated_rows} rows",
                *([_taken(counts)] if counts.taken else []),
                *([skipped] if skipped else []),
                f"e.g. {first['key']!r} x{first['count']}",
            ]
        )
        return self.result(facts, False, details, metrics, counts.repeated_rows)

    def _key(self, key: tuple[Any, ...]) -> Any:
        return key[0] if len(self.columns) == 1 else dict(zip(self.columns, key, strict=True))


def keep_of(word: Any) -> str:
    """``first`` or ``none``.

    Raises:
        ConfigError: It is another word.
    """
    found = word.lower() if isinstance(word, str) else word
    if found not in KEEPS:
        raise ConfigError(f"keep must be one of {', '.join(KEEPS)}, got {word!r}", key="keep")
    return str(found)


def _taken(counts: KeyCounts) -> str:
    return (
        f"{counts.taken} key(s) of the batch stand in the {counts.among} already, "
        f"in {counts.taken_rows} of its rows"
    )


UNIQUE = CheckType(
    "unique",
    Unique,
    Shape(
        (
            Key("columns", NAMES, "One column, or several that make one key.", required=True),
            Key(
                "keep",
                Text(choices=KEEPS, ignore_case=True),
                "With on_failure quarantine: the first row of a key stays, or none.",
                default=FIRST,
            ),
            NAME,
        ),
        doc="No two rows with one key; rows with a null in it are skipped.",
    ),
)
