"""The key lookup against the truth, over random histories of a table.

The model keeps for ever what a table forgets: which snapshot stands on which. A key is published when a
snapshot that carries it is main's head or one of its ancestors. The lookup may say so, may say that it is
free, or may stop; it must never be wrong.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ldp_core.commit import ledger as ledgers
from ldp_core.commit import verify
from ldp_core.commit.anchor import anchored
from ldp_core.commit.ledger import Ledger, Publish, read, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.lookup import absorbed, find
from ldp_core.commit.verify import KeysUnknown, verified
from ldp_core.tables.view import TableView, of_json
from ldp_core.window import Window

HISTORIES = int(os.environ.get("LDP_HISTORIES", "80"))
"""How many histories each case tries."""
PIPELINE = "rides"
START = datetime(2026, 8, 1, tzinfo=UTC)
HOURS = [Window(START + timedelta(hours=n), START + timedelta(hours=n + 1)) for n in range(12)]
EMPTY = Ledger(PIPELINE, "nyc.rides", "u")


@dataclass
class World:
    """A table, and what really happened to it."""

    rng: random.Random
    versioned: bool = True
    log_length: int = 6
    ids: int = 0
    sequence: int = 0
    head: int | None = None
    snapshots: dict[int, dict[str, Any]] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    now: str = ""
    manifests: dict[int, frozenset[int]] = field(default_factory=dict)
    parents: dict[int, int | None] = field(default_factory=dict)
    carried: dict[int, str | None] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=lambda: {"published": 0, "free": 0, "stopped": 0})

    def view(self) -> TableView:
        def read_file(location: str) -> bytes:
            if location not in self.files:
                raise FileNotFoundError(location)
            return json.dumps(self.files[location]).encode()

        return of_json(self.body(), read_file, lambda name: self.manifests[int(name)])

    def body(self) -> dict[str, Any]:
        refs = {name: {"snapshot-id": at, "type": "tag"} for name, at in self.tags.items()}
        if self.head is not None:
            refs["main"] = {"snapshot-id": self.head, "type": "branch"}
        return {
            "table-uuid": "u",
            "last-sequence-number": self.sequence,
            "current-snapshot-id": self.head,
            "refs": refs,
            "snapshots": list(self.snapshots.values()),
            "properties": dict(self.properties),
            "metadata-log": [{"metadata-file": name} for name in self.log],
        }

    def commit(self) -> None:
        """A new metadata file; the oldest in the log go."""
        if self.now:
            self.log.append(self.now)
        self.log = self.log[-self.log_length :]
        self.ids += 1
        self.now = f"{self.ids}.json"
        self.files[self.now] = json.loads(json.dumps(self.body()))
        self.files = {name: data for name, data in self.files.items() if name in (*self.log, self.now)}

    def add(self, parent: int | None, summary: dict[str, str], keep: bool, key: str | None) -> int:
        self.ids += 1
        self.sequence += 1
        made = self.ids
        kept = self.manifests.get(parent, frozenset()) if parent is not None and keep else frozenset()
        self.manifests[made] = kept | {made}
        self.snapshots[made] = {
            "snapshot-id": made,
            "parent-snapshot-id": parent,
            "sequence-number": self.sequence if self.versioned else 0,
            "summary": {"operation": "append", **summary},
            "manifest-list": str(made),
        }
        self.parents[made] = parent
        self.carried[made] = key
        return made

    def line(self) -> list[int]:
        at, found = self.head, []
        while at is not None:
            found.append(at)
            at = self.parents[at]
        return found

    def truth(self, key: str) -> bool:
        return any(self.carried[at] == key for at in self.line())

    def untold(self) -> set[int]:
        """Snapshots that carry a key and that no ledger knows yet."""
        known = read(self.properties, PIPELINE) or EMPTY
        points = {point.snapshot for item in (*known.recent, *known.off) for point in item.points}
        folded = {key for key, *_ in known.keys}
        folded |= {EMPTY.key_of(window) for window in HOURS if any(i.holds(window) for i in known.windows)}
        keyed = {at for at in self.snapshots if self.carried[at] is not None}
        return {at for at in keyed if at not in points and self.carried[at] not in folded}

    def origins(self, at: int) -> list[int]:
        """What a snapshot was picked from, and so on."""
        found = []
        while at in self.snapshots and (source := self.snapshots[at]["summary"].get("source-snapshot-id")):
            at = int(source)
            found.append(at)
        return found

    # What may happen.

    def publish(self) -> None:
        window = self.rng.choice(HOURS)
        own = self.rng.random() < 0.2
        key = f"own-{self.rng.randrange(4)}" if own else EMPTY.key_of(window)
        given = None if own else window
        view = self.view()
        try:
            found = find(view, PIPELINE, key, given)
            assert (found is not None) == self.truth(key), (key, found, self.line(), self.body())
            self.answers["published" if found else "free"] += 1
            if found is not None:
                return
            known = absorbed(view, verified(view, PIPELINE) or EMPTY)
        except KeysUnknown:
            self.answers["stopped"] += 1
            return
        made = self.add(self.head, {"ldp.idempotency-key": key}, keep=True, key=key)
        if given is not None:
            self.snapshots[made]["summary"]["ldp.logical-window"] = given.logical
        sequence = self.sequence if self.versioned else 0
        after = known.recorded(Publish(key, given, (Point(made, sequence),)), "u")
        self.properties.update(written(after))
        assert read(self.properties, PIPELINE) == after
        self.head = made
        self.commit()

    def foreign(self) -> None:
        self.head = self.add(self.head, {}, keep=self.rng.random() < 0.7, key=None)
        self.commit()

    def legacy(self) -> None:
        """An earlier system publishes: its key stands in the summary alone."""
        window = self.rng.choice(HOURS)
        key = EMPTY.key_of(window)
        if not self.truth(key):
            summary = {"ldp.idempotency-key": key, "ldp.logical-window": window.logical}
            self.head = self.add(self.head, summary, keep=True, key=key)
            self.commit()

    def tag(self) -> None:
        if self.snapshots:
            self.tags[f"t{self.rng.randrange(3)}"] = self.rng.choice(list(self.snapshots))
            self.commit()

    def untag(self) -> None:
        if self.tags:
            self.tags.pop(self.rng.choice(list(self.tags)))
            self.commit()

    def expire(self) -> None:
        """Drop old snapshots; pyiceberg cuts the links of their children, Java keeps them.

        What only a summary tells of stays until the next publish has folded it in: nothing could know it.
        """
        untold = self.untold()
        origins = {at for one in untold for at in self.origins(one)}
        safe = {self.head, *self.tags.values(), *untold, *origins}
        gone = [at for at in self.snapshots if at not in safe and self.rng.random() < 0.7]
        if not gone:
            return
        cuts = self.rng.random() < 0.5
        for at in gone:
            del self.snapshots[at]
        for snap in self.snapshots.values():
            if cuts and snap["parent-snapshot-id"] in gone:
                snap["parent-snapshot-id"] = None
        self.commit()

    def rollback(self) -> None:
        options = [at for at in self.line()[1:] if at in self.snapshots]
        if options:
            self.head = self.rng.choice(options)
            self.commit()

    def move(self) -> None:
        """Main to any snapshot there is: forward again, or to another line."""
        if self.snapshots:
            self.head = self.rng.choice(list(self.snapshots))
            self.commit()

    def pick(self) -> None:
        line = self.line()
        options = [at for at in self.snapshots if at not in line and self.carried[at] is not None]
        options = [at for at in options if not self.truth(str(self.carried[at]))]
        if options:
            origin = self.rng.choice(options)
            key = self.carried[origin]
            self.head = self.add(self.head, {"source-snapshot-id": str(origin)}, keep=True, key=key)
            self.commit()

    def rewrite(self) -> None:
        """Manifests, rewritten by a snapshot of its own."""
        self.head = self.add(self.head, {}, keep=False, key=None)
        self.commit()

    def upkeep(self) -> None:
        """Our own: manifests rewritten, or files, by a snapshot that every ledger is stood on."""
        view = self.view()
        made = self.add(self.head, {"operation": "replace"}, keep=self.rng.random() < 0.3, key=None)
        point = Point(made, self.sequence if self.versioned else 0)
        self.properties.update(anchored(view, point).properties)
        self.head = made
        self.commit()

    def restore(self) -> None:
        """The catalog is put back to an older metadata file."""
        options = [name for name in self.log if name in self.files]
        if not options:
            return
        body = json.loads(json.dumps(self.files[self.rng.choice(options)]))
        self.now = next(name for name, data in self.files.items() if data == body)
        self.snapshots = {snap["snapshot-id"]: snap for snap in body["snapshots"]}
        self.tags = {n: r["snapshot-id"] for n, r in body["refs"].items() if n != "main"}
        self.head = body["current-snapshot-id"]
        self.properties = body["properties"]
        self.log = [entry["metadata-file"] for entry in body["metadata-log"]]
        self.sequence = body["last-sequence-number"]


STEPS = (
    *(["publish"] * 6),
    *(
        "foreign",
        "legacy",
        "tag",
        "untag",
        "expire",
        "expire",
        "rollback",
        "move",
        "pick",
        "rewrite",
        "upkeep",
        "upkeep",
        "restore",
    ),
)


def history(seed: int, *, versioned: bool, length: int = 40) -> World:
    rng = random.Random(seed)
    world = World(rng, versioned, log_length=rng.choice([0, 2, 6, 20]))
    for _ in range(length):
        getattr(world, rng.choice(STEPS))()
    return world


@pytest.mark.parametrize("single", [1, 3, 20])
@pytest.mark.parametrize("versioned", [True, False])
def test_the_lookup_is_never_wrong(monkeypatch: pytest.MonkeyPatch, single: int, versioned: bool) -> None:
    monkeypatch.setattr(ledgers, "SINGLE", single)
    monkeypatch.setattr(verify, "SINGLE", single)
    total = {"published": 0, "free": 0, "stopped": 0}
    for seed in range(HISTORIES):
        for answer, count in history(seed, versioned=versioned).answers.items():
            total[answer] += count
    assert total["published"] > HISTORIES
    assert total["free"] > HISTORIES
    assert total["stopped"] < (0.2 if versioned else 0.4) * sum(total.values()), total
