"""Values that exist in another table: a foreign key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, Shape, Text

from ldp_quality.checks.base import NAME, NAMES, Check, CheckType, names
from ldp_quality.expr import Aggregate, IsNull, Or
from ldp_quality.kinds import Kind
from ldp_quality.plan import Absent, AbsentCounts, Context, Facts, Plan
from ldp_quality.references import Reference
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class Referential(Check):
    """Every key exists in another table, as it is when the check runs.

    Rows with a null in one of the columns are skipped, as SQL does for a foreign key.

    Attributes:
        columns: One column, or several that make one key.
        to: The other table: ``config`` (a config file) or ``table`` (its name, or ``namespace.name``, in the
            catalog of the run's own target), and its ``columns``; those of the check by default.
        name: See ``Check``.

    Raises:
        ConfigError: ``columns`` names none, or ``to`` is no table with as many columns.
    """

    kind: ClassVar[str] = "referential"
    columns: str | Sequence[str]
    to: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names(self.columns, "columns"))
        if isinstance(self.to, Reference):
            reference = self.to
        elif isinstance(self.to, Mapping):
            reference = _reference(self.to, tuple(self.columns))
        else:
            raise ConfigError(
                f"to must name the other table, such as {{'config': 'cities.yaml'}}, got {self.to!r}",
                key="to",
            )
        if len(reference.columns) != len(self.columns):
            raise ConfigError(
                f"to.columns has {len(reference.columns)} columns, and the key has {len(self.columns)}",
                key="to.columns",
            )
        object.__setattr__(self, "to", reference)

    def subject(self) -> str:
        """The columns and the other table."""
        return f"{', '.join(self.columns)} -> {self.to.label}"

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"{', '.join(self.columns)} is not in {self.to.label} ({', '.join(self.to.columns)})"

    def needs(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.columns)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Keys are looked up in a pass of their own."""
        nulls = Or(tuple(IsNull(name) for name in self.columns))
        question = Absent(tuple(self.columns), self.to, context.base_dir, context.catalog)
        return Plan(self._judge, {"nulls": Aggregate("count", where=nulls)}, question=question)

    def _judge(self, facts: Facts) -> CheckResult:
        counts: AbsentCounts = facts.answer
        nulls = facts.values["nulls"]
        metrics: dict[str, Any] = {
            "null_key_rows": nulls,
            "absent_rows": counts.rows,
            "absent_keys": counts.keys,
            "to": self.to.label,
            "to_snapshot": counts.snapshot,
        }
        skipped = f"; {nulls} rows with a null key skipped" if nulls else ""
        key, place = f"({', '.join(self.columns)})", f"{self.to.label}({', '.join(self.to.columns)})"
        if not counts.rows:
            return self.result(facts, True, f"every key {key} exists in {place}{skipped}", metrics)
        details = f"{counts.keys} key(s) {key} in {counts.rows} rows do not exist in {place}{skipped}"
        return self.result(facts, False, details, metrics, counts.rows)


def _reference(said: Mapping[str, Any], default: tuple[str, ...]) -> Reference:
    unknown = sorted(set(said) - {"config", "table", "columns"})
    if unknown:
        raise ConfigError(f"to has unknown key(s) {unknown}; allowed: config, table, columns", key="to")
    columns = names(said["columns"], "to.columns") if "columns" in said else default
    return Reference(config=said.get("config"), table=said.get("table"), columns=columns)


REFERENTIAL = CheckType(
    "referential",
    Referential,
    Shape(
        (
            Key("columns", NAMES, "One column, or several that make one key.", required=True),
            Key(
                "to",
                Shape(
                    (
                        Key("config", Text(), "The config that loads the other table."),
                        Key("table", Text(), "Its name in the catalog of this config's target."),
                        Key("columns", NAMES, "Its columns; those of the check by default."),
                    ),
                    exactly_one=(("config", "table"),),
                ),
                "The table in which each key exists.",
                required=True,
            ),
            NAME,
        ),
        doc="Every key exists in another table; rows with a null in it are skipped.",
    ),
)
