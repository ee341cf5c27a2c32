"""What becomes of batches: a batch counts while main shows the publish of the very run that wrote it."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ldp_core.catalogs.access import open_catalog
from ldp_core.commit.base import load_base
from ldp_core.commit.ledger import Who
from ldp_core.commit.owner import Owner
from ldp_core.commit.rollback import commit_back, look_back
from ldp_core.errors import CommitConflict
from ldp_core.quarantine import remove as removing
from ldp_core.quarantine.remove import quarantine_of, remove, view_of
from ldp_core.targets.iceberg_session import IcebergSession

GOOD, BAD = (1, 1, 5), (2, 1, -5)
"""Rows of the first of January."""


class Killed(BaseException):
    """The process is gone."""


@pytest.fixture
def kill(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Kills runs between the write of their batch and their publish."""
    real = IcebergSession.publish

    def publish(self: IcebergSession, *args: Any) -> Any:
        if self.place.identifier[1] == "rides":
            raise Killed
        return real(self, *args)

    def arm(on: bool) -> None:
        monkeypatch.setattr(IcebergSession, "publish", publish if on else real)

    return arm


def back(lake: Any, snapshot: int | None) -> None:
    """Roll main back."""
    view = view_of(lake.target)
    base = load_base(open_catalog(lake.target.sub("catalog")), ("nyc", "rides"))
    commit_back(base, look_back(view, snapshot), Owner("c", "nyc.rides", Who("CSV", "rides")))


def expire(lake: Any, name: str = "rides") -> None:
    """Expire every snapshot but main's head, by pyiceberg."""
    table = lake.table(name)
    table.maintenance.expire_snapshots().older_than(datetime.now(UTC) + timedelta(days=1)).commit()


def test_a_batch_is_open_once_its_run_has_published(lake: Any) -> None:
    result = lake.run([GOOD, BAD], 1, run_id="night-1")
    (batch,) = lake.batches()
    assert (batch.id, batch.key) == (str(result.published_in), result.idempotency_key)
    assert (batch.run_id, batch.attempt, batch.rules) == ("night-1", 1, {"rule": 1})
    assert (batch.rows, batch.unread) == (1, 0)
    assert batch.window == result.window
    assert lake.states() == ["open"]


def test_a_killed_run_leaves_a_batch_that_does_not_count(lake: Any, kill: Any) -> None:
    lake.run([GOOD], 1)
    kill(True)
    with pytest.raises(Killed):
        lake.run([(3, 2, -5), (4, 2, 5)], 2, run_id="r")
    assert lake.states() == ["unpublished"]
    assert lake.sweep() == []
    assert lake.states() == ["unpublished"]  # its run may still be at work
    kill(False)
    lake.run([(3, 2, -5), (4, 2, 5)], 2, run_id="r", attempt=2)
    assert (lake.states(), lake.open(), lake.ids()) == (["open"], [3], [1, 4])  # swept before it wrote


def test_a_first_load_that_was_killed(lake: Any, kill: Any) -> None:
    kill(True)
    with pytest.raises(Killed):
        lake.run([GOOD, BAD], 1, run_id="r")
    assert lake.states() == ["unpublished"]
    kill(False)
    lake.run([GOOD, BAD], 1, run_id="r", attempt=2)
    assert sorted(lake.states()) == ["open", "unpublished"]
    lake.sweep()
    assert (lake.states(), lake.open()) == (["open"], [2])


def test_a_rollback_takes_the_batch_back_and_a_new_run_brings_another(lake: Any) -> None:
    first = lake.run([(9, 3, 1)], 3).published_in
    lake.run([GOOD, BAD], 1)
    back(lake, first)
    assert (lake.states(), lake.ids()) == (["unpublished"], [9])
    lake.run([GOOD, (5, 1, -1)], 1)
    assert lake.states() == ["unpublished", "open"]
    assert (lake.open(), lake.ids()) == ([5], [1, 9])
    lake.sweep()
    assert (lake.states(), lake.open()) == (["open"], [5])


@pytest.mark.parametrize("more", [1, 22])
def test_an_expiry_of_snapshots_changes_nothing(lake: Any, more: int) -> None:
    lake.run([GOOD, BAD], 1)
    lake.run([(7, 1, 1), (8, 1, -1)], key="by-hand", run_id="plain")
    for number in range(more):
        lake.run([(100 + number, 2, 1)], key=f"key-{number}")
    expire(lake)
    assert len(view_of(lake.target).snapshots) == 1
    assert lake.states() == ["open", "open"]
    lake.sweep()
    assert lake.open() == [2, 8]


def test_a_run_without_a_key_is_known_by_its_run(lake: Any) -> None:
    lake.run([GOOD, BAD], run_id="one")
    lake.run([(3, 1, 1)], run_id="two")
    expire(lake)
    assert (lake.batches()[0].key, lake.states()) == ("run:one", ["open"])


