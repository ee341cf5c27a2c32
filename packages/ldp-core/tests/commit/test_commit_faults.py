"""Every call of the commit path fails once: before it, and after it with the answer lost."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base
from ldp_core.commit.recover import sweep
from ldp_core.commit.retry import RetryPolicy
from ldp_core.errors import CommitUnknown, LDPError
from ldp_core.testing.builders import append, new_table, orphans
from ldp_core.testing.faults import FaultyCatalog, Plan, faults
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException

QUICK = RetryPolicy(deadline=20, sleep=lambda _: None)
NAME = ("nyc", "rides")
ERRORS = (ConnectionError, CommitStateUnknownException, CommitFailedException, RuntimeError)


def ids(cat: FaultyCatalog) -> list[int]:
    return sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist())


def setup(tmp_path: Path, *, race: bool) -> tuple[FaultyCatalog, Base]:
    cat = FaultyCatalog("nyc", tmp_path / "wh")
    append(load_base(cat, NAME, new_table()), "r0", [0])
    base = load_base(cat, NAME)
    if race:
        append(load_base(cat, NAME), "other", [100])
    return cat, base


def calls_of(tmp_path: Path, *, race: bool) -> list[str]:
    _, base = setup(tmp_path / "count", race=race)
    with faults(Plan()) as plan:
        append(base, "r1", [1], policy=QUICK)
    return plan.calls


@pytest.mark.parametrize(
    ("error", "race"),
    [*((error, False) for error in ERRORS), (ConnectionError, True)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_each_call_fails_once(tmp_path: Path, error: type[Exception], race: bool) -> None:
    calls = calls_of(tmp_path, race=race)
    assert "commit_table" in calls
    cat, _ = setup(tmp_path, race=False)
    before = [0]
    first = calls.index("commit_table") if race else 0  # what comes before it fails without a race, too
    for number, when in itertools.product(range(first, len(calls)), ("before", "after")):
        where = f"{calls[number]}[{number}] {when}"
        base = load_base(cat, NAME)
        own = len(before) + 1000
        if race:
            append(load_base(cat, NAME), f"o{number}{when}", [own + 1000])
            before = sorted([*before, own + 1000])
        try:
            with faults(Plan(number, when, error)):
                append(base, f"r{number}{when}", [own], policy=QUICK)
            landed = {True}
        except CommitUnknown:
            landed = {True, False}
        except (LDPError, error):
            landed = {False}
        seen = ids(cat)
        assert (own in seen) in landed, where
        assert seen == sorted([*before, own] if own in seen else before), where
        sweep(load_base(cat, NAME))
        assert not orphans(load_base(cat, NAME)), where
        before = seen


def test_a_file_that_is_written_in_part_does_not_stay(tmp_path: Path) -> None:
    cat, _ = setup(tmp_path, race=False)
    files = [at for at, name in enumerate(calls_of(tmp_path, race=False)) if name == "new_output"]
    assert len(files) == 3
    for number in files[:2]:  # the manifest and its list
        with faults(Plan(number, "half", OSError)), pytest.raises(OSError, match="injected"):
            append(load_base(cat, NAME), f"r{number}", [1], policy=QUICK)
        assert not orphans(load_base(cat, NAME)), number
    with faults(Plan(files[2], "half", OSError)):  # the table's metadata: the commit is tried again
        append(load_base(cat, NAME), "r", [1], policy=QUICK)
    assert not orphans(load_base(cat, NAME))
    assert ids(cat) == [0, 1]


def test_a_creation_whose_answer_is_lost_happens_once(tmp_path: Path) -> None:
    for number, when in itertools.product(range(8), ("before", "after")):
        cat = FaultyCatalog("nyc", tmp_path / f"{number}{when}")
        base = load_base(cat, NAME, new_table())
        try:
            with faults(Plan(number, when, ConnectionError)):
                append(base, "r1", [1], policy=QUICK)
        except (LDPError, ConnectionError):
            pass
        again = load_base(cat, NAME, new_table())
        sweep(again)
        append(again, "r2", [2], policy=QUICK)
        assert ids(cat) in ([1, 2], [2]), (number, when)
        assert not orphans(load_base(cat, NAME)), (number, when)


def test_a_catalog_that_stays_away_leaves_the_commit_unknown_and_the_files_alone(tmp_path: Path) -> None:
    cat, base = setup(tmp_path, race=False)
    calls = calls_of(tmp_path, race=False)
    at = calls.index("commit_table")
    policy = RetryPolicy(attempts=4, sleep=lambda _: None)
    with faults(Plan(at, "after", ConnectionError, times=1000)), pytest.raises(CommitUnknown):
        append(base, "r1", [1], policy=policy)
    assert ids(cat) == [0, 1]
    sweep(load_base(cat, NAME))
    assert ids(cat) == [0, 1]
    assert not orphans(load_base(cat, NAME))


def test_an_unknown_commit_that_did_not_land_is_swept(tmp_path: Path) -> None:
    cat, base = setup(tmp_path, race=False)
    at = calls_of(tmp_path, race=False).index("commit_table")
    policy = RetryPolicy(attempts=3, sleep=lambda _: None)
    with faults(Plan(at, "before", ConnectionError, times=1000)), pytest.raises(CommitUnknown):
        append(base, "r1", [1], policy=policy)
    assert ids(cat) == [0]
    assert orphans(load_base(cat, NAME))
    assert sweep(load_base(cat, NAME)) > 0
    assert not orphans(load_base(cat, NAME))


def test_an_interrupt_in_the_middle_of_a_commit_leaves_a_sweepable_rest(tmp_path: Path) -> None:
    cat, _ = setup(tmp_path, race=False)
    at = calls_of(tmp_path, race=False).index("commit_table")
    for when, expected in (("before", [0]), ("after", [0, 1])):
        base = load_base(cat, NAME)
        with faults(Plan(at, when, KeyboardInterrupt)), pytest.raises(KeyboardInterrupt):
            append(base, f"r-{when}", [1], policy=QUICK)
        assert ids(cat) == expected
        sweep(load_base(cat, NAME))
        assert ids(cat) == expected
        assert not orphans(load_base(cat, NAME))
