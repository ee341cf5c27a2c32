"""How bad it is when rows break a check: pass, warn or fail, by tolerances or by severity.

Real data is never all clean, and a check that goes red over one row in a million is soon switched off. So a
check may say how many bad rows, or which share of the rows, it takes to warn and to fail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ldp_core.errors import ConfigError

PASS, WARN, FAIL, NOT_RUN = "pass", "warn", "fail", "not_run"
STATUSES = (PASS, WARN, NOT_RUN, FAIL)
SEVERITIES = ("error", "warn")


@dataclass(frozen=True)
class Limit:
    """So much is tolerated; what is above either part is not.

    Attributes:
        rows: Bad rows.
        percent: Bad rows in a hundred.
    """

    rows: int | None = None
    percent: float | None = None

    @classmethod
    def of(cls, value: Any, parameter: str) -> Limit | None:
        """Read ``10``, ``"2.5%"`` or a list of both.

        Raises:
            ConfigError: It is none of these.
        """
        if value is None or isinstance(value, cls):
            return value
        parts = value if isinstance(value, list | tuple) else (value,)
        rows = [part for part in parts if isinstance(part, int) and not isinstance(part, bool) and part >= 0]
        shares = [share for part in parts if (share := percent(part)) is not None]
        if len(rows) + len(shares) != len(parts) or len(rows) > 1 or len(shares) > 1 or not parts:
            raise ConfigError(
                f"{parameter} must be a number of rows such as 10, a share such as 2.5%, or a list of both, "
                f"got {value!r}",
                key=parameter,
            )
        return cls(rows[0] if rows else None, shares[0] if shares else None)

    def exceeded(self, bad: int, rows: int) -> bool:
        """Whether so many bad rows of all the rows are above it."""
        over_rows = self.rows is not None and bad > self.rows
        return over_rows or (self.percent is not None and bad * 100 > self.percent * rows)

    def __str__(self) -> str:
        rows = [] if self.rows is None else [f"{self.rows} row{'' if self.rows == 1 else 's'}"]
        share = [] if self.percent is None else [f"{self.percent:g}%"]
        return " and ".join([*rows, *share])


@dataclass(frozen=True)
class Grade:
    """What a broken check means.

    Attributes:
        severity: ``error``: it fails, ``warn``: it warns; where there are no tolerances.
        warn_above: It warns above this; below, it passes.
        fail_above: It fails above this; below, it warns, unless ``warn_above`` says that it passes.
    """

    severity: str = "error"
    warn_above: Limit | None = None
    fail_above: Limit | None = None

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise ConfigError(
                f"severity must be one of {', '.join(SEVERITIES)}, got {self.severity!r}", key="severity"
            )

    @property
    def tolerant(self) -> bool:
        """Whether it counts bad rows."""
        return self.warn_above is not None or self.fail_above is not None

    def status(self, passed: bool, bad: int, rows: int) -> str:
        """``pass``, ``warn`` or ``fail``.

        Args:
            passed: Whether the rows satisfy the check to the letter.
            bad: How many rows break it; 0 where no single rows do (a missing column, too few rows).
            rows: All rows that it covered.
        """
        if passed:
            return PASS
        if not self.tolerant or not bad:
            return WARN if self.severity == "warn" else FAIL
        if self.fail_above is not None and self.fail_above.exceeded(bad, rows):
            return FAIL
        if self.warn_above is not None:
            return WARN if self.warn_above.exceeded(bad, rows) else PASS
        return WARN

    def __str__(self) -> str:
        parts = [f"warns above {self.warn_above}"] if self.warn_above else []
        parts += [f"fails above {self.fail_above}"] if self.fail_above else []
        return ", ".join(parts)


def worst(statuses: Any) -> str:
    """The status of many: what is known to fail stands above what nobody knows, and that above the rest."""
    return max(statuses, key=STATUSES.index, default=PASS)


def percent(part: Any) -> float | None:
    """The number of a share such as ``2.5%``; None for what is none."""
    if not isinstance(part, str) or not part.strip().endswith("%"):
        return None
    try:
        share = float(part.strip()[:-1])
    except ValueError:
        return None
    return share if math.isfinite(share) and 0 <= share <= 100 else None