@pytest.mark.parametrize("how", ["replace key", "wider window", "plain"])
def test_a_window_that_is_replaced_withdraws_its_batch(lake: Any, how: str) -> None:
    lake.mode = "overwrite"
    lake.run([(1, 1, 1), (2, 1, -1)], 1)
    lake.run([(3, 2, 1), (4, 2, -1)], 2)
    assert lake.open() == [2, 4]
    if how == "replace key":
        lake.run([(5, 1, 1), (6, 1, -1)], 1, key="again")
        assert (lake.open(), lake.ids()) == ([4, 6], [3, 5])
    elif how == "plain":
        lake.run([(5, 1, 1), (6, 1, -1)])
        assert (lake.open(), lake.ids()) == ([6], [5])
    else:
        lake.run([(5, 1, 1), (6, 2, -1)], 1, days=2)
        assert (lake.open(), lake.ids()) == ([6], [5])
    assert set(lake.states()) == {"open"}  # what was replaced is swept


def test_what_was_replaced_is_withdrawn_before_it_is_swept(
    lake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.mode = "overwrite"
    lake.run([GOOD, BAD], 1)
    monkeypatch.setattr(removing, "remove", lambda base, names: 0)
    lake.run([(3, 1, 1)], 1, key="again")
    assert lake.states() == ["withdrawn"]


def test_an_append_and_an_upsert_withdraw_nothing(lake: Any) -> None:
    lake.extra = {"join_cols": ["id"]}
    lake.run([GOOD, BAD], 1)
    lake.run([(1, 1, 6), (3, 1, 1)], 1, key="again", mode="upsert")
    lake.run([(4, 1, 1)])
    assert lake.states() == ["open"]


def test_the_loser_of_a_race_takes_its_batch_with_it(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = IcebergSession.publish
    inner: list[Any] = []

    def publish(self: IcebergSession, *args: Any) -> Any:
        if self.place.identifier[1] == "rides" and not inner:
            inner.append(None)
            inner[0] = lake.run([GOOD, (7, 1, -7)], 1)  # another process, in between
        return real(self, *args)

    monkeypatch.setattr(IcebergSession, "publish", publish)
    lost = lake.run([GOOD, BAD], 1)
    assert (lost.status, inner[0].status) == ("skipped_duplicate", "published")
    assert (lake.states(), lake.open(), lake.ids()) == (["open"], [7], [1])


def test_a_publish_that_fails_for_sure_takes_its_batch_with_it(
    lake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.run([(9, 2, 1)], 2)
    real = IcebergSession.publish

    def publish(self: IcebergSession, *args: Any) -> Any:
        if self.place.identifier[1] == "rides":
            raise CommitConflict("lost")
        return real(self, *args)

    monkeypatch.setattr(IcebergSession, "publish", publish)
    with pytest.raises(CommitConflict):
        lake.run([GOOD, BAD], 1)
    assert lake.batches() == []


def test_a_sweep_that_fails_is_a_warning(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.run([GOOD, BAD], 1)

    def broken(*args: Any) -> Any:
        raise OSError("no disk")

    monkeypatch.setattr(removing, "read_batches", broken)
    result = lake.run([(3, 2, 1), (4, 2, -1)], 2)
    assert result.warnings[0] == "nyc.rides__quarantine could not be tidied: OSError: no disk"
    assert lake.ids() == [1, 3]


def test_two_processes_load_one_window_at_once(lake: Any) -> None:
    lake.run([(9, 2, 1)], 2)
    lake.config([GOOD, BAD, (3, 1, -3)])
    code = (
        "import sys;from ldp_core.config import Config;from ldp_core.plan.build import build;"
        "from ldp_core.plan.keyed import Ask;from ldp_core.run.context import RunOptions;"
        "from ldp_core.run.runner import execute;from ldp_core.testing.gates import judged_by;"
        "plan = build(Config.from_file('c.json'), None, Ask(window='2026-01-01/2026-01-02'));"
        "print(execute(judged_by(plan, 'amount < 0'), RunOptions()).status)"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=lake.folder, env=dict(os.environ), stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = sorted(process.communicate()[0].decode().strip() for process in both)
    assert said == ["published", "skipped_duplicate"]
    assert (lake.open(), lake.ids()) == ([2, 3], [1, 9])


def test_a_batch_is_dropped_by_a_commit_that_writes_no_row(lake: Any) -> None:
    lake.run([GOOD, BAD], 1)
    lake.run([(3, 2, 1), (4, 2, -1)], 2)
    before = sorted(Path("wh").rglob("*__quarantine/data/**/*.parquet"))
    base = quarantine_of(lake.target)
    assert base is not None
    assert remove(base, {lake.batches()[0].id}) == 1
    assert lake.open() == [2]
    assert sorted(Path("wh").rglob("*__quarantine/data/**/*.parquet")) == before
    assert lake.table("rides__quarantine").current_snapshot().summary.operation.value == "delete"
    assert remove(base, {"1"}) == 0
