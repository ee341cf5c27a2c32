"""Delete files that apply to nothing go, and no row comes or goes with them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Change
from ldp_core.commit.publish import publish
from ldp_core.errors import LDPError
from ldp_maintenance.dangling import remove_dangling_deletes
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Policy
from ldp_maintenance.testing import (
    append,
    catalog,
    delete_keys,
    delete_positions,
    entries_in_manifest_of_wrong_content,
    evolve_spec,
    live_files,
    overwrite,
    rows,
    small_files,
    table,
    unreferenced_files,
    v3_table,
)
from ldp_maintenance.testing.builders import write_files
from pyiceberg.manifest import DataFileContent
from pyiceberg.typedef import Record

GO = Doing(commit=True)


def aim(made, policy=None):
    return Target(made.catalog, made.name(), policy or Policy())


def delete_files(made):
    made.refresh()
    return [
        entry.data_file
        for manifest in made.current_snapshot().manifests(made.io)
        for entry in manifest.fetch_manifest_entry(made.io)
        if entry.data_file.content != DataFileContent.DATA
    ]


def compacted(made, paths, ids):
    """Put rows in the place of files under the sequence number of the present head, as a rewrite does."""
    made.refresh()
    sequence = made.current_snapshot().sequence_number
    known = live_files(made)
    removed = tuple(known[path] for path in paths)
    base = load_base(made.catalog, made.name())
    files = write_files(base, list(ids))
    publish(base, lambda _: Change("replace", added=files, removed=removed, sequence=sequence))
    made.refresh()


def test_deletes_of_files_that_are_gone_go(tmp_path: Path):
    made = table(catalog(tmp_path))
    first, second = small_files(made, 2)
    delete_positions(made, {first: [0, 1], second: [2]})
    overwrite(made, first, range(2, 10))
    before = rows(made)
    seen = remove_dangling_deletes(aim(made), Doing())
    assert (seen.status, seen.detail["delete_files"], seen.detail["deletes"]) == ("preview", 1, 2)
    assert len(delete_files(made)) == 2
    done = remove_dangling_deletes(aim(made), GO)
    assert (done.status, done.detail) == ("done", seen.detail)
    (left,) = delete_files(made)
    assert left.lower_bounds == left.upper_bounds
    assert rows(made) == before
    assert entries_in_manifest_of_wrong_content(made) == 0
    assert not unreferenced_files(made)
    assert remove_dangling_deletes(aim(made), GO).status == "nothing"


def test_deletes_of_a_whole_partition_go_once_its_files_were_rewritten(tmp_path: Path):
    made = table(catalog(tmp_path), partition="identity")
    paths = small_files(made, 2)
    (other,) = append(made, range(50, 60), city="LA")
    delete_positions(made, {paths[0]: [0], paths[1]: [0], other: [3]}, scoped=False)
    compacted(made, paths, [*range(1, 10), *range(11, 20)])
    before = rows(made)
    assert len(before) == 27
    assert remove_dangling_deletes(aim(made), GO).detail["delete_files"] == 1
    assert [file.partition[0] for file in delete_files(made)] == ["LA"]
    assert rows(made) == before


def test_a_delete_that_names_a_file_that_stayed_stays(tmp_path: Path):
    made = table(catalog(tmp_path))
    first, second = small_files(made, 2)
    delete_positions(made, {first: [0], second: [0]}, scoped=False)
    compacted(made, [first], range(1, 10))
    before = rows(made)
    assert remove_dangling_deletes(aim(made), GO).status == "nothing"
    assert rows(made) == before


def test_equality_deletes_go_once_every_row_is_younger(tmp_path: Path):
    made = table(catalog(tmp_path))
    (first,) = small_files(made, 1)
    delete_keys(made, [3])
    append(made, [3])
    assert remove_dangling_deletes(aim(made), GO).status == "nothing"
    overwrite(made, first, [n for n in range(10) if n != 3])
    before = rows(made)
    assert remove_dangling_deletes(aim(made), GO).detail["delete_files"] == 1
    assert delete_files(made) == []
    assert rows(made) == before


def test_an_equality_delete_without_partition_reaches_every_spec(tmp_path: Path):
    made = table(catalog(tmp_path), partition="identity")
    (first,) = small_files(made, 1)
    evolve_spec(made, None)
    delete_keys(made, [3])
    assert remove_dangling_deletes(aim(made), GO).status == "nothing"
    assert len(rows(made)) == 9
    assert first in live_files(made)


def test_an_equality_delete_of_another_partition_goes(tmp_path: Path):
    made = table(catalog(tmp_path), partition="identity")
    small_files(made, 1)
    delete_keys(made, [3], partition=Record("LA"))
    delete_keys(made, [4], partition=Record("NYC"))
    before = rows(made)
    assert remove_dangling_deletes(aim(made), GO).detail["delete_files"] == 1
    assert rows(made) == before
    assert len(before) == 9


def test_what_dangles_is_found_anew_on_a_new_head(tmp_path: Path):
    made = table(catalog(tmp_path))
    first, second = small_files(made, 2)
    delete_positions(made, {first: [0], second: [0]})
    overwrite(made, first, range(1, 10))
    other = made.catalog.load_table(made.name())
    landed = []

    def meanwhile(*_):
        if not landed:
            landed.append(overwrite(other, second, range(11, 20)))
            append(other, [100])

    done = remove_dangling_deletes(aim(made), Doing(commit=True, progress=meanwhile))
    assert done.detail["delete_files"] == 2
    assert delete_files(made) == []
    assert len(rows(made)) == 19
    assert not unreferenced_files(made)


def test_refusals_change_nothing(tmp_path: Path):
    made = v3_table(catalog(tmp_path))
    before = made.metadata_location
    with pytest.raises(LDPError, match="format version 3"):
        remove_dangling_deletes(aim(made), GO)
    with pytest.raises(LDPError, match="not from branch 'dev'"):
        remove_dangling_deletes(aim(made), Doing(branch="dev"))
    assert remove_dangling_deletes(aim(made, Policy(dangling_deletes=False)), GO).status == "skipped"
    made.refresh()
    assert made.metadata_location == before


def test_tables_without_deletes(tmp_path: Path):
    place = catalog(tmp_path)
    old = table(place, "old", format_version=1)
    small_files(old, 1)
    assert remove_dangling_deletes(aim(old), GO).status == "nothing"
    assert remove_dangling_deletes(aim(table(place, "empty")), GO).status == "nothing"
    assert remove_dangling_deletes(aim(v3_table(place, vectors=False)), GO).status == "nothing"


STEP = st.one_of(
    st.tuples(st.just("append"), st.sampled_from(["LA", "NYC"])),
    st.tuples(st.just("positions"), st.booleans(), st.integers(0, 5)),
    st.tuples(st.just("keys"), st.integers(0, 40), st.sampled_from(["LA", "NYC"])),
    st.tuples(st.just("replace"), st.integers(0, 5)),
    st.tuples(st.just("clean")),
)


@settings(max_examples=8)
@given(st.booleans(), st.lists(STEP, min_size=3, max_size=9))
def test_no_history_changes_an_answer(partitioned, steps):
    with tempfile.TemporaryDirectory() as folder:
        made = table(catalog(Path(folder)), partition="identity" if partitioned else None)
        append(made, range(4), city="LA")
        for number, step in enumerate(steps, 1):
            files = sorted(live_files(made))
            match step:
                case ("append", city):
                    append(made, range(number * 4, number * 4 + 4), city=city)
                case ("positions", scoped, which) if files:
                    chosen = {files[which % len(files)], files[0]}
                    delete_positions(made, {key: [number % 4] for key in chosen}, scoped=scoped)
                case ("keys", key, city):
                    delete_keys(made, [key], partition=Record(city) if partitioned else None)
                case ("replace", which) if files:
                    path = files[which % len(files)]
                    city = live_files(made)[path].partition[0] if partitioned else "LA"
                    overwrite(made, path, [1000 + number, 2000 + number], city=city)
                case ("clean",):
                    before = rows(made)
                    remove_dangling_deletes(aim(made), GO)
                    assert rows(made) == before
        before = rows(made)
        remove_dangling_deletes(aim(made), GO)
        assert rows(made) == before
        assert entries_in_manifest_of_wrong_content(made) == 0
        assert remove_dangling_deletes(aim(made), GO).status == "nothing"
