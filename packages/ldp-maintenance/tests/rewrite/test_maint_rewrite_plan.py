"""Laws of the planner: it converges, never makes more of small files, and goes by the stated thresholds."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st
from ldp_maintenance.policy import Rewrite
from ldp_maintenance.rewrite import windows
from ldp_maintenance.rewrite.candidates import Item, reasons, target_size
from ldp_maintenance.rewrite.copy import uneven
from ldp_maintenance.rewrite.groups import outputs, plan

TARGET = 1000
POLICY = Rewrite()

FILES = st.lists(
    st.tuples(
        st.integers(1, 6 * TARGET),  # bytes
        st.integers(1, 500),  # rows
        st.floats(0, 1),  # share deleted
        st.integers(0, 8),  # delete files
        st.integers(0, 2),  # partition
        st.booleans(),  # in order
    ),
    max_size=30,
)


def built(files: list[tuple[int, int, float, int, int, bool]]) -> list[Item]:
    return [
        Item(n, f"f{n}", size, rows, 0, (part,), n, deleted * rows if count else 0.0, count, ordered)
        for n, (size, rows, deleted, count, part, ordered) in enumerate(files)
    ]


@given(FILES)
def test_maint_a_second_plan_is_empty(files: list[tuple[int, int, float, int, int, bool]]) -> None:
    items = built(files)
    groups = plan(items, POLICY, TARGET)
    used = {item.index for group in groups for item in group.items}
    after = [item for item in items if item.index not in used]
    number = 1000
    for group in groups:
        size = sum(item.live_bytes for item in group.items)
        for _ in range(group.expected):
            number += 1
            after.append(Item(number, f"f{number}", int(size / group.expected), 100, 0, group.partition))
    assert plan(after, POLICY, TARGET) == []


def test_maint_nan_is_one_partition_and_signed_zeros_are_two() -> None:
    values = [float(value) for value in ("nan", "nan", "0.0", "0.0", "-0.0", "-0.0")]
    groups = plan([Item(n, f"f{n}", 10, 1, 0, (v,), n) for n, v in enumerate(values)], POLICY, TARGET)
    assert sorted(sorted(item.index for item in group.items) for group in groups) == [[0, 1], [2, 3], [4, 5]]


@given(FILES)
def test_maint_a_group_wins_something(files: list[tuple[int, int, float, int, int, bool]]) -> None:
    groups = plan(built(files), POLICY, TARGET)
    seen: set[int] = set()
    for group in groups:
        assert {item.partition for item in group.items} == {group.partition}
        assert not seen & {item.index for item in group.items}
        seen |= {item.index for item in group.items}
        assert all(reasons(item, POLICY, TARGET) for item in group.items)
        if group.reasons <= {"small"}:
            assert group.saved > 0
    worth = [max(group.saved, 0) / group.bytes for group in groups]
    assert worth == sorted(worth, reverse=True)


@given(st.integers(1, 100 * TARGET))
def test_maint_even_outputs_have_a_fitting_size(size: int) -> None:
    each = size / outputs(size, TARGET, POLICY)
    assert each <= 1.8 * TARGET
    assert each >= 0.75 * TARGET or size < 0.75 * TARGET


@given(st.lists(st.integers(1, 3000), max_size=20))
def test_maint_uneven_runs_cover_every_file_of_a_wrong_size(sizes: list[int]) -> None:
    runs = uneven(sizes, 750, 1800)
    covered = [place for first, last in runs for place in range(first, last)]
    assert len(set(covered)) == len(covered)
    for place, size in enumerate(sizes):
        if size > 1800 or (size < 750 and len(sizes) > 1):
            assert place in covered
    assert all(last <= len(sizes) for _, last in runs)


def test_maint_fewer_input_files_than_asked_for_are_left_alone() -> None:
    files = [Item(n, f"f{n}", 10, 10, 0) for n in range(4)]
    assert plan(files, Rewrite(min_input_files=5), TARGET) == []
    assert len(plan(files, Rewrite(min_input_files=4), TARGET)) == 1


def test_maint_reasons_have_their_thresholds() -> None:
    assert reasons(Item(0, "f", 749, 10, 0), POLICY, TARGET) == {"small"}
    assert reasons(Item(0, "f", 750, 10, 0), POLICY, TARGET) == set()
    assert reasons(Item(0, "f", 1800, 10, 0), POLICY, TARGET) == set()
    assert reasons(Item(0, "f", 1801, 10, 0), POLICY, TARGET) == {"large"}
    assert reasons(Item(0, "f", 1801, 1, 0), POLICY, TARGET) == set()
    assert reasons(Item(0, "f", 900, 10, 0, deleted=3, delete_files=5), POLICY, TARGET) == set()
    assert reasons(Item(0, "f", 900, 10, 0, deleted=3.1), POLICY, TARGET) == {"deletes"}
    assert reasons(Item(0, "f", 900, 10, 0, delete_files=6), POLICY, TARGET) == {"deletes"}
    assert reasons(Item(0, "f", 900, 10, 0, ordered=False), POLICY, TARGET) == {"unsorted"}


def test_maint_the_target_is_the_policys_then_the_tables_then_128_mib() -> None:
    assert target_size(Rewrite(), {}) == 128 * 1024 * 1024
    assert target_size(Rewrite(), {"write.target-file-size-bytes": "77"}) == 77
    assert target_size(Rewrite(target_file_size_bytes=5), {"write.target-file-size-bytes": "77"}) == 5


@given(st.sampled_from(windows.UNITS), st.integers(-5000, 5000))
def test_maint_partitions_of_time_tile(unit: str, value: int) -> None:
    value = value // 100 if unit == "year" else value
    begin, stop = windows.start(unit, value), windows.end(unit, value)
    assert begin is not None
    assert stop == windows.start(unit, value + 1)
    assert windows.value_at(unit, begin) == value
    assert windows.value_at(unit, stop - dt.timedelta(microseconds=1)) == value


def test_maint_open_partitions_are_those_of_the_newest_time_in_every_spec() -> None:
    fields = {0: (0, "day"), 1: (0, "month")}
    files = [
        Item(0, "a", 1, 1, 0, (19_753,)),  # 2024-01-31
        Item(1, "b", 1, 1, 0, (19_755,)),  # 2024-02-02
        Item(2, "c", 1, 1, 1, (647,)),  # 2023-12
        Item(3, "d", 1, 1, 1, (649,)),  # 2024-02
        Item(4, "e", 1, 1, 2, ("x",)),
        Item(5, "f", 1, 1, 0, (None,)),
    ]
    assert windows.open_files(files, fields, 0) == {1, 3}
    assert windows.open_files(files, fields, 2) == {0, 1, 3}
    assert windows.open_files(files, fields, None) == set()
