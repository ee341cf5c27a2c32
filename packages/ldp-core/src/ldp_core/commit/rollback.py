"""``ldp rollback``: main goes back to an older snapshot, and the keys above it are free again.

In one commit main is put onto a new, empty snapshot whose parent is the one it goes back to. The table is
what it was then; the new snapshot anchors the ledgers on the line that main is on from now on. (Main at the
old snapshot itself would not do: that one lies on the line of what was undone, too, and a ledger anchored
there could not tell the two apart.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ldp_core.commit.absorb import UNKNOWN
from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.claim import Extra
from ldp_core.commit.intervals import windows
from ldp_core.commit.ledger import Ledger, Publish, property_of, written
from ldp_core.commit.lineage import Point, on_main, with_history
from ldp_core.commit.lookup import absorbed
from ldp_core.commit.owner import Owner
from ldp_core.commit.salvage import ledgers, readable
from ldp_core.commit.summaries import RUN, Told, told
from ldp_core.commit.verify import KeysUnknown, verified
from ldp_core.errors import CommitConflict, LDPError
from ldp_core.ids import run_hex
from ldp_core.tables.view import Snap, TableView
from ldp_core.window.model import Window

if TYPE_CHECKING:
    from collections.abc import Mapping

FROM = "ldp.rolled-back-from"
TO = "ldp.rolled-back-to"


class RollbackRefused(LDPError):
    """Main cannot go back to there."""

    code = "rollback_refused"


@dataclass(frozen=True)
class Freed:
    """Keys of a pipeline that are free after a rollback.

    Attributes:
        pipeline: The identifier; empty for keys that no ledger names.
        windows: Windows.
        keys: Other keys.
    """

    pipeline: str
    windows: tuple[Window, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Back:
    """A rollback as it would be.

    Attributes:
        head: Main's head.
        to: The snapshot that main goes back to.
        undone: The snapshots above it, newest first.
        freed: The keys they carry.
        unknown: Why the keys of a pipeline cannot be told; its ledger stays as it is.
    """

    head: Snap
    to: Snap
    undone: tuple[Snap, ...]
    freed: tuple[Freed, ...]
    unknown: Mapping[str, str]

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs whose publishes are undone, newest first."""
        return tuple(dict.fromkeys(snap.summary[RUN] for snap in self.undone if snap.summary.get(RUN)))


def before_run(view: TableView, run_id: str) -> int:
    """The snapshot that main showed before a run published for the first time.

    Raises:
        RollbackRefused: Main shows no publish of the run, or nothing stood before it, or that has expired.
    """
    whole = with_history(view)
    line = list(whole.ancestors())
    own = {point.snapshot for point in _points_of(view, run_id)}
    mine = [snap for snap in line if snap.summary.get(RUN) == run_id or snap.id in own]
    if not mine:
        aside = any(snap.summary.get(RUN) == run_id for snap in view.snapshots.values())
        why = "it was rolled back already" if aside else "main shows no snapshot of it"
        raise RollbackRefused(
            f"run {run_id} cannot be rolled back: {why}", hint="ldp snapshots CONFIG lists what there is"
        )
    first = mine[-1]
    if first.parent is not None and first.parent in view.snapshots:
        return first.parent
    if first.parent is not None or first.sequence > 1:
        raise RollbackRefused(
            f"the snapshot before run {run_id} has expired; main cannot go back to it",
            hint="ldp snapshots CONFIG lists what there is",
        )
    raise RollbackRefused(
        f"run {run_id} published the first snapshot of the table: there is none to go back to",
        hint="drop the table, or load it anew with --mode overwrite",
    )


def look_back(view: TableView, to: int) -> Back:
    """What a rollback would do.

    Args:
        view: The table.
        to: The snapshot that main is to go back to.

    Raises:
        RollbackRefused: It is no ancestor of main that is still there.
    """
    head, target = _bounds(view, to)
    undone: list[Snap] = []
    for snap in with_history(view).ancestors():
        if snap.id == to:
            break
        undone.append(snap)
    freed: list[Freed] = []
    unknown: dict[str, str] = {}
    for name, ledger in ledgers(view):
        if isinstance(ledger, LDPError):
            unknown[name] = str(ledger)
            continue
        try:
            lost = gone(verified(view, ledger.pipeline), _then(view, to, ledger.pipeline))
        except LDPError as error:
            unknown[ledger.pipeline] = error.message
            continue
        if lost is not None:
            freed.append(lost)
    extra = untold(view, undone)
    if extra:
        tiles = tuple(sorted(item.window for item in extra if item.window))
        freed.append(Freed("", tiles, tuple(item.key for item in extra if not item.window)))
    return Back(head, target, tuple(undone), tuple(freed), unknown)


def commit_back(base: Base, back: Back, who: Owner) -> Published:
    """Move main back, in one commit that also frees the keys.

    Args:
        base: The table.
        back: As it was previewed.
        who: The config; keys that no ledger knows are taken to be its own.

    Raises:
        CommitConflict: Main is no longer where it was then.
        LDPError: The commit failed.
    """
    from ldp_core.commit.publish import publish

    def guard(view: TableView, point: Point) -> Extra:
        if view.head != back.head.id:
            raise CommitConflict(
                f"main moved from snapshot {back.head.id} to {view.head} meanwhile: nothing was rolled back",
                hint="look at the preview again",
            )
        return Extra(rewritten(view, back, who, point))

    summary = {FROM: str(back.head.id), TO: str(back.to.id)}
    change = Change("replace", summary=summary, onto=back.to.id)
    return publish(base, lambda fresh: change, guard=guard)


