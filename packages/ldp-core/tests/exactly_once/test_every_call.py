"""Every catalog and file call of a keyed publish fails once; run again, the key is there exactly once.

``LDP_EVERY_CALL=all`` tries every case with every kind of error.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.claim import AlreadyPublished, Claim
from ldp_core.commit.fence import superseded
from ldp_core.commit.ledger import Ledger, Who
from ldp_core.commit.publish import publish
from ldp_core.commit.put_fences import put_fences
from ldp_core.commit.recover import sweep
from ldp_core.commit.retry import RetryPolicy
from ldp_core.commit.stage import Stage
from ldp_core.errors import LDPError
from ldp_core.tables.view import of_metadata
from ldp_core.targets._changes import live_files
from ldp_core.testing.builders import append, data_files, new_table, orphans, write_parquet
from ldp_core.testing.faults import FaultyCatalog, Plan, faults
from ldp_core.window import Window
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException

QUICK = RetryPolicy(deadline=20, sleep=lambda _: None)
NAME = ("nyc", "rides")
START = datetime(2026, 8, 1, tzinfo=UTC)
ERRORS = (
    ConnectionError,
    CommitStateUnknownException,
    CommitFailedException,
    RuntimeError,
    KeyboardInterrupt,
)
ALL = os.environ.get("LDP_EVERY_CALL") == "all"


def claim_of(number: int, attempt: int) -> Claim:
    window = Window(START + timedelta(hours=number), START + timedelta(hours=number + 1))
    key = Ledger("rides", "nyc.rides", "").key_of(window)
    return Claim(f"run {number}", attempt, "rides", "nyc.rides", Who("CSV", "rides"), key, window)


def load(cat: FaultyCatalog, claim: Claim, mode: str, row: int, *, race: bool = False) -> bool:
    """What a keyed run does to a table; False where there was nothing to do."""
    base = load_base(cat, NAME, new_table())
    if base.exists:
        view = of_metadata(base.metadata, base.io)
        superseded(view, claim.run_id, claim.attempt)
        if claim.look(view) is not None:
            return False
        base = put_fences(base, claim.run_id, claim.attempt, policy=QUICK)
        sweep(base)
    if race:
        with faults(Plan()):
            append(load_base(cat, NAME), f"other {row}", [10_000 + row])
    with Stage(base, claim.run_id, claim.attempt) as stage:
        path = write_parquet(base, stage.new_file(), {"id": [row], "city": ["NYC"]})

        def build(fresh: Base) -> Change:
            added = data_files(fresh, [path])
            if mode == "append" or fresh.metadata.current_snapshot() is None:
                return Change("append", added=added)
            return Change("overwrite", added=added, removed=live_files(fresh))

        summary = {
            "ldp.run-id": claim.run_id,
            "ldp.attempt": str(claim.attempt),
            "ldp.idempotency-key": str(claim.key),
            "ldp.logical-window": claim.window.logical if claim.window else "",
        }
        try:
            publish(base, build, policy=QUICK, summary=summary, stage=stage, guard=claim.check)
        except AlreadyPublished:
            return False
    return True


def ids(cat: FaultyCatalog) -> list[int]:
    return sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist())


def keyed(cat: FaultyCatalog, key: str | None) -> int:
    snapshots = load_base(cat, NAME).metadata.snapshots
    found = [snap.summary.additional_properties.get("ldp.idempotency-key") for snap in snapshots]
    return found.count(key)


def places(calls: list[str]) -> Iterator[tuple[int, str]]:
    return itertools.product(range(len(calls)), ("before", "after"))


def trimmed(root: Path) -> FaultyCatalog:
    """A table that has as many versions as its log keeps: each commit deletes a metadata file."""
    cat = FaultyCatalog("nyc", root)
    for number in range(4):
        new = new_table(**{"write.metadata.previous-versions-max": "2"})
        append(load_base(cat, NAME, new), f"r{number}", [-number])
    return cat


CASES = {
    "append": ("append", False, 1),
    "append-lost-race": ("append", True, 1),
    "overwrite-lost-race": ("overwrite", True, 1),
    "second-attempt": ("append", False, 2),
    "second-attempt-lost-race": ("overwrite", True, 2),
}


FEW = [
    ("overwrite-lost-race", ConnectionError),
    ("second-attempt", ConnectionError),
    ("second-attempt", KeyboardInterrupt),
]


@pytest.mark.parametrize(("case", "error"), itertools.product(CASES, ERRORS) if ALL else FEW)
def test_a_keyed_publish_happens_once_whatever_call_fails(
    tmp_path: Path, case: str, error: type[BaseException]
) -> None:
    mode, race, attempt = CASES[case]
    cat = trimmed(tmp_path / "count")
    with faults(Plan()) as counted:
        load(cat, claim_of(0, attempt), mode, 1, race=race)
    assert counted.calls.count("commit_table") == 1 + race + (attempt > 1)
    cat = trimmed(tmp_path / "wh")
    for at, (number, when) in enumerate(places(counted.calls), 1):
        where = f"{counted.calls[number]}[{number}] {when}"
        if at % 5 == 0:  # a long history is slow to look through for files
            cat = trimmed(tmp_path / f"wh{at}")
        before = ids(cat)
        try:
            with faults(Plan(number, when, error)):
                load(cat, claim_of(at, attempt), mode, at, race=race)
        except (LDPError, error):
            pass
        others = [10_000 + at] * (10_000 + at in ids(cat))
        landed = keyed(cat, claim_of(at, 1).key) == 1
        again = load(cat, claim_of(at, attempt + 1), mode, at)
        assert again is not landed, where
        assert keyed(cat, claim_of(at, 1).key) == 1, where
        assert not load(cat, claim_of(at, attempt + 2), mode, at), where
        if mode == "append":
            assert ids(cat) == sorted([*before, at, *others]), where
        else:
            assert ids(cat) == [at], where
        sweep(load_base(cat, NAME))
        assert not orphans(load_base(cat, NAME)), where


@pytest.mark.parametrize("error", [ConnectionError, RuntimeError, KeyboardInterrupt])
def test_a_table_is_made_and_keyed_once_whatever_call_fails(
    tmp_path: Path, error: type[BaseException]
) -> None:
    with faults(Plan()) as counted:
        load(FaultyCatalog("nyc", tmp_path / "count"), claim_of(0, 1), "append", 1)
    for number, when in places(counted.calls):
        where = f"{counted.calls[number]}[{number}] {when}"
        cat = FaultyCatalog("nyc", tmp_path / f"{number}{when}")
        try:
            with faults(Plan(number, when, error)):
                load(cat, claim_of(0, 1), "append", 1)
        except (LDPError, error):
            pass
        sweep(load_base(cat, NAME, new_table()))
        load(cat, claim_of(0, 2), "append", 1)
        assert ids(cat) == [1], where
        assert keyed(cat, claim_of(0, 1).key) == 1, where
        sweep(load_base(cat, NAME))
        assert not orphans(load_base(cat, NAME)), where


@pytest.mark.parametrize("error", [ConnectionError, RuntimeError])
def test_the_skip_writes_nothing_whatever_call_fails(tmp_path: Path, error: type[Exception]) -> None:
    cat = FaultyCatalog("nyc", tmp_path / "wh")
    load(cat, claim_of(0, 1), "append", 1)
    before = load_base(cat, NAME).metadata_location
    with faults(Plan()) as counted:
        assert not load(cat, claim_of(0, 2), "append", 1)
    assert "commit_table" not in counted.calls
    for number, when in places(counted.calls):
        with faults(Plan(number, when, error)), pytest.raises((LDPError, error)):
            load(cat, claim_of(0, 2), "append", 1)
        assert not load(cat, claim_of(0, 2), "append", 1)
    assert load_base(cat, NAME).metadata_location == before
    assert ids(cat) == [1]
