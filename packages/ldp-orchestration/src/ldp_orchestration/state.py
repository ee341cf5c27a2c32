"""The state of a window, from the keys on main and the last run in the ledger. One pure function."""

from __future__ import annotations

from collections.abc import Sequence

PUBLISHED = "published"
PARTIAL = "partial"
MISSING = "missing"
FAILED = "failed"
BLOCKED = "blocked"

STATES = (PUBLISHED, PARTIAL, MISSING, FAILED, BLOCKED)
"""Every state, in the order in which they are counted for people."""


def window_state(done: Sequence[bool], unvouched: bool, last: str | None, every_task: bool = True) -> str:
    """What became of a window.

    Args:
        done: Of each task that a key vouches for, whether main holds its key for the window.
        unvouched: Whether the workflow has a task, other than upkeep, that no key can vouch for.
        last: How the last run of the window in the ledger ended: ``succeeded``, ``failed``, ``blocked``,
            ``incomplete``, ``unfinished``; None where the ledger has none.
        every_task: Whether that run ended well for every task that the workflow has now: a task that was
            added since has not run. Looked at where ``last`` is ``succeeded``.

    Returns:
        ``published``: every key is on main and, where a key cannot vouch for all of it, the last run
        succeeded for every task. Else ``failed`` or ``blocked`` where that run failed or was held back; else
        ``partial`` where some of the keys are on main, and ``missing``. A workflow that no key vouches for at
        all, such as one of upkeep alone, is published by its last run.
    """
    by_ledger = unvouched or not done
    if all(done) and (not by_ledger or (last == "succeeded" and every_task)):
        return PUBLISHED
    if last in (FAILED, BLOCKED):
        return last
    return PARTIAL if any(done) else MISSING
