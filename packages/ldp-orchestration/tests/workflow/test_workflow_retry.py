"""Retries: which errors, how often, how long, and what the attempts are called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldp_core.errors import (
    CommitConflict,
    ConfigError,
    DataQualityError,
    LDPError,
    PipelineNotFound,
    SourceNotFound,
)
from ldp_orchestration import run_workflow
from ldp_orchestration.model import Retries, TaskMove
from ldp_orchestration.retry import LONGEST, is_retriable, wait_after
from ldp_orchestration.waiting import STEP, pause

WINDOW = "2026-08-01/2026-08-02"


def _of_pyiceberg(name: str) -> BaseException:
    from pyiceberg import exceptions

    made: BaseException = getattr(exceptions, name)("lost")
    return made


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: CommitConflict("lost"), True),
        (lambda: CommitConflict("gone", retriable=False), False),
        (lambda: _of_pyiceberg("CommitFailedException"), True),
        (lambda: _of_pyiceberg("CommitStateUnknownException"), True),
        (lambda: _of_pyiceberg("NoSuchTableError"), False),
        (lambda: ConnectionResetError(), True),
        (lambda: TimeoutError(), True),
        (lambda: FileNotFoundError(), True),
        (lambda: SourceNotFound("not there yet"), True),
        (lambda: LDPError("no", retriable=True), True),
        (lambda: LDPError("no"), False),
        (lambda: DataQualityError("bad"), False),
        (lambda: DataQualityError("bad", retriable=True), False),
        (lambda: ConfigError("wrong"), False),
        (lambda: PipelineNotFound("none"), False),
        (lambda: ValueError("no"), False),
    ],
    ids=[
        *("conflict", "conflict-for-good", "failed-commit", "unknown-commit", "no-table", "reset", "timeout"),
        *(
            "no-file",
            "no-source",
            "own-yes",
            "own-no",
            "gate",
            "gate-that-claims",
            "config",
            "route",
            "other",
        ),
    ],
)
def test_what_is_retried_is_decided_by_class(make: Callable[[], BaseException], expected: bool) -> None:
    assert is_retriable(make()) is expected


@given(
    st.integers(1, 10_000),
    st.floats(0, 1e6),
    st.floats(1, 1e6),
    st.floats(0, 1, exclude_max=True),
)
def test_a_wait_is_a_part_of_the_longest_one_and_never_more_than_a_day(
    attempt: int, delay: float, backoff: float, share: float
) -> None:
    wait = wait_after(attempt, Retries(9, delay, backoff), lambda: share)
    assert 0 <= wait <= LONGEST
    if attempt <= 20 and delay * backoff ** (attempt - 1) <= LONGEST:
        assert wait == share * (delay * backoff ** (attempt - 1))


def test_a_wait_is_made_of_short_sleeps_and_can_be_left() -> None:
    slept: list[float] = []
    pause(1.75, slept.append)
    assert sum(slept) == 1.75
    assert max(slept) <= STEP

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pause(10, slept.append, stop)


def test_a_file_that_lands_while_it_waits_is_loaded_by_the_next_attempt(
    folder: Any, chain: Callable[..., Path]
) -> None:
    path = chain("a", without=("a",), retries={"max_attempts": 4, "delay_s": 8, "backoff": 3})
    slept: list[float] = []
    moves: list[TaskMove] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if sum(slept) > 4:
            folder.source("a")

    result = run_workflow(path, WINDOW, sleep=sleep, random=lambda: 0.5, on_task=moves.append)
    task = result.tasks[0]
    assert (task.status, task.attempts, task.attempt) == ("published", 3, 3)
    assert [move.wait_s for move in moves if move.state == "waiting"] == [4.0, 12.0]
    assert sum(slept) == 16.0
    started = [event for event in folder.events() if event["type"] == "run.started"]
    assert [event["attempt"] for event in started] == [1, 2, 3]
    assert {event["run_id"] for event in started} == {task.run_id}
    assert folder.snapshots("a")[-1]["ldp.attempt"] == "3"


def test_attempts_end_and_the_last_error_is_told(folder: Any, chain: Callable[..., Path]) -> None:
    path = chain("a", without=("a",), retries={"max_attempts": 3})
    slept: list[float] = []
    result = run_workflow(path, WINDOW, sleep=slept.append, random=lambda: 0.999)
    task = result.tasks[0]
    assert (task.status, task.attempts, task.retriable) == ("failed", 3, True)
    assert sum(slept) == pytest.approx(0.999 * (30 + 60))


def test_a_key_of_a_task_stands_above_that_of_the_workflow(folder: Any, chain: Callable[..., Path]) -> None:
    chain("a", without=("a",))
    tasks = [{"id": "a", "pipeline": "a.json", "retries": {"max_attempts": 1}}]
    path = folder.workflow(tasks, retries={"max_attempts": 3, "delay_s": 0})
    assert run_workflow(path, WINDOW).tasks[0].attempts == 1
