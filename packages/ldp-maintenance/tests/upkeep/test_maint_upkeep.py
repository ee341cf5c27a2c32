"""All that is due on a table, in order; what becomes of the rest when one operation does not work."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import CommitUnknown, LDPError, TableNotFound, UsageError
from ldp_maintenance import (
    OPERATIONS,
    Doing,
    Expire,
    Maintained,
    Maintenance,
    Outcome,
    Policy,
    Rewrite,
    Target,
)
from ldp_maintenance.engines import local
from ldp_maintenance.model import Operation
from ldp_maintenance.testing import builders, looks, three

NOTHING_NEWER = Policy(rewrite=Rewrite(skip_newest=None, target_file_size_bytes=1_000_000))


@pytest.fixture
def target(tmp_path: Path) -> Target:
    """A table of five small files in five snapshots, with a delete."""
    catalog = builders.catalog(tmp_path)
    table = builders.table(catalog, properties={"commit.manifest-merge.enabled": "false"})
    first, *_ = builders.small_files(table, 5)
    builders.delete_positions(table, {first: [0]})
    return Target(catalog, ("db", "t"), NOTHING_NEWER)


def _statuses(found: Maintained) -> dict[str, str]:
    return {one.operation: one.status for one in found.outcomes}


def _break(monkeypatch: pytest.MonkeyPatch, *wrong: str, error: Callable[[str], Exception]) -> None:
    """Let some operations fail."""
    real = local.local.run

    def run(self: Any, operation: Operation, target: Target, doing: Doing) -> Outcome:
        if operation in wrong:
            raise error(operation)
        return real(operation, target, doing)

    monkeypatch.setattr(local.Local, "run", run)


def test_a_preview_changes_nothing(target: Target) -> None:
    table = target.catalog.load_table(target.identifier)
    before = table.metadata_location, looks.files_on_disk(table)
    found = Maintenance(target).plan()
    table = target.catalog.load_table(target.identifier)
    assert (table.metadata_location, looks.files_on_disk(table)) == before
    assert found.dry_run
    assert not found.changed
    assert [one.operation for one in found.outcomes] == list(OPERATIONS)
    assert _statuses(found)["rewrite-data-files"] == "preview"
    assert "done" not in _statuses(found).values()


def test_a_run_does_what_is_due_and_the_next_one_nothing(target: Target) -> None:
    rows = looks.rows(target.catalog.load_table(target.identifier))
    told: list[Maintained] = []
    found = Maintenance(target).run(commit=True, tell=told.append)
    assert found.errors == ()
    assert told == [found]
    assert found.before is not None
    assert found.after is not None
    assert (found.before["data_files"], found.after["data_files"]) == (5, 1)
    assert found.after["delete_files"] == 0
    assert looks.rows(target.catalog.load_table(target.identifier)) == rows
    again = Maintenance(target).run(commit=True, tell=told.append)
    assert not again.changed
    assert again.after is None
    assert len(told) == 1
    assert set(_statuses(again).values()) <= {"nothing", "skipped"}


def test_a_table_of_pyiceberg_and_its_own_properties(target: Target) -> None:
    table = target.catalog.load_table(target.identifier)
    with table.transaction() as change:
        change.set_properties({"ldp.maintenance.retention.rewrite_manifests.enabled": "false"})
    found = Maintenance(target.catalog.load_table(target.identifier)).plan()
    assert found.table == "db.t"
    outcome = found.of("rewrite-manifests")
    assert outcome is not None
    assert (outcome.status, outcome.reason) == ("skipped", "turned off by properties")


def test_named_operations_run_alone_and_in_order(target: Target) -> None:
    found = Maintenance(target).run(["rewrite-manifests", "rewrite-data-files"], commit=True)
    assert list(_statuses(found)) == ["rewrite-data-files", "rewrite-manifests"]
    with pytest.raises(UsageError, match="compact"):
        Maintenance(target).run(["compact"])  # type: ignore[list-item]


def test_what_is_turned_off_stays_off_when_it_is_named(target: Target) -> None:
    off = Policy(expire=Expire(enabled=False), origins={"expire.enabled": "table"})
    found = Maintenance(target, off).run(["expire-snapshots"], commit=True)
    assert found.outcomes[0].reason == "turned off by table"
    assert found.outcomes[0].status == "skipped"


def test_a_failure_does_not_stop_the_others(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(
        monkeypatch, "rewrite-data-files", error=lambda name: LDPError(f"no {name}", hint="do it elsewhere")
    )
    found = Maintenance(target).run(commit=True)
    statuses = _statuses(found)
    assert statuses["rewrite-data-files"] == "refused"
    assert statuses["rewrite-manifests"] == "done"
    assert found.to_dict()["error"] == {
        "code": "error",
        "message": "no rewrite-data-files",
        "hint": "do it elsewhere",
    }
    expire = found.of("expire-snapshots")
    assert expire is not None
    assert expire.status == "nothing"
    assert any("rewrite-data-files did not work" in line for line in expire.lines)


def test_a_table_that_is_dropped_meanwhile_does_not_lose_what_was_done(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dropped(name: str) -> Exception:
        target.catalog.drop_table(target.identifier)
        return LDPError("it was dropped")

    _break(monkeypatch, "rewrite-manifests", error=dropped)
    found = Maintenance(target).run(commit=True)
    statuses = _statuses(found)
    assert statuses["rewrite-data-files"] == "done"
    assert statuses["expire-snapshots"] == statuses["remove-orphans"] == "refused"
    assert "does not exist" in str(found.errors[-1].reason)


def test_nothing_is_deleted_once_nobody_knows(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, "rewrite-manifests", error=lambda name: CommitUnknown("nobody knows"))
    statuses = _statuses(Maintenance(target).run(commit=True))
    assert statuses["rewrite-data-files"] == "done"
    assert statuses["rewrite-manifests"] == "failed"
    assert (statuses["expire-snapshots"], statuses["remove-orphans"]) == ("skipped", "skipped")


def test_an_error_that_nobody_meant_is_one_line(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, "rewrite-data-files", error=lambda name: RuntimeError("two\nlines"))
    outcome = Maintenance(target).plan().of("rewrite-data-files")
    assert outcome is not None
    assert (outcome.status, outcome.reason) == ("failed", "RuntimeError: two")


def test_a_part_of_the_work_is_told_of_too(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation that failed had committed before."""
    real = local.local.run

    def run(self: Any, operation: Operation, target: Target, doing: Doing) -> Outcome:
        done = real(operation, target, doing)
        return replace(done, status="failed", reason="the second group") if done.snapshots else done

    monkeypatch.setattr(local.Local, "run", run)
    told: list[Maintained] = []
    found = Maintenance(target).run(["rewrite-data-files"], commit=True, tell=told.append)
    assert found.errors
    assert found.after is not None
    assert found.after["data_files"] == 1
    assert told == [found]


