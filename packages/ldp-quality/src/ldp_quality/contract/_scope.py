"""What the rules of a contract look at where they do not say: a promise about keys is one of the table."""

from __future__ import annotations

from ldp_quality.checks.base import Check
from ldp_quality.checks.metric import DUPLICATES, Metric
from ldp_quality.checks.referential import Referential
from ldp_quality.checks.unique import Unique
from ldp_quality.rule import TABLE


def scope_of(check: Check) -> str | None:
    """``table`` for keys and for references to other tables; None for rules about single rows."""
    about_keys = isinstance(check, Unique | Referential) or (
        isinstance(check, Metric) and check.metric == DUPLICATES
    )
    return TABLE if about_keys else None