def _bounds(view: TableView, to: int) -> tuple[Snap, Snap]:
    target = view.snapshots.get(to)
    if view.head is None or view.head not in view.snapshots:
        raise RollbackRefused("the table has no snapshot; there is nothing to roll back")
    if target is None:
        raise RollbackRefused(
            f"there is no snapshot {to} in the table: it never was, or it has expired",
            hint="ldp snapshots CONFIG lists what there is",
        )
    answer = on_main(view, Point(target.id, target.sequence))
    if answer is None:
        raise RollbackRefused(
            f"nobody can tell whether main descends from snapshot {to}: its history was cut and the older "
            "metadata files are gone"
        )
    if not answer:
        raise RollbackRefused(
            f"snapshot {to} is no ancestor of main: it was rolled back, or a branch of its own leads to it; "
            "main only goes back",
            hint="run the windows again that are missing (ldp keys show CONFIG)",
        )
    return view.snapshots[view.head], target


def _then(view: TableView, to: int, pipeline: str, blank: Ledger | None = None) -> Ledger | None:
    """A pipeline's keys with main at an older snapshot.

    Raises:
        KeysUnknown: What is left of the history does not tell.
    """
    after = replace(readable(view), head=to, refs={**view.refs, "main": to})
    ledger = verified(after, pipeline) or blank
    return None if ledger is None else absorbed(after, ledger)


def gone(before: Ledger | None, after: Ledger | None) -> Freed | None:
    """The keys that one ledger holds and a later one does not; None where there are none."""
    if before is None or after is None:
        return None
    tiles, keys = _held(before)
    kept_tiles, kept_keys = _held(after)
    lost = Freed(before.pipeline, tuple(sorted(tiles - kept_tiles)), tuple(sorted(keys - kept_keys)))
    return lost if lost.windows or lost.keys else None


def _held(ledger: Ledger) -> tuple[set[Window], set[str]]:
    tiles = {window for item in ledger.windows for window in windows(item)}
    tiles |= {item.window for item in ledger.recent if item.window and ledger.derived(item)}
    keys = {own.key for own in ledger.keys}
    return tiles, keys | {item.key for item in ledger.recent if not ledger.derived(item)}


def untold(view: TableView, snaps: Iterable[Snap]) -> list[Told]:
    """The keys of snapshots that no ledger knows: those of an earlier system, and picked copies."""
    known = [ledger for _, ledger in ledgers(view) if isinstance(ledger, Ledger)]
    points = {
        (item.key, point)
        for ledger in known
        for item in (*ledger.recent, *ledger.off)
        for point in item.points
    }
    found = [item for snap in snaps if (item := told(view, snap)) is not None]
    return [
        item
        for item in found
        if (item.key, item.point) not in points
        and not any(ledger.folded_owner(item.key, item.window) is not None for ledger in known)
    ]


def rewritten(view: TableView, back: Back, who: Owner, point: Point) -> dict[str, str]:
    """The properties of the ledgers that lose keys, anchored at the snapshot that main will show."""
    to = back.to.id
    changed: dict[str, Ledger] = {}
    for _, ledger in ledgers(view):
        if isinstance(ledger, LDPError) or ledger.pipeline in back.unknown:
            continue
        then = _then(view, to, ledger.pipeline)
        if then is not None and then != ledger:
            changed[ledger.pipeline] = replace(then, anchor=point)
    extra = untold(view, back.undone)
    own = changed.get(who.pipeline) or _owner_of_untold(view, back, who) if extra else None
    if own is not None:
        changed[who.pipeline] = replace(own, off=_with(own.off, extra), anchor=point)
    made: dict[str, str] = {}
    for ledger in changed.values():
        made |= written(ledger)
    return made


def _owner_of_untold(view: TableView, back: Back, who: Owner) -> Ledger | None:
    """The ledger that takes in keys that no other knows; None where its own keys cannot be told."""
    if who.pipeline in back.unknown or property_of(who.pipeline) in back.unknown:
        return None
    try:
        return _then(view, back.to.id, who.pipeline, who.blank(view.uuid))
    except KeysUnknown:
        return None


def _with(off: tuple[Publish, ...], extra: list[Told]) -> tuple[Publish, ...]:
    """Publishes that are off main and others, one a key, each with all its snapshots."""
    joined = {item.key: item for item in off}
    for item in extra:
        known = joined.get(item.key) or Publish(item.key, item.window, (), UNKNOWN, at=item.at)
        joined[item.key] = replace(known, points=(*known.points, item.point))
    return tuple(joined.values())


def _points_of(view: TableView, run_id: str) -> list[Point]:
    hex_ = run_hex(run_id)
    return [
        point
        for _, ledger in ledgers(view)
        if isinstance(ledger, Ledger)
        for item in ledger.recent
        if item.run == hex_
        for point in item.points
    ]