def test_an_interrupt_is_told_of_what_was_done(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(name: str) -> Any:
        raise KeyboardInterrupt

    _break(monkeypatch, "rewrite-manifests", error=interrupt)
    told: list[Maintained] = []
    with pytest.raises(KeyboardInterrupt):
        Maintenance(target).run(commit=True, tell=told.append)
    assert [one.operation for one in told[0].outcomes if one.status == "done"] == ["rewrite-data-files"]


def test_a_table_that_may_not_lose_files_keeps_them(target: Target) -> None:
    table = target.catalog.load_table(target.identifier)
    with table.transaction() as change:
        change.set_properties({"gc.enabled": "false"})
    due = _statuses(Maintenance(target).plan())
    assert (due["expire-snapshots"], due["remove-orphans"]) == ("skipped", "skipped")
    named = Maintenance(target).plan(["expire-snapshots", "remove-orphans"])
    assert set(_statuses(named).values()) == {"refused"}


def test_a_budget_of_seconds_ends_the_run_and_the_next_goes_on(target: Target) -> None:
    now = dt.datetime.now(dt.UTC)
    ticks = iter(range(0, 100_000, 60))

    def clock() -> dt.datetime:
        return now + dt.timedelta(seconds=next(ticks))

    found = Maintenance(target).run(commit=True, doing=Doing(clock=clock, budget_seconds=1))
    reasons = {one.reason for one in found.outcomes if one.operation != "apply-properties"}
    assert reasons == {"the budget of seconds is used up; the next run goes on"}
    assert Maintenance(target).run(commit=True).changed


def test_a_budget_of_bytes_leaves_the_rest(target: Target) -> None:
    found = Maintenance(target).run(commit=True, doing=Doing(budget_bytes=1))
    outcome = found.of("rewrite-data-files")
    assert outcome is not None
    assert outcome.status == "skipped"
    assert found.errors == ()


def test_a_branch_gets_only_what_works_on_branches(target: Target) -> None:
    table = target.catalog.load_table(target.identifier)
    builders.branch(table, "dev")
    found = _statuses(Maintenance(target).plan(doing=Doing(branch="dev")))
    assert {name for name, status in found.items() if status != "skipped"} == {
        "rewrite-data-files",
        "rewrite-manifests",
    }


def test_a_missing_table(target: Target) -> None:
    with pytest.raises(TableNotFound, match=r"db\.nothing"):
        Maintenance(replace(target, identifier=("db", "nothing"))).run()


def test_what_is_described(target: Target) -> None:
    found = Maintenance(target).describe()
    assert found.layout is not None
    assert found.layout.data_files == 5
    assert found.blockers == ()
    table = target.catalog.load_table(target.identifier)
    Path(next(iter(looks.live_files(table))).removeprefix("file://")).unlink()
    assert Maintenance(target).describe().blockers


def test_neighbours_reach_the_removal_of_orphans(target: Target) -> None:
    """A table in this table's folder: nobody can tell whose the files are."""
    own = target.catalog.load_table(target.identifier).location()
    target.catalog.create_table(("db", "inside"), builders.SCHEMA, location=f"{own}/data/inside")
    outcome = Maintenance(target).plan(["remove-orphans"]).outcomes[0]
    assert (outcome.status, outcome.code) == ("refused", "safety_abort")


def test_what_a_format_version_does_not_allow_is_left_out_of_what_is_due(tmp_path: Path) -> None:
    made = three.v3_table(builders.catalog(tmp_path))
    upkeep = Maintenance(made)
    before = looks.files_on_disk(made)
    due = upkeep.run(commit=True)
    assert not due.errors
    assert due.of("rewrite-data-files").status == "skipped"
    assert "format version 3" in str(due.of("rewrite-data-files").reason)
    named = upkeep.run(["rewrite-data-files"], commit=True)
    assert [(one.status, one.code) for one in named.errors] == [("refused", "unsupported")]
    assert looks.files_on_disk(made) == before
