"""What drifts in a schema: columns that are missing, columns that were added, types that became others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from ldp_core.errors import ConfigError

from ldp_quality.grade import FAIL, PASS, WARN
from ldp_quality.kinds import Kind
from ldp_quality.plan import Facts, Plan
from ldp_quality.result import CheckResult

IGNORE = "ignore"
GRADES = (FAIL, WARN, IGNORE)


@dataclass(frozen=True)
class Drift:
    """What each kind of drift means: ``fail``, ``warn`` or ``ignore``.

    Attributes:
        missing: A column that is declared is not there.
        added: A column is there that is not declared.
        type: A column is not of its type.

    Raises:
        ConfigError: Another word.
    """

    missing: str = FAIL
    added: str = IGNORE
    type: str = FAIL

    def __post_init__(self) -> None:
        for part in fields(self):
            one_of(getattr(self, part.name), part.name, GRADES)

    def find(
        self,
        declared: Sequence[str],
        wrong: Mapping[str, tuple[str, str]],
        columns: Mapping[str, Kind],
        inside: Sequence[str] = (),
    ) -> Found:
        """Find what drifted.

        Args:
            declared: The columns that should be there.
            wrong: Columns of another type, with the one that was expected and the one that it is.
            columns: The columns that are there.
            inside: What is missing inside of columns.
        """
        lost = [*(name for name in declared if name not in columns), *inside]
        new = [name for name in columns if name not in set(declared)]
        types = {name: {"expected": said, "actual": actual} for name, (said, actual) in wrong.items()}
        return Found(
            [] if self.missing == IGNORE else lost,
            [] if self.added == IGNORE else new,
            {} if self.type == IGNORE else types,
            len(declared),
            tuple(columns),
            self,
        )


@dataclass(frozen=True)
class Found:
    """What drifted, without what is ignored.

    Attributes:
        missing: Columns that are missing.
        added: Columns that were added.
        types: Columns of another type, each with ``expected`` and ``actual``.
        declared: How many columns were declared.
        columns: Those that are there.
        means: What each of it means.
    """

    missing: Sequence[str]
    added: Sequence[str]
    types: Mapping[str, Mapping[str, str]]
    declared: int
    columns: Sequence[str]
    means: Drift

    @property
    def status(self) -> str:
        """The worst of what it means."""
        parts = ((self.missing, "missing"), (self.added, "added"), (self.types, "type"))
        found = {getattr(self.means, name) for what, name in parts if what}
        return FAIL if FAIL in found else WARN if WARN in found else PASS

    @property
    def details(self) -> str:
        """One line."""
        lost = f"missing column(s) {list(self.missing)}; the table has {list(self.columns)}"
        parts = [
            *([lost] if self.missing else []),
            *([f"added column(s) {list(self.added)}"] if self.added else []),
            *(
                f"{name} is {item['actual']}, expected {item['expected']}"
                for name, item in self.types.items()
            ),
        ]
        return "; ".join(parts) or f"all {self.declared} column(s) are as expected"

    def judged(self, label: str) -> Plan:
        """The plan of a check of this name: the schema alone decides."""

        def finish(facts: Facts) -> CheckResult:
            metrics = {
                "row_count": facts.rows,
                "missing_columns": list(self.missing),
                **({} if self.means.added == IGNORE else {"added_columns": list(self.added)}),
                "type_mismatches": dict(self.types),
            }
            return CheckResult(label, self.status == PASS, self.details, 0, metrics, status=self.status)

        return Plan(finish)


def one_of(word: object, key: str, words: Sequence[str]) -> None:
    """Refuse a word that is not among these.

    Raises:
        ConfigError: It is another.
    """
    if word not in words:
        raise ConfigError(f"{key} must be one of {', '.join(words)}, got {word!r}", key=key)
