"""``evolve-partitions`` on real tables: old days become months, late rows join them, and nothing explodes."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import UsageError
from ldp_maintenance.evolve.run import evolve_partitions
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.policy import EvolutionRule, PartitionField, Policy, Rewrite
from ldp_maintenance.rewrite.run import rewrite_data_files
from ldp_maintenance.testing import builders, looks

NOW = dt.datetime(2024, 5, 15, tzinfo=dt.UTC)
YES = Doing(commit=True, clock=lambda: NOW)


def evolve(table: Any, doing: Doing = YES, **policy: Any) -> Outcome:
    """Evolve, and make sure that no row changed."""
    before = looks.rows(table)
    outcome = evolve_partitions(Target(table.catalog, ("db", "t"), Policy(**policy)), doing)
    table.refresh()
    assert looks.rows(table) == before
    return outcome


def by_day(folder: Path, *days: dt.datetime) -> Any:
    table = builders.table(builders.catalog(folder), partition="day")
    for number, day in enumerate(days):
        builders.append(table, range(number * 10, number * 10 + 5), at=day)
    return table


def shape(table: Any) -> list[tuple[int, int]]:
    """(spec, partition value) of each live file."""
    return sorted((file.spec_id, file.partition[0]) for file in looks.live_files(table).values())


def test_maint_days_become_a_month_90_days_after_its_end(tmp_path: Path) -> None:
    january = [dt.datetime(2024, 1, day) for day in (1, 15, 31)]
    february = [dt.datetime(2024, 2, day) for day in (1, 2)]
    table = by_day(tmp_path, *january, *february)
    outcome = evolve(table)
    assert outcome.status == "done"
    # January ended 105 days before, February 75.
    assert shape(table) == [(0, 19754), (0, 19755), (1, 648)]
    assert table.metadata.default_spec_id == 0
    assert str(table.metadata.specs()[1].fields[0].transform) == "month"
    assert table.metadata.specs()[1].fields[0].name == "at_month"
    assert evolve(table).status == "nothing"
    assert evolve(table, Doing(commit=True, clock=lambda: NOW + dt.timedelta(days=15))).status == "done"
    assert shape(table) == [(1, 648), (1, 649)]
    assert len(table.metadata.specs()) == 2


def test_maint_late_rows_of_an_aged_month_leave_one_month_file(tmp_path: Path) -> None:
    table = by_day(tmp_path, *(dt.datetime(2024, 1, day) for day in range(1, 6)))
    evolve(table)
    for day in range(1, 6):
        builders.append(table, range(100 + day, 101 + day), at=dt.datetime(2024, 1, day))
    assert evolve(table).detail["rewritten_data_files"] == 6
    assert shape(table) == [(1, 648)]
    assert evolve(table).status == "nothing"
    policy = Policy(rewrite=Rewrite(skip_newest=None))
    assert rewrite_data_files(Target(table.catalog, ("db", "t"), policy), YES).status == "nothing"


def test_maint_the_last_days_of_the_calendar_and_an_age_without_end(tmp_path: Path) -> None:
    last = [dt.datetime(9999, 10, 31), dt.datetime(9999, 11, 30), dt.datetime(9999, 12, 31)]
    table = by_day(tmp_path, dt.datetime(2024, 1, 1), *last)
    assert evolve(table, evolution=(EvolutionRule(older_than_days=1e300),)).status == "nothing"
    assert evolve(table).detail["rewritten_data_files"] == 1
    assert evolve(table).status == "nothing"


def test_maint_evolution_is_a_preview_unless_told(tmp_path: Path) -> None:
    table = by_day(tmp_path, dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2))
    before = table.metadata_location
    outcome = evolve(table, Doing(clock=lambda: NOW))
    assert (outcome.status, outcome.detail["rewritten_data_files"]) == ("preview", 2)
    assert table.metadata_location == before


def test_maint_rules_go_on_to_years_and_can_be_off(tmp_path: Path) -> None:
    table = by_day(tmp_path, dt.datetime(2022, 1, 1), dt.datetime(2022, 7, 1), dt.datetime(2024, 1, 1))
    assert evolve(table, evolution=()).status == "nothing"
    rules = (EvolutionRule(), EvolutionRule("month", "year", 365))
    assert evolve(table, evolution=rules).status == "done"
    kinds = {number: str(spec.fields[0].transform) for number, spec in table.metadata.specs().items()}
    assert sorted((kinds[spec], value) for spec, value in shape(table)) == [("month", 648), ("year", 52)]
    assert evolve(table, evolution=rules).status == "nothing"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ((EvolutionRule("month", "day"),), "day is not coarser than month"),
        ((EvolutionRule("week", "month"),), "units are"),
        ((EvolutionRule(), EvolutionRule("day", "year")), "two rules are about partitions of one day"),
        ((EvolutionRule(older_than_days=-1),), "negative"),
    ],
)
def test_maint_rules_that_cannot_be(tmp_path: Path, rules: tuple[EvolutionRule, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        evolve(by_day(tmp_path), evolution=rules)


def test_maint_other_partition_fields_carry_through(tmp_path: Path) -> None:
    table = by_day(tmp_path)
    with table.update_spec() as update:
        update.add_identity("city")
    for city in ("NYC", "LA", None):
        for day in (1, 2):
            builders.append(table, range(day), city=city, at=dt.datetime(2024, 1, day))
    table.refresh()
    assert evolve(table).detail["added_data_files"] == 3
    made = [file.partition for file in looks.live_files(table).values()]
    assert sorted((part[0], str(part[1])) for part in made) == [(648, "LA"), (648, "NYC"), (648, "None")]


def test_maint_the_wanted_partition_becomes_that_of_new_data(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 2)
    partition = (PartitionField("at", "day"), PartitionField("id", "bucket", num_buckets=4))
    preview = evolve(table, Doing(clock=lambda: NOW), partition=partition)
    assert preview.status == "preview"
    assert table.spec().is_unpartitioned()
    outcome = evolve(table, partition=partition)
    assert outcome.status == "done"
    assert outcome.detail["default_spec"] is True
    assert "new data is partitioned by day(at), bucket[4](id)" in outcome.lines[0]
    assert [str(field.transform) for field in table.spec().fields] == ["day", "bucket[4]"]
    assert evolve(table, partition=partition).status == "nothing"
    with pytest.raises(UsageError, match="no column 'nix'"):
        evolve(table, partition=(PartitionField("nix", "day"),))


def test_maint_a_spec_of_two_fine_fields_is_skipped_with_its_reason(tmp_path: Path) -> None:
    from pyiceberg.transforms import DayTransform
    from pyiceberg.types import TimestampType

    table = by_day(tmp_path)
    with table.update_schema() as update:
        update.add_column("seen", TimestampType())
    with table.update_spec() as spec:
        spec.add_field("seen", DayTransform(), "seen_day")
    table.refresh()
    builders.append(table, range(3), at=dt.datetime(2024, 1, 1))
    outcome = evolve(table)
    assert (outcome.status, outcome.detail["skipped_specs"]) == ("nothing", 1)
    assert "at_day and seen_day" in outcome.lines[0]


@pytest.mark.parametrize("how", ["equality", "position", "append"])
def test_maint_writers_beside_an_evolution_lose_nothing(tmp_path: Path, how: str) -> None:
    """An equality delete of a day does not reach a month's file, so such a month waits for the next run."""
    from pyiceberg.typedef import Record

    table = by_day(tmp_path, dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), dt.datetime(2023, 12, 1))
    builders.append(table, range(100, 103), at=dt.datetime(2023, 12, 2))
    path = next(p for p, f in looks.live_files(table).items() if f.partition[0] == 19723)

    def meanwhile(*_: Any) -> None:
        if done:
            return
        done.append(True)
        if how == "equality":
            builders.delete_keys(table, [2], partition=Record(19723))
        elif how == "position":
            builders.delete_positions(table, {path: [2]})
        else:
            builders.append(table, range(200, 203), at=dt.datetime(2024, 1, 1))

    done: list[bool] = []
    doing = Doing(commit=True, clock=lambda: NOW, progress=meanwhile)
    outcome = evolve_partitions(Target(table.catalog, ("db", "t")), doing)
    expected = {*range(5), *range(10, 15), *range(20, 25), *range(100, 103)}
    expected = expected | {200, 201, 202} if how == "append" else expected - {2}
    assert outcome.detail["groups_lost"] == (how != "append")
    assert {row[0] for row in looks.rows(table)} == expected
    assert evolve(table).status == "done"
    assert {row[0] for row in looks.rows(table)} == expected
    assert shape(table) == [(1, 647), (1, 648)]
    assert evolve(table).status == "nothing"
