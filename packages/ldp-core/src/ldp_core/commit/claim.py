"""What a keyed run asks of a table before every commit it tries: is the key free, am I the newest attempt?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ldp_core.commit.absorb import owner
from ldp_core.commit.fence import fence_name, older_branches, superseded
from ldp_core.commit.ledger import Ledger, Publish, Who, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.lookup import Found, absorbed, find
from ldp_core.commit.verify import verified
from ldp_core.errors import LDPError
from ldp_core.ids import run_hex
from ldp_core.spi import Keyed
from ldp_core.tables.view import TableView
from ldp_core.window.model import Window


class AlreadyPublished(LDPError):
    """The key is published; there is nothing to do.

    Attributes:
        snapshot: The snapshot that carries it, where one still does.
        rows: Rows of the table, where somebody looked.
        head: Its snapshot.
    """

    code = "already_published"

    def __init__(
        self, key: str, snapshot: int | None, rows: int | None = None, head: int | None = None
    ) -> None:
        super().__init__(f"idempotency key {key} is already published")
        self.snapshot = snapshot
        self.rows = rows
        self.head = head


class KeyTaken(LDPError):
    """Another config has published under the same key."""

    code = "key_taken"


class WindowOverlap(LDPError):
    """A window shares time with one that is published and is not equal to it."""

    code = "window_overlap"


@dataclass(frozen=True)
class Extra:
    """What a claim adds to a commit.

    Attributes:
        properties: Table properties to set: the ledger.
        drop: Branches to remove.
        absent: A tag that must not exist when the commit arrives.
        tags: Tags to put on the new snapshot: fences.
    """

    properties: dict[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    absent: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """What a run that has a key, or an attempt, asks for.

    Attributes:
        run_id: The run.
        attempt: From 1.
        pipeline: The identifier of the config.
        target: ``namespace.table``.
        who: The config.
        key: The idempotency key; None for a plain run, which only has to be the newest attempt.
        window: Its window.
        zone: The zone of its windows.
        overlap: Whether the window may share time with published ones.
        adopt: Whether what another config published under the key counts as this one's.
        still: Looks at the table before every commit; what it raises ends the publish.
        whole: Whether the table holds the whole window after it, whatever the key is.
    """

    run_id: str
    attempt: int
    pipeline: str
    target: str
    who: Who
    key: str | None = None
    window: Window | None = None
    zone: str = "UTC"
    overlap: bool = True
    adopt: bool = False
    still: Callable[[TableView], None] | None = None
    whole: bool = False

    @classmethod
    def of(cls, keyed: Keyed, target: str, run_id: str, attempt: int, mode: str) -> Claim:
        """The claim of a run; only an append minds windows that overlap."""
        window = Window(keyed.start, keyed.end) if keyed.start and keyed.end else None
        who = Who(*keyed.source, keyed.id, keyed.path)
        overlap = keyed.overlap or mode != "append"
        return cls(
            run_id,
            attempt,
            keyed.pipeline,
            target,
            who,
            keyed.key,
            window,
            keyed.zone,
            overlap,
            keyed.adopt,
            keyed.still,
            mode == "overwrite" and keyed.column is not None,
        )

    @property
    def own_key(self) -> bool:
        """Whether the key is not the one that the window gives."""
        if self.key is None or self.window is None:
            return True
        return Ledger(self.pipeline, self.target, "").key_of(self.window) != self.key

    def look(self, view: TableView) -> Found | None:
        """The publish that has the key already; None when it is free, or there is no key.

        Raises:
            KeyTaken: Another config published it.
            KeysUnknown: Nobody can tell.
        """
        if self.key is None:
            return None
        found = find(view, self.pipeline, self.key, None if self.own_key else self.window)
        if found is not None and not self.adopt:
            self._same(found)
        return found

    def check(self, view: TableView, point: Point) -> Extra:
        """What the commit of this run on top of a table has to hold.

        Args:
            view: The table.
            point: The snapshot that is to be committed.

        Raises:
            AlreadyPublished: The key is on main.
            KeyTaken: Another config published it.
            WindowOverlap: The window shares time with a published one.
            Superseded: There is a newer attempt.
            KeysUnknown: Nobody can tell what is published.
        """
        superseded(view, self.run_id, self.attempt)
        found = self.look(view)
        if found is not None:
            raise AlreadyPublished(str(self.key), found.snapshot, head=view.head)
        if self.still is not None:
            self.still(view)
        properties = self._recorded(view, point) if self.key is not None else {}
        return Extra(properties, older_branches(view, self.run_id, self.attempt), self._fence(view))

    def check_overlap(self, ledger: Ledger | None) -> None:
        """Refuse a window that shares time with a published one.

        Raises:
            WindowOverlap: It does.
        """
        if self.overlap or ledger is None or self.window is None:
            return
        for other in ledger.overlapping(self.window):
            raise WindowOverlap(
                f"window {self.window} overlaps {other}, which {self.pipeline} has published to "
                f"{self.target}: an append would load the rows of both twice",
                hint="--overlap allow (or metadata.window.overlap: allow) loads it all the same",
            )

    def _recorded(self, view: TableView, point: Point) -> dict[str, str]:
        known = verified(view, self.pipeline) or Ledger(self.pipeline, self.target, view.uuid, zone=self.zone)
        known, number = absorbed(view, known).number(self.who)
        self.check_overlap(known)
        at = int(time.time() * 1000)
        run = run_hex(self.run_id)
        publish = Publish(str(self.key), self.window, (point,), number, run, self.attempt, at)
        if self.whole and self.own_key and self.window is not None:
            derived = known.key_of(self.window)
            if owner(known, derived, self.window) is None:  # an append would load its rows once more
                known = known.recorded(replace(publish, key=derived), view.uuid)
        return written(known.recorded(publish, view.uuid))

    def _fence(self, view: TableView) -> str | None:
        """The tag that must not be there; a table without snapshots can have none."""
        return fence_name(self.run_id, self.attempt) if view.head is not None else None

    def _same(self, found: Found) -> None:
        ledger = found.ledger
        if ledger is None or found.who is None or not 0 <= found.who < len(ledger.who):
            return
        other = ledger.who[found.who]
        if ledger.pipeline == self.pipeline and other == self.who:
            return
        place = other.path or "a config that was not named"
        raise KeyTaken(
            f"key {self.key} of {self.pipeline} was published by another config: {place} "
            f"({other.format} {other.source}), not {self.who.path or 'this one'} "
            f"({self.who.format} {self.who.source})",
            hint="give one of them another identifier, or take over what is published with --adopt",
        )
