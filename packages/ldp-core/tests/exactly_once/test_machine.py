"""Random histories of one table: publishes, retries, zombies, races, faults, and what others do to it.

The oracle keeps for ever what the table forgets: which snapshot stands on which, what key each carries and
what rows each leaves. A key is published when main's head or one of its ancestors carries it. Each key takes
effect on main at most once, a retry makes it at least once, main's rows are the oracle's, and a sweep leaves
no file that nothing refers to.

``LDP_EXAMPLES`` sets how many histories are tried (12), ``LDP_STEPS`` how long each is (20).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ldp_core.api import run_config
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.claim import AlreadyPublished, Claim
from ldp_core.commit.fence import Superseded, fence_name, superseded
from ldp_core.commit.ledger import Ledger, Who
from ldp_core.commit.publish import publish
from ldp_core.commit.put_fences import put_fences
from ldp_core.commit.recover import sweep
from ldp_core.commit.retry import RetryPolicy
from ldp_core.commit.stage import Manifest, Stage
from ldp_core.commit.verify import KeysUnknown
from ldp_core.errors import CommitConflict, CommitUnknown, LDPError
from ldp_core.fs import local_path
from ldp_core.tables.view import of_metadata
from ldp_core.targets._changes import live_files
from ldp_core.testing.builders import data_files, new_table, orphans, write_parquet
from ldp_core.testing.faults import FaultyCatalog, Plan, faults
from ldp_core.window import Window
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.table.update import RemoveSnapshotRefUpdate, SetSnapshotRefUpdate

EXAMPLES = int(os.environ.get("LDP_EXAMPLES", "12"))
STEPS = int(os.environ.get("LDP_STEPS", "20"))
NAME = ("nyc", "rides")
TARGET = "nyc.rides"
START = datetime(2026, 8, 1, tzinfo=UTC)
HOURS = [Window(START + timedelta(hours=n), START + timedelta(hours=n + 1)) for n in range(6)]
PIPELINES = ("rides", "trips")
QUICK = RetryPolicy(deadline=20, sleep=lambda _: None)
UNSURE = (ConnectionError, CommitStateUnknownException)
ERRORS = (*UNSURE, CommitFailedException, RuntimeError, KeyboardInterrupt)
MODES = st.sampled_from(["append", "append", "overwrite", "upsert"])

Row = tuple[int, str]


@dataclass(frozen=True)
class Snapshot:
    """What the oracle knows of a snapshot, for ever."""

    parent: int | None
    key: str | None
    rows: tuple[Row, ...]


@dataclass
class Attempt:
    """An attempt of a run that has staged its rows and not published them."""

    claim: Claim
    mode: str
    row: Row
    base: Base
    stage: Stage
    path: str
    dead: bool = False

    def build(self, fresh: Base) -> Change:
        """The change on a base, as the mode says."""
        added = data_files(fresh, [self.path])
        if self.mode == "append" or fresh.metadata.current_snapshot() is None:
            return Change("append", added=added)
        if self.mode == "overwrite":
            return Change("overwrite", added=added, removed=live_files(fresh))
        rows = [row for row in rows_of(fresh) if row[0] != self.row[0]]
        if rows:
            ids, cities = map(list, zip(*rows, strict=True))
            kept = write_parquet(fresh, self.stage.new_file(), {"id": ids, "city": cities})
            added = data_files(fresh, [self.path, kept])
        return Change("overwrite", added=added, removed=live_files(fresh))


def rows_of(base: Base) -> list[Row]:
    table = base.catalog.load_table(base.identifier).scan().to_arrow()
    return list(zip(table["id"].to_pylist(), table["city"].to_pylist(), strict=True))


def after(mode: str, rows: tuple[Row, ...], row: Row) -> tuple[Row, ...]:
    """The rows of main after a publish, by the plainest means."""
    if mode == "overwrite":
        return (row,)
    kept = tuple(old for old in rows if old[0] != row[0]) if mode == "upsert" else rows
    return (*kept, row)


class ExactlyOnce(RuleBasedStateMachine):
    """One table and its oracle."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="ldp-once-"))
        self.cat = FaultyCatalog("nyc", self.root / "wh")
        self.known: dict[int, Snapshot] = {}
        self.head: int | None = None
        self.waiting: list[Attempt] = []
        self.runs: dict[str, tuple[Claim, str, Row]] = {}
        self.serial = 0
        self.excused: set[str] = set()
        self.moved = False

    @initialize(versions=st.sampled_from(["2", "5", "50"]), merge=st.sampled_from(["3", "100"]))
    def setup(self, versions: str, merge: str) -> None:
        properties = {
            "write.metadata.previous-versions-max": versions,
            "commit.manifest.min-count-to-merge": merge,
        }
        self.new = new_table(**properties)

    def teardown(self) -> None:
        for attempt in self.waiting:
            attempt.stage.discard()
        if self.cat.table_exists(NAME):
            self.swept()
        shutil.rmtree(self.root)

    # The oracle.

    def line(self) -> list[int]:
        at, found = self.head, []
        while at is not None:
            found.append(at)
            at = self.known[at].parent
        return found

    def published(self, key: str | None) -> bool:
        return key is not None and any(self.known[at].key == key for at in self.line())

    def rows(self) -> tuple[Row, ...]:
        return () if self.head is None else self.known[self.head].rows

    def add(self, snapshot_id: int, key: str | None, rows: tuple[Row, ...]) -> None:
        assert snapshot_id not in self.known
        self.known[snapshot_id] = Snapshot(self.head, key, rows)
        self.head = snapshot_id

    def base(self) -> Base:
        return load_base(self.cat, NAME, self.new)

    def took(self, base: Base) -> None:
        """Empty snapshots that fences stand on belong to main, too."""
        if base.exists and self.head is None and base.metadata.current_snapshot() is not None:
            self.add(base.metadata.current_snapshot_id, None, ())

    def begin(self, claim: Claim, mode: str, row: Row) -> Attempt | None:
        """The first half of a run, in the order that the Iceberg target keeps."""
        try:
            base = self.base()
            if base.exists:
                view = of_metadata(base.metadata, base.io)
                superseded(view, claim.run_id, claim.attempt)
                found = claim.look(view)
                if found is not None:
                    event("skipped")
                    assert self.published(claim.key), "skipped, and not on main"
                    return None
                base = put_fences(base, claim.run_id, claim.attempt, policy=QUICK)
                self.took(base)
                sweep(base)
        except Superseded:
            event("superseded")
            assert self.newer(claim), "superseded by nobody"
            return None
        except KeysUnknown:
            event("stopped")
            assert self.moved
            return None
        stage = Stage(base, claim.run_id, claim.attempt)
        stage.__enter__()
        path = write_parquet(base, stage.new_file(), {"id": [row[0]], "city": [row[1]]})
        return Attempt(claim, mode, row, base, stage, path)

    def finish(self, attempt: Attempt, plan: Plan) -> None:
        """The second half: publish."""
        claim, stage = attempt.claim, attempt.stage
        before = self.published(claim.key)
        fenced = fence_name(claim.run_id, claim.attempt) in self.refs()
        try:
            with faults(plan):
                publish(
                    attempt.base,
                    attempt.build,
                    policy=QUICK,
                    summary=self.summary(claim),
                    stage=stage,
                    guard=claim.check,
                )
        except AlreadyPublished:
            event("skipped at the commit")
            assert before, "skipped, and not on main"
        except Superseded:
            event("superseded")
            assert self.newer(claim), "superseded by nobody"
        except KeysUnknown:
            event("stopped")
            assert self.moved
        except CommitUnknown:
            event("unknown")
            stage.abandon()
            self.landed(attempt, before, fenced)
        except KeyboardInterrupt:
            self.landed(attempt, before, fenced)
        except CommitConflict:
            event("conflict")
            assert attempt.dead or plan.index is not None or not attempt.base.exists
            assert not self.is_there(stage.snapshot_id)
        except (LDPError, *ERRORS):
            event("failed")
            assert plan.index is not None
            assert not self.is_there(stage.snapshot_id), "told to have failed, and took effect"
        else:
            assert self.is_there(stage.snapshot_id)
            self.landed(attempt, before, fenced)
        stage.discard()

    def landed(self, attempt: Attempt, before: bool, fenced: bool) -> None:
        """Take a commit into the oracle, if it took effect."""
        if not self.is_there(attempt.stage.snapshot_id):
            return
        assert not before, "published twice"
        assert not fenced, "published behind a fence"
        event("published")
        rows = after(attempt.mode, self.rows(), attempt.row)
        self.add(attempt.stage.snapshot_id, attempt.claim.key, rows)

    def is_there(self, at: int) -> bool:
        return self.cat.table_exists(NAME) and self.table().snapshot_by_id(at) is not None

    def newer(self, claim: Claim) -> bool:
        newest = self.runs.get(claim.run_id)
        return newest is not None and newest[0].attempt > claim.attempt

    def summary(self, claim: Claim) -> dict[str, str]:
        told = {"ldp.run-id": claim.run_id, "ldp.attempt": str(claim.attempt)}
        if claim.key is not None:
            told["ldp.idempotency-key"] = claim.key
        if claim.window is not None:
            told["ldp.logical-window"] = claim.window.logical
        return told

    def claim(self, pipeline: str, hour: int, kind: str) -> Claim:
        self.serial += 1
        window = HOURS[hour] if kind == "window" else None
        keys = {
            "window": Ledger(pipeline, TARGET, "").key_of(HOURS[hour]),
            "own": f"own-{pipeline}-{hour}",
            "none": None,
        }
        who = Who("CSV", pipeline)
        return Claim(f"run-{self.serial}", 1, pipeline, TARGET, who, keys[kind], window, overlap=False)

    def next_row(self, id_: int) -> Row:
        self.serial += 1
        return (id_, f"row {self.serial}")

    def fresh(self, pipeline: str, hour: int, kind: str, mode: str, id_: int) -> Attempt | None:
        claim, row = self.claim(pipeline, hour, kind), self.next_row(id_)
        self.runs[claim.run_id] = (claim, mode, row)
        return self.begin(claim, mode, row)

    # Rules: runs.

    new_run: ClassVar[dict[str, Any]] = {
        "pipeline": st.sampled_from(PIPELINES),
        "hour": st.integers(0, len(HOURS) - 1),
        "kind": st.sampled_from(["window", "window", "window", "own", "none"]),
        "mode": MODES,
        "id_": st.integers(0, 4),
    }

    @rule(**new_run)
    def run(self, pipeline: str, hour: int, kind: str, mode: str, id_: int) -> None:
        attempt = self.fresh(pipeline, hour, kind, mode, id_)
        if attempt is not None:
            self.finish(attempt, Plan())

    @rule(
        **new_run,
        index=st.integers(0, 16),
        when=st.sampled_from(["before", "after"]),
        error=st.sampled_from(ERRORS),
    )
    def run_with_a_fault(
        self, pipeline: str, hour: int, kind: str, mode: str, id_: int, index: int, when: Any, error: Any
    ) -> None:
        """One call of the publish fails; the retry that follows finds or makes the key."""
        attempt = self.fresh(pipeline, hour, kind, mode, id_)
        if attempt is None:
            return
        self.finish(attempt, Plan(index, when, error))
        if attempt.claim.key is not None:
            self.again(attempt.claim.run_id)

    @rule(**new_run)
    def start(self, pipeline: str, hour: int, kind: str, mode: str, id_: int) -> None:
        """A run that goes on later: its base will be stale, it may be a zombie then."""
        attempt = self.fresh(pipeline, hour, kind, mode, id_)
        if attempt is not None:
            self.waiting.append(attempt)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def wake(self, data: st.DataObject) -> None:
        attempt = data.draw(st.sampled_from(range(len(self.waiting))))
        self.finish(self.waiting.pop(attempt), Plan())

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        """The next attempt of a run that was begun; the older one may still be under way."""
        self.again(data.draw(st.sampled_from(sorted(self.runs))))

    def again(self, run_id: str) -> None:
        claim, mode, row = self.runs[run_id]
        claim = Claim(**{**vars(claim), "attempt": claim.attempt + 1})
        self.runs[run_id] = (claim, mode, row)
        attempt = self.begin(claim, mode, row)
        if attempt is not None:
            self.finish(attempt, Plan())
            assert claim.key is None or self.moved or self.published(claim.key), "a retry lost it"

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def believed_dead(self, data: st.DataObject) -> None:
        """The process of an attempt seems to be gone: whoever comes next sweeps its files."""
        attempt = data.draw(st.sampled_from(self.waiting))
        path = local_path(attempt.stage.manifest)
        if path.exists():
            manifest = Manifest.from_bytes(path.read_bytes())
            assert manifest is not None
            path.write_bytes(Manifest(**{**vars(manifest), "started": "long ago"}).to_bytes())
            attempt.dead = True

    @precondition(lambda self: self.head is not None)
    @rule(pipeline=st.sampled_from(PIPELINES), hour=st.integers(0, 5), mode=MODES, id_=st.integers(0, 4))
    def run_a_config(self, pipeline: str, hour: int, mode: str, id_: int) -> None:
        """The whole product: a config, its CSV file, a window."""
        claim, row = self.claim(pipeline, hour, "window"), self.next_row(id_)
        (self.root / f"{pipeline}.csv").write_text(f"id,city\n{row[0]},{row[1]}\n")
        config = self.root / f"{pipeline}.json"
        catalog = {"identifier": "nyc", "warehouse_path": "wh"}
        target = {"name": "rides", "format": "ICEBERG", "catalog": catalog, "join_cols": ["id"]}
        source = {"name": pipeline, "format": "CSV", "path": f"{pipeline}.csv"}
        config.write_text(
            json.dumps({"identifier": pipeline, "metadata": {"source": source, "target": target}})
        )
        before = self.published(claim.key)
        try:
            done = run_config(config, mode, window=str(HOURS[hour]), run_id=claim.run_id)
        except KeysUnknown:
            event("stopped")
            assert self.moved
            return
        assert (done.status == "skipped_duplicate") == before
        if not before:
            assert done.published_in is not None
            self.add(done.published_in, claim.key, after(mode, self.rows(), row))

    def table(self) -> Any:
        return self.cat.load_table(NAME)

    def refs(self) -> Mapping[str, Any]:
        return self.table().metadata.refs if self.cat.table_exists(NAME) else {}

    def files(self) -> set[str]:
        return {str(path) for path in (self.root / "wh" / "nyc" / "rides").rglob("*") if path.is_file()}

    def foreign(self, act: Any) -> None:
        """What others do; the files that they leave are theirs."""
        mine = set(orphans(self.base()))
        before = self.files() - mine
        act()
        self.excused |= before | (self.files() - before - mine)

    def commit(self, *updates: Any) -> None:
        self.foreign(lambda: self.cat.commit_table(self.table(), (), updates))

    def is_born(self) -> bool:
        return self.head is not None

    @precondition(is_born)
    @rule(id_=st.integers(0, 4))
    def append_by_pyiceberg(self, id_: int) -> None:
        row = self.next_row(id_)
        schema = pa.schema([("id", pa.int64()), ("city", pa.string())])
        rows = pa.table({"id": [row[0]], "city": [row[1]]}, schema=schema)
        self.foreign(lambda: self.table().append(rows))
        self.add(self.table().current_snapshot().snapshot_id, None, (*self.rows(), row))

    @precondition(is_born)
    @rule(data=st.data(), every=st.booleans())
    def expire_by_pyiceberg(self, data: st.DataObject, every: bool) -> None:
        safe = {ref.snapshot_id for ref in self.refs().values()}
        free = sorted(snap.snapshot_id for snap in self.table().snapshots() if snap.snapshot_id not in safe)
        assume(free)
        gone = free if every else data.draw(st.lists(st.sampled_from(free), min_size=1, unique=True))
        self.foreign(lambda: self.table().maintenance.expire_snapshots().by_ids(gone).commit())
        self.moved = True

    @precondition(is_born)
    @rule(data=st.data(), back=st.booleans())
    def move_main(self, data: st.DataObject, back: bool) -> None:
        """Roll main back to an ancestor, or move it to any snapshot that there is."""
        there = {snap.snapshot_id for snap in self.table().snapshots()} - {self.head}
        options = [at for at in (self.line() if back else sorted(there)) if at in there]
        assume(options)
        self.head = data.draw(st.sampled_from(options))
        ref = {"ref-name": "main", "type": "branch", "snapshot-id": self.head}
        self.commit(SetSnapshotRefUpdate.model_validate(ref))
        self.moved = True

    @precondition(is_born)
    @rule(data=st.data(), name=st.sampled_from(["one", "two"]), kind=st.sampled_from(["tag", "branch"]))
    def make_ref(self, data: st.DataObject, name: str, kind: str) -> None:
        there = sorted(snap.snapshot_id for snap in self.table().snapshots())
        ref = {"ref-name": f"{kind}-{name}", "type": kind, "snapshot-id": data.draw(st.sampled_from(there))}
        self.commit(SetSnapshotRefUpdate.model_validate(ref))

    @precondition(is_born)
    @rule(data=st.data())
    def remove_ref(self, data: st.DataObject) -> None:
        """Any branch or tag but main: fences too."""
        refs = sorted(set(self.refs()) - {"main"})
        assume(refs)
        name = data.draw(st.sampled_from(refs))
        self.commit(RemoveSnapshotRefUpdate.model_validate({"ref-name": name}))

    def swept(self) -> None:
        base = self.base()
        sweep(base)
        at_work = [attempt.stage for attempt in self.waiting if attempt.stage._open]
        left = [
            path
            for path in orphans(base)
            if path not in self.excused
            and not path.endswith("_ldp/write.lock")
            and not any(_of(stage, path) for stage in at_work)
        ]
        assert not left, left

    @rule()
    def nothing_is_left(self) -> None:
        assume(self.cat.table_exists(NAME))
        self.swept()

    @invariant()
    def main_is_the_oracle(self) -> None:
        if not self.cat.table_exists(NAME):
            assert self.head is None
            return
        table = self.table()
        snapshot = table.current_snapshot()
        assert (snapshot.snapshot_id if snapshot else None) == self.head
        found = table.scan().to_arrow()
        rows = zip(found["id"].to_pylist(), found["city"].to_pylist(), strict=True)
        assert Counter(rows) == Counter(self.rows())


def _of(stage: Stage, path: str) -> bool:
    return local_path(stage.folder) in Path(path).parents or path == str(local_path(stage.manifest))


ExactlyOnce.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    print_blob=True,
)
TestExactlyOnce = pytest.mark.filterwarnings("ignore::ResourceWarning")(ExactlyOnce.TestCase)
