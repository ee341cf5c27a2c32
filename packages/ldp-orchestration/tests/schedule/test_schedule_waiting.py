"""A signal whose exception got lost ends a wait all the same."""

from __future__ import annotations

import os
import signal
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from ldp_core._signals import remember
from ldp_core.errors import Interrupted
from ldp_orchestration.schedule.loop import run_until_stopped
from ldp_orchestration.waiting import pause


@pytest.fixture
def forgotten() -> Iterator[None]:
    yield
    remember(False)


def test_a_wait_ends_where_a_signal_was_remembered(forgotten: None) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        remember(True)

    with pytest.raises(Interrupted):
        pause(3600, sleep)
    assert slept == [0.5]


class _Thing:
    """Its end is where Python ignores what is raised."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_loop_ends_where_sigterm_came_while_an_object_ended(tmp_path: Path) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        thing = _Thing()
        kept = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
        del thing
        assert kept() is None

    assert run_until_stopped(tmp_path, 3600, tell=print, sleep=sleep) == 0
    assert len(slept) == 1
