"""The batches of a quarantine table, and what became of each.

A batch counts while main shows the publish of the very run that wrote it. Nothing is marked in the table for
that: what is on main is asked anew each time, so a rollback, an expiry or a requeue needs no second commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ldp_core.commit.fence import Superseded, superseded
from ldp_core.commit.ledger import Ledger, read
from ldp_core.commit.lineage import Point, on_main
from ldp_core.commit.lookup import Found, find
from ldp_core.commit.summaries import REPLACED, WINDOW, picked_from
from ldp_core.commit.verify import sure
from ldp_core.config.canonical import requeue_key
from ldp_core.errors import LDPError
from ldp_core.tables import quarantine as q
from ldp_core.tables.view import TableView
from ldp_core.window.model import Window
from ldp_core.window.parse import parse_window

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ldp_core.commit.change import Base

State = Literal["open", "requeued", "withdrawn", "unpublished", "unknown"]


@dataclass(frozen=True)
class Batch:
    """The rows that one run put aside.

    Attributes:
        id: Its name: the snapshot that the run's publish makes in the target.
        key: The key of that publish.
        pipeline: The identifier of the config.
        run_id: The run.
        attempt: From 1.
        at: When the rows were put aside.
        window: The window of the run, if it had one.
        rows: How many rows.
        unread: Those among them that could not be read: their text is kept.
        rules: The rules that rows break, each with the number of its rows.
    """

    id: str
    key: str
    pipeline: str
    run_id: str
    attempt: int
    at: datetime
    window: Window | None = None
    rows: int = 0
    unread: int = 0
    rules: Mapping[str, int] = field(default_factory=dict)

    @property
    def requeue_key(self) -> str:
        """The key under which its rows are published once they are requeued."""
        return requeue_key(self.key, self.id)


@dataclass(frozen=True)
class Fate:
    """What became of a batch.

    Attributes:
        state: ``open``: it counts. ``requeued``: its rows went through the gate once more, under its requeue
            key. ``withdrawn``: its window, or the whole table, was replaced since. ``unpublished``: main does
            not show the publish of its run. ``unknown``: nobody can tell what main shows.
        over: It can never count again.
        why: For a person; empty where the state says all.
    """

    state: State
    over: bool = False
    why: str = ""


def fates(batches: Iterable[Batch], view: TableView | None, target: str) -> dict[str, Fate]:
    """What became of each batch, by its name.

    Args:
        batches: All batches of a quarantine table.
        view: The target; None where there is no such table.
        target: ``namespace.table``.
    """
    known = list(batches)
    if view is None:
        return {batch.id: Fate("unpublished", why="there is no table") for batch in known}
    found = {batch.id: _fate(batch, view, target) for batch in known}
    # Of batches under one key at most one counts; where its snapshot is forgotten, it is the last.
    last: dict[tuple[str, str], Batch] = {}
    for batch in sorted((one for one in known if found[one.id] is _FORGOTTEN), key=lambda one: one.at):
        earlier = last.get((batch.pipeline, batch.key))
        if earlier is not None:
            found[earlier.id] = Fate("unpublished", why="a later batch has its key")
        last[batch.pipeline, batch.key] = batch
    return {name: Fate("open") if fate is _FORGOTTEN else fate for name, fate in found.items()}


_FORGOTTEN = Fate("open", why="its snapshot is forgotten")


def _fate(batch: Batch, view: TableView, target: str) -> Fate:
    try:
        counts = _published(batch, view, target)
        if counts == "other":
            return Fate("unpublished", True, "its key is published by another run")
        if counts == "no":
            fenced = _fenced(view, batch)
            return Fate("unpublished", fenced, "a later attempt took over" if fenced else "")
        if _replaced(batch, view):
            return Fate("withdrawn", True)
        if find(view, batch.pipeline, batch.requeue_key) is not None:
            return Fate("requeued")
    except LDPError as error:
        return Fate("unknown", why=error.message)
    return _FORGOTTEN if counts == "forgotten" else Fate("open")


def _published(batch: Batch, view: TableView, target: str) -> Literal["yes", "forgotten", "other", "no"]:
    """Whether main shows the publish of a batch's run; ``other``: its key is another's.

    Raises:
        LDPError: Nobody can tell.
    """
    snapshot = int(batch.id) if batch.id.isdigit() else -1
    if any(snap.id == snapshot for snap in view.ancestors()):
        return "yes"
    found = find(view, batch.pipeline, batch.key, _window_of_key(batch, view, target))
    point = _point(view, found, batch.key, snapshot)
    if point is not None and sure(view, point, batch.pipeline):
        return "yes"
    if found is not None and found.snapshot is not None:
        return "yes" if snapshot in picked_from(view, found.snapshot) else "other"
    if point is not None:
        return "no" if found is None else "other"
    if on_main(view, Point(snapshot, 0)):
        return "yes"  # also where the ledger has forgotten the key
    return "no" if found is None else "forgotten"


def _window_of_key(batch: Batch, view: TableView, target: str) -> Window | None:
    """The window of a batch, where that gives its key; in a renamed table by its former name."""
    window = batch.window
    if window is None:
        return None
    own = read(view.properties, batch.pipeline)
    names = {target, own.target if own else target}
    keys = {Ledger(batch.pipeline, name, "").key_of(window) for name in names}
    return window if batch.key in keys else None


def _point(view: TableView, found: Found | None, key: str, snapshot: int) -> Point | None:
    """A snapshot with its sequence number, as far as the metadata or the ledger knows it."""
    known = view.snapshots.get(snapshot)
    if known is not None:
        return Point(known.id, known.sequence)
    single = found.ledger.single(key) if found is not None and found.ledger is not None else None
    points = single.points if single else ()
    return next((point for point in points if point.snapshot == snapshot), None)


def _fenced(view: TableView, batch: Batch) -> bool:
    """Whether the attempt that wrote a batch can no longer publish."""
    try:
        superseded(view, batch.run_id, batch.attempt)
    except Superseded:
        return True
    return False


def _replaced(batch: Batch, view: TableView) -> bool:
    """Whether an overwrite took the place of what the run of a batch published.

    What main's head descends from without a gap is younger than a publish that is not found among it.
    """
    for snap in view.ancestors():
        if batch.id == str(snap.id) or int(batch.id) in picked_from(view, snap.id):
            return False
        how, bounds = snap.summary.get(REPLACED), snap.summary.get(WINDOW)
        if how == "table":
            return True
        if how == "window" and bounds and batch.window is not None:
            window = parse_window(bounds)
            if window.start <= batch.window.start and batch.window.end <= window.end:
                return True
    return False


def read_batches(con: DuckDBPyConnection, base: Base) -> list[Batch]:
    """The batches of a quarantine table, the newest first.

    Args:
        con: Where SQL may run.
        base: The quarantine table.
    """
    from ldp_core.tables.scan import plan_scan, scan_sql

    if base.metadata.current_snapshot() is None:
        return []
    columns = [q.BATCH, q.KEY, q.PIPELINE, q.RUN, q.ATTEMPT, q.START, q.END, q.AT, q.RULES, q.RAW, q.FILE]
    rows = scan_sql(con, plan_scan(base.metadata, base.io), columns=columns)
    names = ", ".join(columns)
    same = ", ".join(f"any_value({name})" for name in (q.KEY, q.PIPELINE, q.RUN, q.ATTEMPT))
    times = f"any_value(epoch_us({q.START})), any_value(epoch_us({q.END})), min(epoch_us({q.AT}))"
    unread = f"count(*) FILTER (WHERE {q.RAW} IS NOT NULL OR {q.FILE} IS NOT NULL)"
    query = f"FROM ({rows}) AS r({names})"
    broken: dict[str, dict[str, int]] = {}
    for batch, rule, count in con.execute(
        f"SELECT {q.BATCH}, rule, count(*) FROM (SELECT {q.BATCH}, unnest(list_distinct({q.RULES})) AS rule "
        f"{query}) GROUP BY ALL ORDER BY 3 DESC, 2"
    ).fetchall():
        broken.setdefault(str(batch), {})[str(rule)] = int(count)
    found = con.execute(
        f"SELECT {q.BATCH}, {same}, {times}, count(*), {unread} {query} GROUP BY {q.BATCH} ORDER BY 8 DESC, 1"
    ).fetchall()
    return [_batch(row, broken.get(str(row[0]), {})) for row in found]


def _batch(row: tuple[object, ...], rules: Mapping[str, int]) -> Batch:
    from ldp_core.commit.intervals import moment

    name, key, pipeline, run_id, attempt, start, end, at, count, unread = row
    has_window = start is not None and end is not None
    window = Window(moment(int(str(start))), moment(int(str(end)))) if has_window else None
    numbers = (int(str(count)), int(str(unread)))
    when = moment(int(str(at or 0)))
    return Batch(
        str(name), str(key), str(pipeline), str(run_id), int(str(attempt or 1)), when, window, *numbers, rules
    )
