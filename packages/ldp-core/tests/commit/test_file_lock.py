"""Waiting for a file lock: told to who watches, and ended in time."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from ldp_core import locks
from ldp_core.errors import CommitConflict
from ldp_core.locks import file_lock


def test_a_wait_is_told_and_goes_on_until_the_lock_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with file_lock(tmp_path / "write.lock", what="table a.b"):
            held.set()
            free.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(20)
    threading.Timer(0.5, free.set).start()
    with caplog.at_level(logging.WARNING), file_lock(tmp_path / "write.lock", what="table a.b", timeout=20):
        assert free.is_set()
    holder.join()
    assert caplog.messages == ["table a.b is being written by another process; waiting for up to 20 s"]


def test_a_wait_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    path = tmp_path / "write.lock"
    with (
        file_lock(path, what="table a.b"),
        pytest.raises(
            CommitConflict, match=r"table a\.b is being written by another process for more than 0\.3 s"
        ),
        file_lock(path, what="table a.b", timeout=0.3),
    ):
        raise AssertionError("two hold it")
