"""Whether a failed task is tried again, and when."""

from __future__ import annotations

from collections.abc import Callable

from ldp_core.errors import ConfigError, DataQualityError, LDPError, PipelineNotFound

from ldp_orchestration.model import Retries

LONGEST = 86_400.0
"""No wait is longer than a day."""
_NEVER = (DataQualityError, ConfigError, PipelineNotFound)
_OF_COMMITS = frozenset({"CommitFailedException", "CommitStateUnknownException"})


def is_retriable(error: BaseException) -> bool:
    """Whether another attempt may succeed: by the class of the error, and by what core's own errors say."""
    if isinstance(error, _NEVER):
        return False
    if isinstance(error, LDPError):
        return bool(error.retriable)
    return isinstance(error, OSError) or _is_of_a_commit(error)


def _is_of_a_commit(error: BaseException) -> bool:
    """Whether pyiceberg says that a commit lost a race, or that it does not know; without importing it."""
    return any(
        one.__name__ in _OF_COMMITS and one.__module__.startswith("pyiceberg.") for one in type(error).__mro__
    )


def wait_after(attempt: int, retries: Retries, random: Callable[[], float]) -> float:
    """Seconds to wait after an attempt: full jitter, anything from nothing to the longest wait it allows.

    Args:
        attempt: How many attempts this run made of the task, from 1.
        retries: How often it is tried.
        random: A number from 0 up to 1.
    """
    try:
        longest = retries.delay_s * retries.backoff ** (attempt - 1)
    except OverflowError:
        longest = LONGEST
    return random() * min(longest, LONGEST)
