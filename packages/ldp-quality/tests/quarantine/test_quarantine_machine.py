"""Random histories of loads that put rows aside: what is in the table and what counts as put aside.

Loads of windows (append, overwrite, under keys of their own), whole overwrites, runs killed between the write
of their batch and their publish, requeues as stored, corrected in part, or killed, rollbacks and expiry in
between. The oracle is the rows of each state of main, kept as long as main can go back to it.

``LDP_EXAMPLES`` sets how many histories are tried (4), ``LDP_STEPS`` how long each is (10).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.catalogs.access import open_catalog
from ldp_core.commit.base import load_base
from ldp_core.commit.ledger import Who
from ldp_core.commit.owner import Owner
from ldp_core.commit.rollback import commit_back, look_back
from ldp_core.quarantine.remove import view_of
from ldp_core.targets.iceberg_session import IcebergSession

EXAMPLES = int(os.environ.get("LDP_EXAMPLES", "4"))
STEPS = int(os.environ.get("LDP_STEPS", "10"))
DAYS = st.integers(1, 3)
COUNTS = st.integers(0, 2)
Ids = dict[int, int]
"""Ids of rows, each with its day."""


@dataclass(frozen=True)
class Batch:
    """A batch of the oracle: its rows, and the window that it was put aside under."""

    rows: Ids
    day: int | None


@dataclass(frozen=True)
class State:
    """What main shows."""

    good: Ids = field(default_factory=dict)
    aside: dict[str, Batch] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()
    snapshot: int | None = None


@contextmanager
def killed_before(table: str) -> Iterator[None]:
    """The process is killed before it publishes into a table."""
    real = IcebergSession.publish

    def publish(self: IcebergSession, *args: Any) -> Any:
        if self.place.identifier[1] == table:
            raise KeyboardInterrupt
        return real(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IcebergSession, "publish", publish)
        yield


class Histories(RuleBasedStateMachine):
    """See the module."""

    lakes: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.before = Path.cwd()
        os.chdir(self.folder)
        self.lake = self.lakes(self.folder)
        self.now = State()
        self.past: list[State] = []
        self.swept: set[str] = set()
        self.number = 0

    def teardown(self) -> None:
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def made(self, day: int, good: int, bad: int) -> tuple[list[str], Ids, Ids]:
        """New rows of a day: as text, and the ids of the good and the bad ones."""
        first = self.number
        self.number += good + bad
        amounts = {first + at: 1 if at < good else -1 for at in range(good + bad)}
        lines = [f"{number},{day},{amount},x" for number, amount in amounts.items()]
        return (
            lines,
            {number: day for number, amount in amounts.items() if amount > 0},
            {number: day for number, amount in amounts.items() if amount < 0},
        )

    def publish(self, result: Any, good: Ids, aside: dict[str, Batch], key: str) -> None:
        self.past.append(self.now)
        keys = self.now.keys | {key}
        self.now = State(good, aside, keys, result.write_result.snapshot_id)

    @initialize()
    def first(self) -> None:
        lines, good, bad = self.made(1, 1, 1)
        result = self.lake.run(lines, 1)
        self.publish(result, good, {str(result.published_in): Batch(bad, 1)}, "day 1")

    @rule(day=DAYS, good=st.integers(1, 2), bad=COUNTS, replace=st.booleans(), whole=st.booleans())
    def load(self, day: int, good: int, bad: int, replace: bool, whole: bool) -> None:
        """A window under its key, or replaced under another; or the whole table."""
        lines, fine, wrong = self.made(day, good, bad)
        if whole and not replace:
            return
        key = f"key-{self.number}" if replace else f"day {day}"
        if whole:
            result = self.lake.run(lines, mode="overwrite", idempotency_key=key)
        elif replace:
            result = self.lake.run(lines, day, mode="overwrite", idempotency_key=key)
        else:
            result = self.lake.run(lines, day)
        if key in self.now.keys:
            assert result.status == "skipped_duplicate"
            return
        assert result.status == "published"
        old = {n: d for n, d in self.now.good.items() if not replace or (d != day and not whole)}
        aside = {
            name: batch
            for name, batch in self.now.aside.items()
            if not replace or (batch.day != day and not whole)
        }
        self.swept |= set(self.now.aside) - set(aside)
        mine = {str(result.published_in): Batch(wrong, None if whole else day)} if wrong else {}
        self.publish(result, {**old, **fine}, {**aside, **mine}, key)

    @rule(day=DAYS, bad=st.integers(1, 2), attempts=st.booleans())
    def killed(self, day: int, bad: int, attempts: bool) -> None:
        """A load is killed before it publishes, and perhaps run again."""
        if f"day {day}" in self.now.keys:
            return
        lines, fine, wrong = self.made(day, 1, bad)
        run_id = f"run-{self.number}"
        with killed_before("rides"), pytest.raises(KeyboardInterrupt):
            self.lake.run(lines, day, run_id=run_id)
        if attempts:
            result = self.lake.run(lines, day, run_id=run_id, attempt=2)
            aside = {**self.now.aside, str(result.published_in): Batch(wrong, day)}
            self.publish(result, {**self.now.good, **fine}, aside, f"day {day}")

    @precondition(lambda self: self.now.aside)
    @rule(data=st.data(), how=st.sampled_from(["stored", "warn", "part", "killed"]))
    def requeue(self, data: st.DataObject, how: str) -> None:
        """The rows of a batch go through the gate once more; again, they do not."""
        name = list(self.now.aside)[data.draw(st.integers(0, len(self.now.aside) - 1))]
        batch = self.now.aside[name]
        self.lake.write()
        if how == "killed":
            with killed_before("rides"), pytest.raises(KeyboardInterrupt):
                self.lake.place.requeue(name, on_failure="warn")
            return
        fixed: Ids = {}
        if how == "part":
            row = min(self.lake.place.rows(name).to_pylist(), key=lambda row: row["id"])
            fixed = {row["id"]: batch.rows[row["id"]]}
            rows = pa.table({"_ldp_row": [row["_ldp_row"]], "amount": [3]})
            result = self.lake.place.requeue(name, rows=rows)
        else:
            fixed = batch.rows if how == "warn" else {}
            result = self.lake.place.requeue(name, on_failure="warn" if how == "warn" else None)
        left = {number: day for number, day in batch.rows.items() if number not in fixed}
        aside = {other: one for other, one in self.now.aside.items() if other != name}
        mine = {str(result.published_in): Batch(left, batch.day)} if left else {}
        self.publish(result, {**self.now.good, **fixed}, {**aside, **mine}, f"requeue {name}")
        again = self.lake.place.requeue(name)
        assert again.status == "skipped_duplicate"

    @precondition(lambda self: any(state.snapshot for state in self.past))
    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        """Main goes back; rows that a replacement took out of the quarantine do not come back."""
        at = data.draw(st.sampled_from([n for n, state in enumerate(self.past) if state.snapshot]))
        target = self.lake.place.target
        base = load_base(open_catalog(target.sub("catalog")), ("nyc", "rides"))
        back = look_back(view_of(target), self.past[at].snapshot)
        commit_back(base, back, Owner("c", "nyc.rides", Who("CSV", "rides")))
        then = self.past[at]
        aside = {name: batch for name, batch in then.aside.items() if name not in self.swept}
        self.past = self.past[:at]
        self.now = State(then.good, aside, then.keys, None)

    @rule()
    def expire(self) -> None:
        """All snapshots but main's head expire: main cannot go back any more."""
        table = LocalIcebergCatalog("nyc", self.folder / "wh").load_table(("nyc", "rides"))
        table.maintenance.expire_snapshots().older_than(datetime.now(UTC) + timedelta(days=1)).commit()
        self.past = []

    @invariant()
    def every_row_is_where_it_belongs(self) -> None:
        if not self.number:
            return
        assert self.lake.ids() == sorted(self.now.good)
        assert self.lake.aside() == sorted(n for batch in self.now.aside.values() for n in batch.rows)


def test_rows_count_once_whatever_happens(request: pytest.FixtureRequest) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    lake = request.getfixturevalue("lake")
    machine = type("Machine", (Histories,), {"lakes": staticmethod(type(lake))})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
