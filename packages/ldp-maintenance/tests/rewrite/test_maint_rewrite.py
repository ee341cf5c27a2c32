"""``rewrite-data-files`` on real tables: fewer files, the same rows, and a second run that finds nothing."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Change
from ldp_core.commit.publish import publish
from ldp_core.errors import LDPError, SnapshotNotFound, TableNotFound
from ldp_core.fs import local_path
from ldp_core.testing.builders import data_files
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.policy import Ordering, Policy, Rewrite
from ldp_maintenance.rewrite.run import rewrite_data_files
from ldp_maintenance.testing import builders, looks
from ldp_maintenance.testing.three import v3_table
from pyiceberg.io.pyarrow import schema_to_pyarrow

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


@pytest.mark.parametrize("reduced", [True, False])
def test_maint_the_target_means_bytes_on_disk(tmp_path: Path, reduced: bool) -> None:
    """20 files of 40 kB and a target of 200 kB give about four files, whatever their compression was."""
    table = texts(tmp_path, files=20, rows=500, compression="zstd" if reduced else "none")
    sizes = [file.file_size_in_bytes for file in looks.live_files(table).values()]
    size = 5 * max(sizes)
    outcome = run(table, target_file_size_bytes=size)
    made = [file.file_size_in_bytes for file in looks.live_files(table).values()]
    assert outcome.status == "done"
    assert all(0.75 * size <= item <= 1.8 * size for item in made)
    assert 3 <= len(made) <= 5 if reduced else len(made) < 5
    assert run(table, target_file_size_bytes=size).status == "nothing"


def test_maint_an_oversized_file_is_split_and_rows_keep_their_order(tmp_path: Path) -> None:
    table = texts(tmp_path, files=1, rows=30_000)
    (file,) = looks.live_files(table).values()
    size = file.file_size_in_bytes // 10
    assert run(table, target_file_size_bytes=size).status == "done"
    made = looks.live_files(table).values()
    assert 6 <= len(made) <= 13
    assert all(0.75 * size <= item.file_size_in_bytes <= 1.8 * size for item in made)
    for item in made:
        ids = pq.read_table(local_path(item.file_path), columns=["id"]).column("id").to_pylist()
        assert ids == list(range(ids[0], ids[0] + len(ids)))
    assert run(table, target_file_size_bytes=size).status == "nothing"


def test_maint_a_lone_small_file_is_left_alone(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    builders.append(table, range(5), city="NYC")
    builders.append(table, range(5), city="LA")
    assert run(table).status == "nothing"


def test_maint_rows_stay_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 6)
    builders.delete_positions(table, {path: [0] for path in list(looks.live_files(table))[::2]})
    run(table)
    (path,) = looks.live_files(table)
    ids = pq.read_table(local_path(path)).column("id").to_pylist()
    assert all(a < b for a, b in itertools.pairwise(ids) if a // 10 == b // 10)


def test_maint_files_of_an_older_spec_stay_in_it(tmp_path: Path) -> None:
    """Four files without partitions, of 30 days each, become one: not thirty."""
    table = builders.table(builders.catalog(tmp_path))
    days = [builders.DAY0 + dt.timedelta(days=n) for n in range(3)]
    for day in days:
        builders.append(table, range(4), at=day)
    builders.evolve_spec(table, "day")
    for day in days:
        builders.append(table, range(10, 14), at=day)
        builders.append(table, range(20, 24), at=day)
    outcome = run(table)
    assert (outcome.detail["rewritten_data_files"], outcome.detail["added_data_files"]) == (9, 4)
    specs = sorted(file.spec_id for file in looks.live_files(table).values())
    assert specs == [0, 1, 1, 1]
    assert run(table).status == "nothing"


def test_maint_an_output_spec_of_a_column_that_was_dropped_is_refused(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    builders.small_files(table, 2)
    builders.evolve_spec(table, None)
    with table.update_schema() as update:
        update.delete_column("city")
    builders.small_files(table.refresh(), 2, first=50)
    for doing in (YES, Doing()):
        with pytest.raises(LDPError, match="the column of its field city was dropped"):
            run(table, doing, output_spec=0)
    assert run(table, skip_newest=None).status == "done"
    assert len(looks.rows(table)) == 40


def test_maint_an_output_spec_partitions_anew(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    for number in range(3):
        builders.append(table, range(4), at=builders.DAY0 + dt.timedelta(days=number))
    builders.evolve_spec(table, "day")
    assert run(table, output_spec=1).status == "done"
    made = looks.live_files(table).values()
    assert {file.spec_id for file in made} == {1}
    assert sorted(file.partition[0] for file in made) == [19723, 19724, 19725]
    assert run(table, output_spec=1).status == "nothing"
    with pytest.raises(LDPError, match=r"no partition spec 9; specs: 0, 1"):
        run(table, output_spec=9)


@pytest.mark.parametrize("jobs", [1, 2])
def test_maint_partitions_that_meet_in_another_spec_are_put_together_at_once(
    tmp_path: Path, jobs: int
) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    for city in ("a", "b", "c"):
        builders.small_files(table, 2, city=city)
    builders.evolve_spec(table, "month")
    builders.small_files(table, 1, first=900)
    assert run(table, Doing(commit=True, jobs=jobs), output_spec=1).status == "done"
    assert [file.spec_id for file in looks.live_files(table).values()] == [1]
    assert run(table, output_spec=1).status == "nothing"


def test_maint_the_newest_partition_and_a_closed_one_are_left_alone(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="day")
    for number in range(4):
        builders.small_files(table, 2, at=builders.DAY0 + dt.timedelta(days=number))
    outcome = run(table, skip_newest=1)
    assert outcome.detail["rewritten_data_files"] == 4
    assert outcome.detail["left_newest_partitions"] == 2
    assert "at_day=2024-01-03, at_day=2024-01-04" in outcome.lines[-1]
    assert run(table, skip_newest=0).detail["rewritten_data_files"] == 2
    assert run(table, skip_newest=None).detail["rewritten_data_files"] == 2


def test_maint_budgets_do_the_best_first_and_the_next_run_goes_on(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    builders.small_files(table, 2, city="LA")
    builders.small_files(table, 6, city="NYC")
    size = sum(
        file.file_size_in_bytes for file in looks.live_files(table).values() if file.partition[0] == "NYC"
    )
    outcome = run(table, Doing(commit=True, budget_bytes=size))
    assert (outcome.detail["rewritten_data_files"], outcome.detail["left_for_budget"]) == (6, 1)
    assert run(table, Doing(commit=True, budget_bytes=10)).status == "skipped"
    assert run(table, Doing(commit=True, budget_seconds=0)).status == "skipped"
    assert run(table).detail["rewritten_data_files"] == 2


def test_maint_a_missing_data_file_is_named(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    paths = builders.small_files(table, 3)
    local_path(paths[1]).unlink()
    with pytest.raises(LDPError, match=paths[1]):
        rewrite_data_files(target(table), YES)


def test_maint_version_3_is_refused_and_version_1_is_not(tmp_path: Path) -> None:
    catalog = builders.catalog(tmp_path)
    with pytest.raises(LDPError, match="format version 3"):
        rewrite_data_files(target(v3_table(catalog)), YES)
    one = builders.table(catalog, "one", format_version=1, partition="identity")
    builders.small_files(one, 3)
    assert run(one).detail["added_data_files"] == 1
    assert one.format_version == 1


def test_maint_a_table_that_is_empty_or_missing(tmp_path: Path) -> None:
    catalog = builders.catalog(tmp_path)
    assert run(builders.table(catalog)).status == "nothing"
    with pytest.raises(TableNotFound):
        rewrite_data_files(Target(catalog, ("db", "none")), YES)


def test_maint_a_branch_is_read_and_rewritten(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 3)
    builders.branch(table, "dev")
    for number in range(3):
        builders.append(table, range(100 + number, 101 + number), branch="dev")
    main, dev = looks.rows(table), looks.rows(table, "dev")
    head = table.current_snapshot().snapshot_id
    outcome = run(table, Doing(commit=True, branch="dev"))
    assert outcome.detail["rewritten_data_files"] == 6
    assert table.current_snapshot().snapshot_id == head
    assert (looks.rows(table), looks.rows(table, "dev")) == (main, dev)
    assert len(looks.live_files(table, "dev")) == 1
    with pytest.raises(SnapshotNotFound):
        run(table, Doing(branch="nix"))


def test_maint_groups_side_by_side(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    for city in "ABCD":
        builders.small_files(table, 3, city=city)
    told: list[tuple[str, int, int, str]] = []
    doing = Doing(commit=True, jobs=2, progress=lambda *given: told.append(given))
    outcome = run(table, doing)
    assert (outcome.detail["groups"], outcome.detail["added_data_files"], len(outcome.snapshots)) == (4, 4, 1)
    assert len(told) == 4
    assert told[-1][1] == told[-1][2]


def texts(folder: Path, *, files: int, rows: int, compression: str = "zstd") -> Any:
    """A table whose rows compress badly, so that sizes follow the rows."""
    table = builders.table(builders.catalog(folder))
    draw = random.Random(7)
    base = load_base(table.catalog, ("db", "t"))
    made = []
    for number in range(files):
        ids = list(range(number * rows, (number + 1) * rows))
        columns = {
            "id": ids,
            "city": [draw.randbytes(40).hex() for _ in ids],
            "at": [builders.DAY0] * rows,
            "amount": [draw.random() for _ in ids],
        }
        body = pa.table(columns, schema=schema_to_pyarrow(base.metadata.schema()))
        path = f"{base.metadata.location}/data/f{number}.parquet"
        local_path(path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(body, local_path(path), compression=compression)
        made.append(path)
    publish(base, lambda fresh: Change("append", added=data_files(fresh, made)))
    table.refresh()
    return table
