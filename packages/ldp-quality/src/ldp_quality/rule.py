"""A check with what it means when rows break it, and which rows it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ldp_core.errors import ConfigError
from ldp_core.shape import Int, Key, ListOf, Number, OneOf, Text

from ldp_quality._words import ALIASES, PERCENT
from ldp_quality.checks.base import Check
from ldp_quality.checks.not_run import NotRun
from ldp_quality.expr import Holds
from ldp_quality.grade import SEVERITIES, Grade, Limit
from ldp_quality.predicate import columns_of

FAIL, WARN, QUARANTINE = "fail", "warn", "quarantine"
POLICIES = (FAIL, WARN, QUARANTINE)

BATCH, WINDOW, TABLE = "batch", "window", "table"
SCOPES = (BATCH, WINDOW, TABLE)

_SHARE = Text(pattern=r"^\s*\d+(\.\d+)?\s*%\s*$")
_LIMIT = OneOf((Int(min=0), _SHARE, ListOf(OneOf((Int(min=0), _SHARE)), min_items=1)))
_POLICY = Text(choices=POLICIES, ignore_case=True)
_PERCENT = OneOf((Number(min=0, max=100), _SHARE))
KEYS = (
    Key(
        "severity",
        Text(choices=SEVERITIES, ignore_case=True),
        "Without tolerances: error fails, warn warns.",
        default="error",
    ),
    Key("warn_above", _LIMIT, "More bad rows warn: a number of rows, a share such as 1%, or a list of both."),
    Key("fail_above", _LIMIT, "More bad rows fail, fewer warn: as for warn_above."),
    Key("where", Text(), "Only rows for which this SQL condition is true are looked at."),
    Key(
        "scope",
        Text(choices=SCOPES, ignore_case=True),
        "batch judges the rows of the run; window and table, for an ICEBERG target, those that stand in the "
        "run's window or in the table, too.",
        default=BATCH,
    ),
    Key(
        "on_failure",
        _POLICY,
        "fail publishes nothing when it fails, warn publishes and says so, quarantine puts the rows that "
        "break it aside and publishes the others; that of the section by default.",
    ),
    *(
        Key(
            name,
            _POLICY if word == "on_failure" else _PERCENT if name in PERCENT else _LIMIT,
            f"Another word for {word}{', in percent' if name in PERCENT else ''}.",
        )
        for name, word in ALIASES.items()
    ),
)
"""What every check of a config may say besides its own parameters."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that must be true, and what follows where it is not.

    Attributes:
        check: What must be true.
        severity: See ``Grade``.
        warn_above: See ``Grade``; ``10``, ``"1%"`` or a list of both.
        fail_above: See ``Grade``.
        where: Only rows for which this SQL condition is true are looked at (see ``predicate``).
        scope: ``batch``, ``window`` or ``table`` (see ``scopes``); None is ``batch``.
        on_failure: ``fail``, ``warn`` or ``quarantine``; None leaves it to whoever runs the rule.

    Raises:
        ConfigError: One of them is wrong, tolerances are given for a check that counts no bad rows, or
            quarantine for one that names no rows to put aside.
    """

    check: Check
    severity: str = "error"
    warn_above: Any = None
    fail_above: Any = None
    where: str | None = None
    on_failure: str | None = None
    scope: str | None = None

    def __post_init__(self) -> None:
        for name in ("severity", "on_failure", "scope"):
            word = getattr(self, name)
            if isinstance(word, str):
                object.__setattr__(self, name, word.lower())
        if self.on_failure is not None and self.on_failure not in POLICIES:
            raise ConfigError(
                f"on_failure must be one of {', '.join(POLICIES)}, got {self.on_failure!r}", key="on_failure"
            )
        if self.on_failure == QUARANTINE and not self.check.names_rows and not self.never_judged:
            raise ConfigError(
                f"on_failure: quarantine needs rows to put aside, and {self.check.label} names none",
                key="on_failure",
                hint="say fail or warn",
            )
        _fit_scope(self)
        for name in ("warn_above", "fail_above"):
            object.__setattr__(self, name, Limit.of(getattr(self, name), name))
            if getattr(self, name) is not None and not self.check.counts_rows:
                raise ConfigError(f"{name} needs bad rows to count, and {self.check.kind} has none", key=name)
        if self.where is not None:
            columns_of(self.where)
        _ = self.grade

    @property
    def never_judged(self) -> bool:
        """Whether nothing here can judge it, so that it is only told."""
        return isinstance(self.check, NotRun)

    @property
    def grade(self) -> Grade:
        """What bad rows mean."""
        return Grade(self.severity, self.warn_above, self.fail_above)

    @property
    def condition(self) -> Holds | None:
        """The rows it is about; None for all."""
        return None if self.where is None else Holds(self.where, columns_of(self.where))


def _fit_scope(rule: Rule) -> None:
    """Refuse a scope that is none, or that the check cannot have.

    Raises:
        ConfigError: It is.
    """
    if rule.scope is not None and rule.scope not in SCOPES:
        raise ConfigError(f"scope must be one of {', '.join(SCOPES)}, got {rule.scope!r}", key="scope")
    if rule.scope in (WINDOW, TABLE) and rule.check.only_of_batch:
        raise ConfigError(f"scope: {rule.scope} cannot be: {rule.check.only_of_batch}", key="scope")


def rule_of(item: Check | Rule) -> Rule:
    """A check alone is a rule without tolerances."""
    return item if isinstance(item, Rule) else Rule(check=item)
