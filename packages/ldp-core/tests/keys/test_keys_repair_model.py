"""Rollbacks, rebuilt and compacted ledgers against the truth, over random histories of a table.

The histories are those of the lookup's own test. A user who knows the truth vouches for what nobody can tell.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from ldp_core.commit import ledger as ledgers
from ldp_core.commit import rollback as back
from ldp_core.commit import verify
from ldp_core.commit.absorb import owner as owner_of
from ldp_core.commit.compact import compacted
from ldp_core.commit.ledger import Who, property_of, read, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.owner import Owner
from ldp_core.commit.rebuild import Said, rebuilt, settled
from ldp_core.commit.salvage import salvage
from ldp_core.commit.verify import KeysUnknown
from ldp_core.errors import LDPError

HERE = str(Path(__file__).parent.parent / "commit")
sys.path.insert(0, HERE)
try:
    from test_keys_model import EMPTY, HISTORIES, HOURS, PIPELINE, STEPS, World
finally:
    sys.path.remove(HERE)

COUNT = HISTORIES // 2
OWNER = Owner(PIPELINE, "nyc.rides", Who("CSV", "rides"))
KEYS = {**{EMPTY.key_of(window): window for window in HOURS}, **{f"own-{n}": None for n in range(4)}}


@dataclass
class Repaired(World):
    """A table that is also looked after."""

    def empty(self, parent: int) -> None:
        """Main onto a snapshot that adds no manifest, above another one."""
        made = self.add(parent, {}, keep=True, key=None)
        self.manifests[made] = self.manifests[parent]
        self.head = made
        self.commit()

    def point(self) -> Point:
        """The next snapshot."""
        return Point(self.ids + 1, self.sequence + 1 if self.versioned else 0)

    def go_back(self) -> None:
        """``ldp rollback``: to an ancestor, or to anything there is."""
        if not self.snapshots:
            return
        to = self.rng.choice(list(self.snapshots))
        try:
            planned = back.look_back(self.view(), to)
        except back.RollbackRefused:
            return
        assert to in self.line(), (to, self.line())
        before = {key for key in KEYS if self.truth(key)}
        self.properties |= back.rewritten(self.view(), planned, OWNER, self.point())
        self.empty(to)
        if not planned.unknown:
            freed = {EMPTY.key_of(w) for item in planned.freed for w in item.windows}
            freed |= {key for item in planned.freed for key in item.keys}
            assert freed == {key for key in before if not self.truth(key)}

    def rebuild(self) -> None:
        """``ldp keys rebuild``, after something has spoilt the ledger or not."""
        if self.head is None:
            return
        spoilt = self.rng.choice(["", "", "broken", "uuid"])
        old = read(self.properties, PIPELINE)
        if old is not None and spoilt == "broken":
            self.properties[property_of(PIPELINE)] = "{}"
        if old is not None and spoilt == "uuid":
            self.properties |= written(replace(old, uuid="another"))
        view = self.view()
        found = salvage(view, OWNER)
        doubts = {item.key for item in found.doubts}
        for key, window in KEYS.items():
            held = owner_of(found.ledger, key, window) is not None
            assert not held or self.truth(key), (key, found)
            assert held or key in doubts or not found.whole or not self.truth(key), (key, found)
        yes = [key for key in KEYS if self.truth(key)]
        no = [key for key in doubts if not self.truth(key)]
        said = Said(
            tuple(w for key in yes if (w := KEYS[key])),
            tuple(w for key in no if (w := KEYS[key])),
            tuple(key for key in yes if not KEYS[key]),
            tuple(key for key in no if not KEYS[key]),
        )
        made = rebuilt(view, OWNER, said, self.point())
        settled(made)
        self.properties |= written(made.ledger)
        self.empty(self.head)
        self.answers["rebuilt"] = self.answers.get("rebuilt", 0) + 1

    def compact(self) -> None:
        """``ldp keys compact`` that forgets nothing."""
        if self.head is None:
            return
        try:
            made = compacted(self.view(), OWNER).ledger
        except LDPError:
            return
        self.properties |= written(replace(made, anchor=self.point()))
        self.empty(self.head)


@pytest.mark.parametrize("single", [1, 3, 20])
@pytest.mark.parametrize("versioned", [True, False])
def test_the_lookup_stays_right(monkeypatch: pytest.MonkeyPatch, single: int, versioned: bool) -> None:
    for module in (ledgers, verify):
        monkeypatch.setattr(module, "SINGLE", single)
    total = {"published": 0, "free": 0, "stopped": 0, "rebuilt": 0}
    steps = (*STEPS, "go_back", "go_back", "compact", "rebuild")
    for seed in range(COUNT):
        rng = random.Random(seed)
        world = Repaired(rng, versioned, log_length=rng.choice([0, 2, 6, 20]))
        for _ in range(40):
            getattr(world, rng.choice(steps))()
        for answer, count in world.answers.items():
            total[answer] += count
    assert total["published"] > COUNT
    assert total["free"] > COUNT
    assert total["rebuilt"] > COUNT


def test_a_rebuilt_ledger_always_answers() -> None:
    for seed in range(COUNT):
        rng = random.Random(seed)
        world = Repaired(rng, True, log_length=rng.choice([0, 2]))
        for _ in range(40):
            getattr(world, rng.choice(STEPS))()
        world.rebuild()
        before = world.answers["stopped"]
        try:
            world.publish()
        except KeysUnknown:  # pragma: no cover
            pytest.fail("nobody can tell after a rebuild")
        assert world.answers["stopped"] == before, seed
