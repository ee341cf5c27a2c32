"""Writers and other upkeep beside a compaction by the command: nothing is lost, and it goes on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
from ldp_maintenance import Maintenance
from ldp_maintenance.commands import _run
from ldp_maintenance.expire import expire_snapshots
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.orphans.run import remove_orphans
from ldp_maintenance.policy import Expire, Orphans, Policy
from ldp_maintenance.testing import builders, looks
from pyiceberg.types import StringType

Go = Callable[..., tuple[int, dict[str, Any], str]]


def one(body: dict[str, Any]) -> dict[str, Any]:
    (outcome,) = body["operations"]
    return dict(outcome)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Lets something happen once a command has written a group and committed nothing."""
    left = [act]

    def report(*_: Any) -> None:
        if left:
            left.pop()()

    @contextmanager
    def reporting(**_: Any) -> Any:
        yield report

    monkeypatch.setattr(_run, "reporting", reporting)


def test_maint_case_an_append_lands_during_a_compaction(
    cat: Any, go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = builders.table(cat)
    builders.small_files(table, 8, rows=50)
    meanwhile(monkeypatch, lambda: builders.append(cat.load_table("db.t"), range(400, 410)))
    code, body, err = go("compact", "--yes")
    assert (code, err, one(body)["groups_lost"]) == (0, "", 0)
    table.refresh()
    assert (len(looks.rows(table)), len(looks.live_files(table))) == (410, 2)


def test_maint_case_another_compaction_does_all_of_it_first(
    cat: Any, go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = builders.table(cat)
    builders.small_files(table, 8)

    def other() -> None:
        assert Maintenance(cat.load_table("db.t")).run(["rewrite-data-files"], commit=True).changed

    meanwhile(monkeypatch, other)
    code, body, err = go("compact", "--yes")
    assert (code, err) == (0, "")
    assert (one(body)["status"], one(body)["reason"]) == ("nothing", "others rewrote its files meanwhile")
    table.refresh()
    assert (len(looks.rows(table)), len(looks.live_files(table))) == (80, 1)


@pytest.mark.parametrize("kind", ["append", "position", "equality", "overwrite"])
def test_maint_case_a_run_over_two_tables_beside_a_writer(
    cat: Any, go: Go, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    table, other = builders.table(cat), builders.table(cat, "t2")
    paths = builders.small_files(table, 3)
    builders.small_files(other, 3)

    def act() -> None:
        beside = cat.load_table("db.t")
        if kind == "append":
            builders.append(beside, range(100, 110))
        elif kind == "position":
            builders.delete_positions(beside, {paths[0]: [0]})
        elif kind == "equality":
            builders.delete_keys(beside, [0])
        else:
            builders.overwrite(beside, paths[0], range(1, 10))

    meanwhile(monkeypatch, act)
    code, body, err = go("run", "--all", "--yes", table=None)
    first, second = body["tables"]
    lost = kind in ("position", "overwrite")
    assert (code, "changed all 1 group" in err) == (int(lost), lost)
    assert (first["table"], second["table"]) == ("db.t", "db.t2")
    assert second["after"]["data_files"] == 1
    table.refresh()
    expected = [*range(30), *range(100, 110)] if kind == "append" else list(range(1, 30))
    assert sorted(row[0] for row in looks.rows(table)) == expected
    assert go("run", "--all", "--yes", table=None)[0] == 0
    table.refresh()
    assert sorted(row[0] for row in looks.rows(table)) == expected
    assert looks.unreferenced_files(table) == set()


def _schema(change: Callable[[Any], object]) -> Callable[[Any], object]:
    def act(table: Any) -> None:
        with table.update_schema() as update:
            change(update)

    return act


def _dropped_and_added(update: Any) -> None:
    update.delete_column("amount")
    update.add_column("amount", StringType())


NOW = Doing(commit=True, written_out=True)
OTHERS: dict[str, Callable[[Any], object]] = {
    "renamed": _schema(lambda update: update.rename_column("amount", "sum")),
    "dropped": _schema(lambda update: update.delete_column("amount")),
    "dropped_and_added": _schema(_dropped_and_added),
    "partitioned": lambda table: builders.evolve_spec(table, "day"),
    "expired": lambda table: expire_snapshots(
        Target(table.catalog, table.name(), Policy(expire=Expire(max_snapshot_age_days=0))), NOW
    ),
    "swept": lambda table: remove_orphans(
        Target(table.catalog, table.name(), Policy(orphans=Orphans(older_than_days=0))), NOW
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_maint_case_what_does_not_touch_the_files_costs_nothing(
    cat: Any, go: Go, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    table = builders.table(cat)
    builders.small_files(table, 3)
    meanwhile(monkeypatch, lambda: OTHERS[name](cat.load_table("db.t")))
    code, body, _ = go("compact", "--yes")
    assert (code, one(body)["groups"], one(body)["groups_lost"]) == (0, 1, 0)
    rows = looks.rows(table)
    assert [row[0] for row in sorted(rows)] == list(range(30))
    kept = {"dropped": 3, "dropped_and_added": 4}
    amounts = [row[3:] for row in sorted(rows)]
    if name in kept:
        assert amounts == [(None,) * (kept[name] - 3)] * 30
    else:
        assert amounts == [(number / 2,) for number in range(30)]
    assert looks.unreferenced_files(table) == set()
