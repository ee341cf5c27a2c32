"""Random histories of windows, driven by whole runs: a config, its CSV file, ``window.column``.

Appends, upserts and window overwrites of windows of one and two hours; another writer right before a commit;
commits whose answer is lost, then the next attempt; foreign appends, expiry and moves of main in between. The
oracle is a list of rows for each snapshot and the key that it carries, kept for ever.

``LDP_EXAMPLES`` sets how many histories are tried (12), ``LDP_STEPS`` how long each is (20).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from ldp_core.api import run_config
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit import publish as publishing
from ldp_core.commit.base import load_base
from ldp_core.commit.claim import WindowOverlap
from ldp_core.commit.recover import sweep
from ldp_core.commit.verify import KeysUnknown
from ldp_core.errors import LDPError
from ldp_core.testing.builders import orphans
from ldp_core.window import Window
from pyiceberg.table.update import SetSnapshotRefUpdate

EXAMPLES = int(os.environ.get("LDP_EXAMPLES", "12"))
STEPS = int(os.environ.get("LDP_STEPS", "20"))
NAME = ("nyc", "rides")
START = datetime(2026, 8, 1, tzinfo=UTC)
HOURS = 5
LOST = "the answer is lost"
FAULTS = [KeyboardInterrupt, ConnectionError, RuntimeError]
Row = tuple[int, int, str]
"""An id, the hour it happened in, a city."""


@dataclass(frozen=True)
class Snapshot:
    """What the oracle knows of a snapshot, for ever."""

    parent: int | None
    window: Window | None
    rows: tuple[Row, ...]


def hours(first: int, length: int) -> Window:
    return Window(START + timedelta(hours=first), START + timedelta(hours=first + length))


def inside(row: Row, window: Window) -> bool:
    return window.start <= START + timedelta(hours=row[1], minutes=30) < window.end


def after(mode: str, rows: tuple[Row, ...], window: Window, kept: tuple[Row, ...]) -> tuple[Row, ...]:
    """The rows of the table after a window was published, by the plainest means."""
    if mode == "overwrite":
        rows = tuple(row for row in rows if not inside(row, window))
    elif mode == "upsert":
        ids = {row[0] for row in kept}
        rows = tuple(row for row in rows if row[0] not in ids)
    return (*rows, *kept)


@contextmanager
def sending(act: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
    """Let a test stand between a publish and its first commit."""
    real = publishing.send

    def send(*args: Any) -> Any:
        publishing.send = real
        return act(lambda: real(*args))

    publishing.send = send
    try:
        yield
    finally:
        publishing.send = real


class Windows(RuleBasedStateMachine):
    """One table, one config for each mode, and the oracle."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="ldp-windows-"))
        self.cat = LocalIcebergCatalog("nyc", self.root / "wh")
        self.known: dict[int, Snapshot] = {}
        self.head: int | None = None
        self.serial = 0
        self.moved = False
        target = {
            "name": "rides",
            "format": "ICEBERG",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
            "join_cols": ["id"],
        }
        body = {
            "source": {"name": "rides", "format": "CSV", "path": "in.csv"},
            "target": target,
            "window": {"column": "at", "size": "hour", "empty": "publish"},
        }
        self.config = self.root / "rides.json"
        self.config.write_text(json.dumps({"identifier": "rides", "metadata": body}))

    def teardown(self) -> None:
        if self.cat.table_exists(NAME):
            base = load_base(self.cat, NAME, None)
            sweep(base)
            left = [path for path in orphans(base) if not path.endswith("_ldp/write.lock")]
            assert not left or self.moved, left
        shutil.rmtree(self.root)

    # The oracle.

    def line(self) -> list[Snapshot]:
        at, found = self.head, []
        while at is not None:
            found.append(self.known[at])
            at = self.known[at].parent
        return found

    def rows(self) -> tuple[Row, ...]:
        return () if self.head is None else self.known[self.head].rows

    def published(self) -> list[Window]:
        return [snap.window for snap in self.line() if snap.window is not None]

    def add(self, snapshot_id: int, window: Window | None, rows: tuple[Row, ...]) -> None:
        assert snapshot_id not in self.known
        self.known[snapshot_id] = Snapshot(self.head, window, rows)
        self.head = snapshot_id

    def source(self, window: Window, ids: list[int], others: list[int]) -> tuple[Row, ...]:
        """Write the source: a row for each id in the window, and rows of other hours; returns the former."""
        first = int((window.start - START) / timedelta(hours=1))
        last = int((window.end - START) / timedelta(hours=1)) - 1
        kept = tuple((id_, (first, last)[id_ % 2], f"row {self.next()}") for id_ in ids)
        rest = tuple((90 + hour, hour, "other") for hour in (*others, 9) if not first <= hour <= last)
        lines = [f"{row[0]},{START + timedelta(hours=row[1], minutes=30):%Y-%m-%dT%H:%M},{row[2]}"
                 for row in (*kept, *rest)]  # fmt: skip
        (self.root / "in.csv").write_text("\n".join(["id,at,city", *lines]) + "\n")
        return kept

    def next(self) -> int:
        self.serial += 1
        return self.serial

    # Runs.

    what: dict[str, Any] = {  # noqa: RUF012
        "mode": st.sampled_from(["append", "overwrite", "overwrite", "upsert"]),
        "first": st.integers(0, HOURS - 1),
        "length": st.sampled_from([1, 1, 2]),
        "ids": st.lists(st.integers(0, 4), unique=True, max_size=3),
        "others": st.lists(st.integers(0, HOURS), unique=True, min_size=1, max_size=2),
    }

    @rule(**what)
    def run(self, mode: str, first: int, length: int, ids: list[int], others: list[int]) -> None:
        window = hours(first, length)
        self.load(mode, window, self.source(window, ids, others), f"run-{self.next()}", 1)

    def load(self, mode: str, window: Window, kept: tuple[Row, ...], run_id: str, attempt: int) -> None:
        before = self.published()
        overlaps = any(old != window and old.start < window.end and window.start < old.end for old in before)
        try:
            done = run_config(self.config, mode, window=str(window), run_id=run_id, attempt=attempt)
        except KeysUnknown:
            event("stopped")
            assert self.moved
            return
        except WindowOverlap:
            event("refused")
            assert mode == "append" and overlaps and window not in before  # noqa: PT018
            return
        self.took(window)
        assert (done.status == "skipped_duplicate") == (window in before)
        if done.status == "skipped_duplicate":
            event("skipped")
            return
        assert not (mode == "append" and overlaps), "an append shares time with a published window"
        event(f"published by {mode}")
        assert done.published_in is not None
        assert done.rows_kept == len(kept)
        self.add(done.published_in, window, after(mode, self.rows(), window, kept))

    def took(self, window: Window) -> None:
        """An empty snapshot that a fence stands on belongs to main, too."""
        table = self.cat.load_table(NAME)
        current = table.current_snapshot()
        if self.head is None and current is not None and current.parent_snapshot_id is not None:
            self.add(current.parent_snapshot_id, None, ())

    @precondition(lambda self: self.head is not None)
    @rule(**what, hour=st.integers(0, HOURS), id_=st.integers(0, 4))
    def run_with_another_writer(
        self, mode: str, first: int, length: int, ids: list[int], others: list[int], hour: int, id_: int
    ) -> None:
        """Another program appends a row right before the commit."""
        window = hours(first, length)
        kept = self.source(window, ids, others)

        def act(go_on: Callable[[], Any]) -> Any:
            event("raced")
            self.append_by_pyiceberg(id_, hour)
            return go_on()

        with sending(act):
            self.load(mode, window, kept, f"run-{self.next()}", 1)

    @precondition(lambda self: self.head is not None)
    @rule(
        **what,
        landed=st.booleans(),
        error=st.sampled_from([KeyboardInterrupt, ConnectionError, RuntimeError]),
    )
    def run_that_fails_at_the_commit(
        self,
        mode: str,
        first: int,
        length: int,
        ids: list[int],
        others: list[int],
        landed: bool,
        error: type[BaseException],
    ) -> None:
        """The commit fails, or takes effect and nobody hears of it; the next attempt settles it."""
        window = hours(first, length)
        kept = self.source(window, ids, others)
        run_id = f"run-{self.next()}"
        before = self.cat.load_table(NAME).current_snapshot().snapshot_id

        def act(go_on: Callable[[], Any]) -> Any:
            if landed:
                go_on()
            raise error(LOST)

        failed = False
        with sending(act):
            try:
                self.load(mode, window, kept, run_id, 1)
            except KeyboardInterrupt:
                failed = True
            except (ConnectionError, LDPError) as caught:
                if LOST not in str(caught):
                    raise
                failed = True
        if not failed:
            return
        now = self.cat.load_table(NAME).current_snapshot()
        if now.snapshot_id != before:
            event("took effect unheard")
            self.add(now.snapshot_id, window, after(mode, self.rows(), window, kept))
        self.load(mode, window, kept, run_id, 2)
        assert self.moved or window in self.published() or mode == "append"

    # What others do.

    @precondition(lambda self: self.head is not None)
    @rule(id_=st.integers(0, 4), hour=st.integers(0, HOURS))
    def append_by_pyiceberg(self, id_: int, hour: int) -> None:
        row = (id_, hour, f"row {self.next()}")
        table = self.cat.load_table(NAME)
        columns = {
            "id": [row[0]],
            "at": [(START + timedelta(hours=row[1], minutes=30)).replace(tzinfo=None)],
            "city": [row[2]],
        }
        table.append(pa.table(columns).cast(table.schema().as_arrow()))
        self.add(table.current_snapshot().snapshot_id, None, (*self.rows(), row))

    @precondition(lambda self: self.head is not None)
    @rule(data=st.data(), every=st.booleans())
    def expire_by_pyiceberg(self, data: st.DataObject, every: bool) -> None:
        table = self.cat.load_table(NAME)
        safe = {ref.snapshot_id for ref in table.metadata.refs.values()}
        free = sorted(snap.snapshot_id for snap in table.snapshots() if snap.snapshot_id not in safe)
        assume(free)
        gone = free if every else data.draw(st.lists(st.sampled_from(free), min_size=1, unique=True))
        table.maintenance.expire_snapshots().by_ids(gone).commit()
        self.moved = True

    @precondition(lambda self: self.head is not None)
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        table = self.cat.load_table(NAME)
        there = {snap.snapshot_id for snap in table.snapshots()} - {self.head}
        at, ancestors = self.head, []
        while at is not None:
            ancestors.append(at)
            at = self.known[at].parent
        options = [at for at in ancestors if at in there]
        assume(options)
        self.head = data.draw(st.sampled_from(options))
        ref = {"ref-name": "main", "type": "branch", "snapshot-id": self.head}
        self.cat.commit_table(table, (), (SetSnapshotRefUpdate.model_validate(ref),))
        self.moved = True

    @invariant()
    def main_is_the_oracle(self) -> None:
        if not self.cat.table_exists(NAME):
            assert self.head is None
            return
        found = self.cat.load_table(NAME).scan().to_arrow()
        first = START.replace(tzinfo=None)
        rows = [
            (id_, int((at.replace(tzinfo=None) - first) / timedelta(hours=1)), city)
            for id_, at, city in zip(*(found[name].to_pylist() for name in ("id", "at", "city")), strict=True)
        ]
        assert Counter(rows) == Counter(self.rows())


Windows.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    print_blob=True,
)
TestWindows = pytest.mark.filterwarnings("ignore::ResourceWarning")(Windows.TestCase)
