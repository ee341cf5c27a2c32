"""Expiry beside live writers, lost races, lost answers, and a process that dies in between."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from ldp_core.commit.base import load_base
from ldp_maintenance import expire
from ldp_maintenance.expire import expire_snapshots
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.orphans.run import remove_orphans
from ldp_maintenance.testing import builders, looks
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table


class _Killed(BaseException):
    """The process dies here."""


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = builders.table(builders.catalog(tmp_path))
    paths = builders.small_files(made, 3)
    builders.overwrite(made, paths[0], range(10))
    return made


def _doing(days: float = 10) -> Doing:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
    return Doing(commit=True, clock=lambda: later)


def _target(table: Table) -> Target:
    return Target(table.catalog, ("db", "t"))


def _before_the_commit(table: Table, monkeypatch: pytest.MonkeyPatch, meanwhile: Any) -> None:
    """Let something happen between the plan and the commit of an expiry, once."""
    real = table.catalog.commit_table
    pending = [meanwhile]

    def commit(*given: Any) -> Any:
        if pending:
            pending.pop()()
        return real(*given)

    monkeypatch.setattr(table.catalog, "commit_table", commit)


def _other(table: Table) -> Table:
    return type(table.catalog)("test", **table.catalog.properties).load_table(("db", "t"))


@pytest.mark.parametrize("kind", ["tag", "branch"])
def test_maint_expire_a_ref_put_meanwhile_on_a_snapshot_that_was_to_go_keeps_it(
    table: Table, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = table.metadata.snapshots[0].snapshot_id
    rows = looks.rows(table, first)
    other = _other(table)
    _before_the_commit(table, monkeypatch, lambda: getattr(builders, kind)(other, "kept", first))
    outcome = expire_snapshots(_target(table), _doing())
    table.refresh()
    assert outcome.status == "done"
    assert "kept" in table.metadata.refs
    assert looks.rows(table, first) == rows
    assert outcome.detail["protected_snapshot_ids"]["refs"][0] == str(first)
    assert not looks.unreferenced_files(table)


def test_maint_expire_an_append_meanwhile_is_kept(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    other = _other(table)
    _before_the_commit(table, monkeypatch, lambda: builders.append(other, range(100, 110)))
    expire_snapshots(_target(table), _doing())
    assert len(looks.rows(table)) == 40
    assert not looks.unreferenced_files(table)


def test_maint_expire_a_rollback_meanwhile_to_what_was_to_go(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _other(table)
    _before_the_commit(table, monkeypatch, lambda: builders.rollback(other, 2))
    expire_snapshots(_target(table), _doing())
    assert len(looks.rows(table)) == 20


def test_maint_expire_an_append_after_the_commit_loses_no_file(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = expire.change_metadata

    def slow(*given: Any) -> Any:
        landed = real(*given)
        builders.append(_other(table), range(100, 110))
        return landed

    monkeypatch.setattr(expire, "change_metadata", slow)
    expire_snapshots(_target(table), _doing())
    assert len(looks.rows(table)) == 40
    assert not looks.unreferenced_files(table)


def test_maint_expire_killed_between_commit_and_deletion_leaves_the_rest_to_orphans(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = looks.rows(table)

    def die(*_: Any, **__: Any) -> Any:
        raise _Killed

    with monkeypatch.context() as patch:
        patch.setattr(expire, "delete_files", die)
        with pytest.raises(_Killed):
            expire_snapshots(_target(table), _doing())
    table.refresh()
    assert len(table.metadata.snapshots) == 1
    assert looks.unreferenced_files(table)
    remove_orphans(_target(table), _doing())
    assert not looks.unreferenced_files(table)
    assert looks.rows(table) == rows


@pytest.mark.parametrize("lands", [True, False])
def test_maint_expire_an_answer_that_was_lost_is_looked_up(
    table: Table, lands: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = table.catalog.commit_table
    pending = [True]

    def commit(*given: Any) -> Any:
        if not pending:
            return real(*given)
        pending.pop()
        if lands:
            real(*given)
        raise ConnectionError("the answer was lost")

    monkeypatch.setattr(table.catalog, "commit_table", commit)
    outcome = expire_snapshots(_target(table), _doing())
    table.refresh()
    assert outcome.status == "done"
    assert len(table.metadata.snapshots) == 1
    assert outcome.detail["deleted_files"] > 0
    assert not looks.unreferenced_files(table)


def test_maint_expire_lost_races_leave_no_metadata_file(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = table.catalog._write_metadata  # type: ignore[attr-defined]
    left = [2]

    def write(metadata: Any, io: Any, path: str, *rest: Any) -> None:
        real(metadata, io, path, *rest)
        if left[0]:
            left[0] -= 1
            builders.append(_other(table), range(1))
            if left[0]:
                raise CommitFailedException("lost")

    monkeypatch.setattr(table.catalog, "_write_metadata", write)
    outcome = expire_snapshots(_target(table), _doing())
    table.refresh()
    assert outcome.status == "done"
    assert len(looks.rows(table)) == 32
    assert not looks.unreferenced_files(table)


def test_maint_expire_two_at_once_do_no_harm(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = looks.rows(table)
    other = _other(table)
    _before_the_commit(table, monkeypatch, lambda: expire_snapshots(_target(other), _doing()))
    outcome = expire_snapshots(_target(table), _doing())
    # What it wanted is true, whoever did it; the other one has deleted the files.
    assert outcome.detail["deleted_files"] == 0
    assert not outcome.detail.get("failed_files")
    assert looks.rows(table) == rows
    assert not looks.unreferenced_files(table)
    assert load_base(table.catalog, ("db", "t")).exists
