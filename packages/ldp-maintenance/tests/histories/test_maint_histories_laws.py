"""Whatever a table went through, upkeep beside writers changes no answer, and loses no file that is needed.

A history is modelled on the side: which rows each branch, tag and waiting snapshot has. After each operation
the table is read by pyiceberg (by DuckDB where there are equality deletes) and compared with the model.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from ldp_core.errors import LDPError
from ldp_core.fs import local_path
from ldp_maintenance import testing
from ldp_maintenance.engines.local import local
from ldp_maintenance.maintenance import HOMES
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import EvolutionRule, Expire, Orphans, Policy, Rewrite
from pyiceberg.typedef import Record

THERE = [name for name, (home, _) in HOMES.items() if find_spec(f"ldp_maintenance.{home}")]
"""Operations that can be imported."""
CITIES = st.sampled_from(["NYC", "LA", None])
DAYS = st.integers(0, 40)
WAYS = {
    "size": st.sampled_from([1_500, 6_000, 10**8]),
    "age": st.sampled_from([None, 0.0]),
    "meanwhile": st.sampled_from(["nothing", "append", "positions", "keys", "killed"]),
}
"""How upkeep is done, and what happens while it is at work."""


class Histories(RuleBasedStateMachine):
    """A table, and what its rows must be."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="ldp-laws-"))
        self.next_id = 0
        self.refs: dict[str, dict[int, tuple]] = {"main": {}}
        self.snapshots: dict[int, dict[int, tuple]] = {}

    # What writers do

    @initialize(
        partition=st.sampled_from([None, "day", "identity", "bucket"]),
        ordered=st.booleans(),
        merged=st.sampled_from(["3", "100"]),
    )
    def create(self, partition, ordered, merged):
        self.table = testing.table(
            testing.catalog(self.folder),
            partition=partition,
            sorted_by="id" if ordered else None,
            properties={"commit.manifest.min-count-to-merge": merged},
        )
        self.append(6, "NYC", 0)

    @rule(count=st.integers(1, 6), city=CITIES, day=DAYS)
    def append(self, count, city, day):
        made = self._rows(count, city, day)
        testing.append(self.table, made, city=city, at=testing.DAY0 + dt.timedelta(days=day))
        self.refs["main"] |= made
        self._noted()

    @rule(which=st.integers(0, 9), count=st.integers(1, 4), city=CITIES, day=DAYS)
    def overwrite(self, which, count, city, day):
        path = self._file(which)
        if path is None:
            return
        made = self._rows(count, city, day)
        at = testing.DAY0 + dt.timedelta(days=day)
        for item in self._ids(path):
            self.refs["main"].pop(item, None)
        testing.overwrite(self.table, path, made, city=city, at=at)
        self.refs["main"] |= made
        self._noted()

    @rule(
        files=st.lists(st.integers(0, 9), min_size=1, max_size=3),
        position=st.integers(0, 5),
        scoped=st.booleans(),
    )
    def delete_positions(self, files, position, scoped):
        paths = {self._file(which) for which in files} - {None}
        chosen = {path: position % len(self._ids(path)) for path in paths}
        if not chosen:
            return
        for path, at in chosen.items():
            self.refs["main"].pop(self._ids(path)[at], None)
        testing.delete_positions(self.table, {path: [at] for path, at in chosen.items()}, scoped=scoped)
        self._noted()

    @rule(which=st.integers(0, 9), more=st.booleans())
    def delete_keys(self, which, more):
        path = self._file(which)
        if path is None:
            return
        file = testing.live_files(self.table)[path]
        everywhere = self.table.spec().is_unpartitioned()
        if not everywhere and file.spec_id != self.table.spec().spec_id:
            return
        keys = self._ids(path)[: 2 if more else 1]
        for key in keys:
            self.refs["main"].pop(key, None)
        testing.delete_keys(self.table, keys, partition=Record() if everywhere else file.partition)
        self._noted()

    @rule(to=st.sampled_from([None, "day", "identity"]))
    def evolve_spec(self, to):
        if len(self.table.metadata.specs()) < 4:
            testing.evolve_spec(self.table, to)

    @rule()
    def evolve_schema(self):
        if len(self.table.metadata.schemas) < 3:
            number = len(self.table.metadata.schemas)
            testing.evolve_schema(self.table, f"note{number}", None if number > 1 else ("amount", "price"))

    @precondition(lambda self: len(self.refs) < 4)
    @rule(branch=st.booleans())
    def name(self, branch):
        name = f"{'branch' if branch else 'tag'}-{len(self.refs)}"
        (testing.branch if branch else testing.tag)(self.table, name)
        self.refs[name] = dict(self.refs["main"])

    @precondition(lambda self: any(name.startswith("branch") for name in self.refs))
    @rule(count=st.integers(1, 3), city=CITIES, day=DAYS)
    def append_to_branch(self, count, city, day):
        name = next(name for name in self.refs if name.startswith("branch"))
        made = self._rows(count, city, day)
        at = testing.DAY0 + dt.timedelta(days=day)
        testing.append(self.table, made, city=city, at=at, branch=name)
        self.refs[name] |= made

    @rule()
    def stage(self):
        made = self._rows(2, "NYC", 1)
        at = testing.DAY0 + dt.timedelta(days=1)
        number = testing.staged(self.table, made, city="NYC", at=at)
        self.snapshots[number] = {**self.refs["main"], **made}

    @rule()
    def roll_back(self):
        head = self.table.current_snapshot()
        parent = head.parent_snapshot_id if head else None
        if parent in self.snapshots and self.table.snapshot_by_id(parent) is not None:
            testing.rollback(self.table)
            self.refs["main"] = dict(self.snapshots[parent])

    # What upkeep does

    @rule(**WAYS)
    def rewrite(self, **how):
        self.upkeep("rewrite-data-files", **how)

    @rule(**WAYS)
    def evolve(self, **how):
        self.upkeep("evolve-partitions", **how)

    @rule(**WAYS)
    def drop_dangling(self, **how):
        self.upkeep("remove-dangling-deletes", **how)

    @rule(**WAYS)
    def regroup(self, **how):
        self.upkeep("rewrite-manifests", **how)

    @rule(**WAYS)
    def expire(self, **how):
        self.upkeep("expire-snapshots", **how)

    @rule(**WAYS)
    def clean(self, **how):
        self.upkeep("remove-orphans", **how)

    def upkeep(self, operation, size, age, meanwhile):
        if operation not in THERE:
            return
        policy = Policy(
            rewrite=Rewrite(target_file_size_bytes=size, skip_newest=None, delete_ratio=0.1),
            evolution=(EvolutionRule(older_than_days=30),),
            expire=Expire(max_snapshot_age_days=age),
            orphans=Orphans(older_than_days=0, any_name=True),
            properties={"upkeep": "yes"},
        )
        other = self._Other(self, meanwhile)
        doing = Doing(commit=True, written_out=True, progress=other)
        target = Target(self.table.catalog, self.table.name(), policy)
        try:
            outcome = local.run(operation, target, doing)
        except KeyboardInterrupt:
            outcome = None
        except LDPError as error:
            if error.code not in ("refused", "commit_conflict"):
                raise
            outcome = None
        self.table.refresh()
        self._holds()
        if outcome is not None and outcome.status == "done" and meanwhile == "nothing" and age is None:
            again = local.run(operation, target, Doing(commit=True, written_out=True))
            assert again.status == "nothing", (operation, again)
            self.table.refresh()

    class _Other:
        """A writer that comes in when an operation first says that it is at work, or a kill."""

        def __init__(self, machine, what):
            self.machine, self.what, self.lock, self.came = machine, what, threading.Lock(), False

        def __call__(self, *_):
            with self.lock:
                if self.came:
                    return
                self.came = True
                machine = self.machine
                machine.table.refresh()
                if self.what == "append":
                    machine.append(2, "LA", 3)
                elif self.what == "positions":
                    machine.delete_positions([0, 1], 1, scoped=False)
                elif self.what == "keys":
                    machine.delete_keys(0, more=True)
                elif self.what == "killed":
                    raise KeyboardInterrupt

    def teardown(self):
        try:
            if hasattr(self, "table"):
                self._finish()
        finally:
            shutil.rmtree(self.folder)

    def _finish(self):
        """In the end nothing is left but what is needed, and all of that is there."""
        for operation in THERE:
            self.upkeep(operation, 6_000, None, "nothing")
        if "remove-orphans" in THERE:
            assert not testing.unreferenced_files(self.table)
        self._holds()
        for number, wanted in self.snapshots.items():
            if self.table.snapshot_by_id(number) is not None:
                assert self._read(number) == wanted

    def _holds(self):
        assert set(self.table.metadata.refs) == set(self.refs)
        for name, wanted in self.refs.items():
            assert self._read(name) == wanted, name
        assert testing.referenced_files(self.table) <= testing.files_on_disk(self.table)
        assert testing.entries_in_manifest_of_wrong_content(self.table) == 0

    def _read(self, ref):
        found = testing.rows(self.table, ref)
        by_id = {row[0]: row[:4] for row in found}
        assert len(by_id) == len(found), "a row stands there twice"
        return by_id

    def _rows(self, count, city, day):
        first = self.next_id
        self.next_id += count
        at = testing.DAY0 + dt.timedelta(days=day)
        return {item: (item, city, at, item / 2) for item in range(first, first + count)}

    def _file(self, which):
        files = sorted(testing.live_files(self.table))
        return files[which % len(files)] if files else None

    def _ids(self, path):
        return pq.read_table(local_path(path), columns=["id"]).column(0).to_pylist()

    def _noted(self):
        head = self.table.current_snapshot()
        self.snapshots[head.snapshot_id] = dict(self.refs["main"])


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=int(os.environ.get("LDP_HISTORIES", min(4, settings().max_examples))),
    stateful_step_count=int(os.environ.get("LDP_HISTORY_STEPS", "10")),
    deadline=None,
)
