"""Ticks at any moments, each cut short anywhere: every window that is due is loaded, and once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core.events import jsonl
from pyiceberg.catalog.sql import SqlCatalog

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)
try:
    from nightly_lake import catching_up, drop, loaded, night, tick_at
finally:
    sys.path.remove(HERE)


class Crash(BaseException):
    """The process is gone."""


@dataclass
class Points:
    """Where a process may die: before and after every commit and every write to the ledger."""

    left: int | None
    dead: bool = False

    def reached(self) -> None:
        """One point further."""
        if self.left is not None and not self.dead:
            self.left -= 1
            self.dead = self.left < 0
        if self.dead:  # a dead process writes nothing more
            raise Crash


@contextmanager
def dying(left: int | None) -> Iterator[None]:
    """Die at a point."""
    points = Points(left)

    def around(call: Any) -> Any:
        def called(*args: Any, **options: Any) -> Any:
            points.reached()
            result = call(*args, **options)
            points.reached()
            return result

        return called

    with (
        patch.object(jsonl, "append", around(jsonl.append)),
        patch.object(SqlCatalog, "commit_table", around(SqlCatalog.commit_table)),
    ):
        yield


TICKS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 600), st.one_of(st.none(), st.integers(0, 25))),
    min_size=1,
    max_size=4,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ticks=TICKS)
def test_every_due_window_is_loaded_once(
    ticks: list[tuple[int, int, int | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("ticks")
    catching_up(folder)
    drop(folder, 0, 1, 2, 3)
    for day, minutes, left in ticks:
        before = loaded(folder)
        try:
            with dying(left):
                result = tick_at(folder, night(day, minutes=minutes))
        except Crash:
            assert left is not None
        else:
            assert result.exit_code == 0
            assert set(range(day + 1)) <= set(loaded(folder))
        assert set(before) <= set(loaded(folder)) <= {0, 1, 2, 3}
        assert len(loaded(folder)) == len(set(loaded(folder)))
    assert tick_at(folder, night(3, days=2), force=True).exit_code in (0, 1)  # two nights have no file
    assert loaded(folder) == [0, 1, 2, 3]
