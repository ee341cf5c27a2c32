"""The commit that fences older attempts leaves no metadata file behind, whatever becomes of it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from ldp_core.commit.base import load_base
from ldp_core.commit.fence import fence_name
from ldp_core.commit.put_fences import put_fences
from ldp_core.commit.recover import sweep
from ldp_core.commit.retry import RetryPolicy
from ldp_core.errors import LDPError
from ldp_core.testing.builders import append, new_table, orphans
from ldp_core.testing.faults import FaultyCatalog, Plan, faults
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException

QUICK = RetryPolicy(deadline=20, sleep=lambda _: None)
NAME = ("nyc", "rides")
ERRORS = (
    ConnectionError,
    CommitStateUnknownException,
    CommitFailedException,
    RuntimeError,
    KeyboardInterrupt,
)


def test_metadata_that_fences_push_out_of_the_log_is_deleted(tmp_path: Path) -> None:
    cat = FaultyCatalog("nyc", tmp_path / "wh")
    for number in range(4):
        new = new_table(**{"write.metadata.previous-versions-max": "2"})
        append(load_base(cat, NAME, new), f"r{number}", [number])
    base = put_fences(load_base(cat, NAME), "run", 3)
    assert {fence_name("run", 1), fence_name("run", 2)} <= set(base.metadata.refs)
    assert orphans(base) == []


@pytest.mark.parametrize("rows", [True, False], ids=["rows", "no-snapshot"])
@pytest.mark.parametrize("error", ERRORS)
def test_each_call_of_the_fence_commit_fails_once(
    tmp_path: Path, error: type[BaseException], rows: bool
) -> None:
    def made(name: str) -> FaultyCatalog:
        cat = FaultyCatalog("nyc", tmp_path / name)
        cat.create_namespace_if_not_exists("nyc")
        cat.create_table(NAME, new_table().schema)
        if rows:
            append(load_base(cat, NAME), "r0", [0])
        return cat

    base = load_base(made("count"), NAME)
    with faults(Plan()) as counted:
        put_fences(base, "run", 2, policy=QUICK)
    cat = made("wh")
    attempt = 1
    for number, when in itertools.product(range(len(counted.calls)), ("before", "after")):
        where = f"{counted.calls[number]}[{number}] {when}"
        attempt += 1
        run = f"run {number} {when}"
        base = load_base(cat, NAME)
        try:
            with faults(Plan(number, when, error)):
                put_fences(base, run, 2, policy=QUICK)
        except (LDPError, error):
            pass
        sweep(load_base(cat, NAME))
        base = put_fences(load_base(cat, NAME), run, 2, policy=QUICK)
        sweep(base)
        assert fence_name(run, 1) in base.metadata.refs, where
        assert not orphans(load_base(cat, NAME)), where
