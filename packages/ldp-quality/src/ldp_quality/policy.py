"""Which verdicts hold rows back: what failed, and what nobody knows, unless it is only to be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ldp_core.errors import ConfigError

from ldp_quality.grade import NOT_RUN
from ldp_quality.result import CheckResult, QualityReport
from ldp_quality.rule import FAIL, POLICIES, QUARANTINE, WARN, Rule


def broken(rules: Sequence[Rule], report: QualityReport) -> list[tuple[Rule, CheckResult]]:
    """What failed or could not be evaluated, with its rule.

    What nothing here could ever judge (a sentence for people, a rule for another engine) is not among it: it
    is told with its reason.

    Args:
        rules: What was judged, in the report's order.
        report: The verdicts.
    """
    return [
        (rule, result)
        for rule, result in zip(rules, report.results, strict=True)
        if result.status == FAIL or (result.status == NOT_RUN and not rule.never_judged)
    ]


def effective(rule: Rule, policy: str | None, default: str = FAIL) -> str:
    """What a failure of a rule does: ``fail``, ``warn`` or ``quarantine``.

    Where all rules are to put rows aside, those that name none fail.

    Args:
        rule: The rule.
        policy: Above what the rule says; None leaves it to the rule.
        default: For a rule that does not say.
    """
    word = policy or rule.on_failure or default
    return FAIL if word == QUARANTINE and not rule.check.names_rows else word


def blocks(rules: Sequence[Rule], report: QualityReport, policy: str | None, default: str = FAIL) -> bool:
    """Whether rows are held back, by someone who puts none aside: what is to go into quarantine fails.

    Args:
        rules: What was judged, in the report's order.
        report: The verdicts.
        policy: ``fail``, ``warn`` or ``quarantine``, above what the rules say; None leaves it to them.
        default: For the rules that do not say.
    """
    return any(effective(rule, policy, default) != WARN for rule, _ in broken(rules, report))


def policy_of(word: Any) -> str | None:
    """``fail``, ``warn``, ``quarantine``, or None where nothing is said.

    Raises:
        ConfigError: It is another word.
    """
    if word is None:
        return None
    found = word.lower() if isinstance(word, str) else word
    if found not in POLICIES:
        raise ConfigError(f"on_failure must be one of {', '.join(POLICIES)}, got {word!r}", key="on_failure")
    return str(found)
