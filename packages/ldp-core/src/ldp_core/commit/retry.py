"""Which failures of a commit are lost races, which leave its fate unknown, and how long to go on."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ldp_core.errors import TableChanged

if TYPE_CHECKING:
    from tenacity import Retrying

logger = logging.getLogger(__name__)
T = TypeVar("T")
LOADS = 8
"""How often a load is begun: as many writers at once may each bring a column of their own."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often a lost race is run again: full jitter between tries, up to a deadline.

    Attributes:
        attempts: The most commits sent; None bounds them by the deadline alone.
        deadline: Seconds in all.
        shortest: The longest wait before the first retry; doubles each time.
        longest: The longest wait at all.
        sleep: Waits; tests replace it.
    """

    attempts: int | None = None
    deadline: float = 300.0
    shortest: float = 0.2
    longest: float = 8.0
    sleep: Callable[[float], None] = time.sleep

    def retrying(self, error: type[Exception]) -> Retrying:
        """The loop that tries again after that error and re-raises the last one."""
        from tenacity import (
            Retrying,
            retry_if_exception_type,
            stop_after_attempt,
            stop_after_delay,
            stop_never,
            wait_random_exponential,
        )

        most = stop_never if self.attempts is None else stop_after_attempt(self.attempts)
        return Retrying(
            stop=stop_after_delay(self.deadline) | most,
            wait=wait_random_exponential(multiplier=self.shortest, max=self.longest),
            retry=retry_if_exception_type(error),
            sleep=self.sleep,
            reraise=True,
        )


APPEND = RetryPolicy()
"""Files that only have to be put on a new head: the deadline alone bounds it (8 writers needed 6 tries)."""

RECOMPUTE = RetryPolicy(attempts=6)
"""A change that must be computed anew from the new head."""


def anew(load: Callable[[], T]) -> T:
    """What a load returns, begun again where the table became another one before anything was published.

    Raises:
        TableChanged: It did each time.
    """
    for _ in range(LOADS - 1):
        try:
            return load()
        except TableChanged as error:
            logger.info("the load begins again: %s", error)
    return load()


def is_conflict(error: Exception) -> bool:
    """Whether the catalog refused the commit because the table had changed: certainly without effect."""
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError

    if isinstance(error, CommitFailedException | TableAlreadyExistsError):
        return True
    # pyiceberg reports a sequence number that a branch commit has moved as a plain ValueError.
    return isinstance(error, ValueError) and "sequence number" in str(error)


def is_unknown(error: Exception) -> bool:
    """Whether nobody can tell from the error if the commit took effect."""
    from pyiceberg.exceptions import (
        CommitStateUnknownException,
        ServerError,
        ServiceUnavailableError,
        TooManyRequestsError,
    )

    transport = (
        CommitStateUnknownException,
        ServerError,
        ServiceUnavailableError,
        TooManyRequestsError,
        OSError,
    )
    return isinstance(error, transport) or _is_database_error(error)


def _is_database_error(error: Exception) -> bool:
    """A connection lost or a database that stayed locked; errors about the statement itself are not meant."""
    from sqlalchemy.exc import InterfaceError, OperationalError

    return isinstance(error, OperationalError | InterfaceError)
