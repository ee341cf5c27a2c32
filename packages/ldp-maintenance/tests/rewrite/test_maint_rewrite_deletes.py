"""Deletes of rows: applied when files are rewritten, and never lost where they land meanwhile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from ldp_core.fs import local_path
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.policy import Policy, Rewrite
from ldp_maintenance.rewrite.run import rewrite_data_files
from ldp_maintenance.testing import builders, looks
from pyiceberg.manifest import DataFileContent, ManifestEntryStatus


def rewrite(table: Any, during: Any = None, *, jobs: int = 1, **policy: Any) -> Outcome:
    """Rewrite; something else happens once the first group is written and nothing is committed."""
    once = [during]

    def progress(*_: Any) -> None:
        if once and (act := once.pop()) is not None:
            act()

    target = Target(table.catalog, ("db", "t"), Policy(rewrite=Rewrite(skip_newest=None, **policy)))
    outcome = rewrite_data_files(target, Doing(commit=True, jobs=jobs, progress=progress))
    table.refresh()
    return outcome


def delete_files(table: Any) -> list[str]:
    """Live delete files of main."""
    return [
        entry.data_file.file_path
        for manifest in table.current_snapshot().manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
        if entry.data_file.content != DataFileContent.DATA and entry.status != ManifestEntryStatus.DELETED
    ]


def ids(table: Any) -> list[int]:
    """Ids of the live rows."""
    return sorted(row[0] for row in looks.rows(table))


def three(folder: Path, **given: Any) -> tuple[Any, list[str]]:
    table = builders.table(builders.catalog(folder), **given)
    return table, builders.small_files(table, 3)


def test_maint_position_deletes_are_applied_and_dropped(tmp_path: Path) -> None:
    table, paths = three(tmp_path)
    builders.delete_positions(table, {paths[0]: [0, 1], paths[1]: [9]})
    before = ids(table)
    outcome = rewrite(table)
    assert outcome.detail["removed_delete_files"] == 2
    assert ids(table) == before
    assert len(before) == 27
    assert delete_files(table) == []
    assert looks.entries_in_manifest_of_wrong_content(table) == 0
    assert rewrite(table).status == "nothing"


def test_maint_equality_deletes_are_applied_and_dropped(tmp_path: Path) -> None:
    table, _ = three(tmp_path)
    builders.delete_keys(table, [3, 14, 25])
    outcome = rewrite(table)
    assert outcome.detail["added_data_files"] == 1
    (file,) = looks.live_files(table).values()
    assert file.record_count == 27
    assert len(ids(table)) == 27
    assert delete_files(table) == []
    assert rewrite(table).status == "nothing"


def test_maint_equality_deletes_of_a_column_that_was_dropped_are_applied(tmp_path: Path) -> None:
    table, _ = three(tmp_path)
    builders.delete_keys(table, [3, 14, 25])
    left = sorted(row[1:] for row in looks.rows(table))
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("id")
    outcome = rewrite(table)
    assert (outcome.status, outcome.detail["removed_delete_files"]) == ("done", 1)
    (file,) = looks.live_files(table).values()
    assert file.record_count == 27
    assert sorted(looks.rows(table)) == left
    assert delete_files(table) == []


def test_maint_deletes_that_still_apply_elsewhere_stay(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    near = builders.small_files(table, 2, city="NYC")
    far = builders.small_files(table, 1, city="LA", first=100)
    builders.delete_positions(table, {near[0]: [0], near[1]: [0], far[0]: [0]}, scoped=False)
    assert len(delete_files(table)) == 2
    before = ids(table)
    assert rewrite(table).detail["removed_delete_files"] == 1
    assert len(delete_files(table)) == 1
    assert ids(table) == before


def test_maint_a_delete_file_of_a_partition_that_is_not_rewritten_whole(tmp_path: Path) -> None:
    """A large file keeps the delete file alive; what replaces the small ones is not judged by it again."""
    table = builders.table(builders.catalog(tmp_path))
    large = builders.append(table, range(1000, 4000))
    small = builders.small_files(table, 3)
    builders.delete_positions(table, {large[0]: [0], small[0]: [0]}, scoped=False)
    before, size = ids(table), looks.live_files(table)[large[0]].file_size_in_bytes
    assert rewrite(table, target_file_size_bytes=size).detail["rewritten_data_files"] == 3
    assert len(delete_files(table)) == 1
    assert ids(table) == before
    assert (
        rewrite(table, target_file_size_bytes=size, delete_file_threshold=0).detail["rewritten_data_files"]
        == 2
    )
    assert rewrite(table, target_file_size_bytes=size, delete_file_threshold=0).status == "nothing"
    assert ids(table) == before
    assert delete_files(table) == []


def test_maint_a_lone_file_is_rewritten_for_its_deletes(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    (path,) = builders.append(table, range(10))
    builders.delete_positions(table, {path: [0, 1]})
    assert rewrite(table).status == "nothing"
    builders.delete_positions(table, {path: [2, 3]})
    assert rewrite(table).detail["removed_delete_files"] == 2
    assert ids(table) == list(range(4, 10))
    (path,) = looks.live_files(table)
    for number in range(6):
        builders.delete_keys(table, [100 + number])
    assert rewrite(table).detail["removed_delete_files"] == 6


def test_maint_a_file_without_live_rows_goes(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    (path,) = builders.append(table, range(3))
    builders.delete_positions(table, {path: [0, 1, 2]})
    outcome = rewrite(table)
    assert (outcome.detail["rewritten_data_files"], outcome.detail["added_data_files"]) == (1, 0)
    assert looks.live_files(table) == {}
    assert ids(table) == []


def test_maint_an_append_meanwhile_stays(tmp_path: Path) -> None:
    table, _ = three(tmp_path)
    outcome = rewrite(table, lambda: builders.append(table, range(100, 110)))
    assert (outcome.status, outcome.detail["groups_lost"]) == ("done", 0)
    assert ids(table) == [*range(30), *range(100, 110)]
    assert len(looks.live_files(table)) == 2


def test_maint_a_position_delete_meanwhile_costs_its_group_alone(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    near = builders.small_files(table, 3, city="NYC")
    builders.small_files(table, 3, city="LA", first=100)
    outcome = rewrite(table, lambda: builders.delete_positions(table, {near[0]: [4]}))
    assert (outcome.status, outcome.detail["groups"], outcome.detail["groups_lost"]) == ("done", 1, 1)
    assert "city=NYC: rows of its files were deleted meanwhile" in "\n".join(outcome.lines)
    assert ids(table) == sorted({*range(30), *range(100, 130)} - {4})
    assert looks.unreferenced_files(table) == set()
    assert rewrite(table).detail["groups"] == 1
    assert ids(table) == sorted({*range(30), *range(100, 130)} - {4})


def test_maint_a_position_delete_elsewhere_in_the_partition_costs_nothing(tmp_path: Path) -> None:
    table, _ = three(tmp_path)

    def meanwhile() -> None:
        (path,) = builders.append(table, range(100, 110))
        builders.delete_positions(table, {path: [0]}, scoped=False)

    outcome = rewrite(table, meanwhile)
    assert (outcome.detail["groups"], outcome.detail["groups_lost"]) == (1, 0)
    assert ids(table) == [*range(30), *range(101, 110)]


def test_maint_an_equality_delete_meanwhile_keeps_applying(tmp_path: Path) -> None:
    table, _ = three(tmp_path)
    outcome = rewrite(table, lambda: builders.delete_keys(table, [7, 17]))
    assert (outcome.detail["groups"], outcome.detail["groups_lost"]) == (1, 0)
    assert ids(table) == sorted({*range(30)} - {7, 17})
    assert len(delete_files(table)) == 1


def test_maint_files_that_were_replaced_meanwhile(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    near = builders.small_files(table, 3, city="NYC")
    builders.small_files(table, 3, city="LA", first=100)
    outcome = rewrite(table, lambda: builders.overwrite(table, near[1], [10, 11], city="NYC"), jobs=2)
    assert (outcome.detail["groups"], outcome.detail["groups_lost"]) == (1, 1)
    assert ids(table) == [*range(12), *range(20, 30), *range(100, 130)]


def test_maint_all_groups_lost_is_a_failure(tmp_path: Path) -> None:
    table, paths = three(tmp_path)
    outcome = rewrite(table, lambda: builders.overwrite(table, paths[1], [10, 11]))
    assert (outcome.status, outcome.code) == ("failed", "commit_conflict")
    assert ids(table) == [*range(12), *range(20, 30)]
    assert looks.unreferenced_files(table) == set()


def test_maint_what_a_killed_rewrite_left_is_swept_by_the_next(tmp_path: Path) -> None:
    table, _ = three(tmp_path)
    code = (
        "import os, sys; from pathlib import Path; from ldp_maintenance.testing import builders\n"
        "from ldp_maintenance.model import Doing, Target\n"
        "from ldp_maintenance.rewrite.run import rewrite_data_files\n"
        "target = Target(builders.catalog(Path(sys.argv[1])), ('db', 't'))\n"
        "rewrite_data_files(target, Doing(commit=True, progress=lambda *_: os._exit(9)))"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=60)
    assert killed.returncode == 9
    assert len(list(local_path(table.location()).rglob("*.parquet"))) == 4
    table.refresh()
    assert len(looks.live_files(table)) == 3
    assert rewrite(table).status == "done"
    assert ids(table) == list(range(30))
    assert looks.unreferenced_files(table) == set()
