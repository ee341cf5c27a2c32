"""A share of the rows: ``10%``, or a number from 0 to 1."""

from __future__ import annotations

from typing import Any

from ldp_core.errors import ConfigError
from ldp_core.shape import Number, OneOf, Text

from ldp_quality.grade import percent

SHARE = OneOf((Number(min=0, max=1), Text(pattern=r"^\s*\d+(\.\d+)?\s*%\s*$")))
MAX_SHARE = 0.1
"""Of the rows of a batch so many may be put aside, where nobody says."""


def share_of(written: Any) -> float:
    """The share as a number from 0 to 1.

    Raises:
        ConfigError: It is none.
    """
    if isinstance(written, int | float) and not isinstance(written, bool) and 0 <= written <= 1:
        return float(written)
    share = percent(written)
    if share is None:
        raise ConfigError(
            f"max_share must be a share such as 10%, or a number from 0 to 1, got {written!r}",
            key="max_share",
        )
    return share / 100
