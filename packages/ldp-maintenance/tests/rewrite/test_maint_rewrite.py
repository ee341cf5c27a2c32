"""``rewrite-data-files`` on real tables: fewer files, the same rows, and a second run that finds nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.policy import Ordering, Policy, Rewrite
from ldp_maintenance.rewrite.run import rewrite_data_files
from ldp_maintenance.testing import builders, looks

YES = Doing(commit=True)


def target(table: Any, *, ordering: Ordering | None = None, **rewrite: Any) -> Target:
    """A table to rewrite, its newest partitions too."""
    policy = Policy(ordering=ordering or Ordering(), rewrite=replace(Rewrite(skip_newest=None), **rewrite))
    name = table.name()
    return Target(table.catalog, (".".join(name[:-1]), name[-1]), policy)


def run(table: Any, doing: Doing = YES, **given: Any) -> Outcome:
    """Rewrite, and make sure that no row changed and nothing is left behind."""
    before = looks.rows(table)
    left = looks.unreferenced_files(table)
    outcome = rewrite_data_files(target(table, **given), doing)
    table.refresh()
    assert looks.rows(table) == before
    assert looks.unreferenced_files(table) <= left
    assert looks.entries_in_manifest_of_wrong_content(table) == 0
    return outcome


def test_maint_small_files_become_one_and_a_second_run_finds_nothing(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 8)
    outcome = run(table)
    assert outcome.status == "done"
    assert outcome.detail["rewritten_data_files"] == 8
    assert outcome.detail["added_data_files"] == 1
    assert len(looks.live_files(table)) == 1
    assert table.current_snapshot().summary["ldp.maintenance"] == "rewrite-data-files"
    assert table.current_snapshot().summary.operation.value == "replace"
    assert run(table).status == "nothing"


def test_maint_a_preview_changes_nothing(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 4)
    before, files = table.metadata_location, looks.files_on_disk(table)
    outcome = run(table, Doing())
    assert (outcome.status, outcome.detail["rewritten_data_files"]) == ("preview", 4)
    assert (table.metadata_location, looks.files_on_disk(table)) == (before, files)
