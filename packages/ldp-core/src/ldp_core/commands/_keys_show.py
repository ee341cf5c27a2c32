"""What ``ldp keys show`` tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ldp_core.commands._keys import Place, ledger_json, window_texts

if TYPE_CHECKING:
    from ldp_core.commit.ledger import Ledger
    from ldp_core.tables.view import TableView


_NOTHING: Mapping[str, Any] = {
    "state": "free",
    "snapshot_id": None,
    "expired": False,
    "run_id": None,
    "config": None,
}
_EXPIRED = (
    "  of a snapshot that has expired the table keeps the key, and of its run the id without dashes, or a "
    "hash of one that is no UUID"
)


def overview(place: Place) -> dict[str, Any]:
    """Every pipeline's keys in a table, and whether main shows what they stand for."""
    from ldp_core.commit.ledger import Ledger, property_of
    from ldp_core.commit.salvage import ledgers

    view = place.view()
    shown: list[dict[str, Any]] = []
    for name, ledger in ledgers(view):
        if isinstance(ledger, Ledger):
            shown.append({"property": name, **_state(view, ledger), **ledger_json(ledger, view)})
        else:
            own = place.owner.pipeline if name == property_of(place.owner.pipeline) else None
            shown.append({"property": name, "state": "broken", "reason": str(ledger), "pipeline": own})
    return {
        "table": place.found.label,
        "table_uuid": view.uuid,
        "main": str(view.head) if view.head is not None else None,
        "pipelines": shown,
        "only_in_summaries": _untold(view),
    }


def answer(place: Place, window: str | None, key: str | None) -> dict[str, Any]:
    """Whether a window or a key is published.

    Raises:
        UsageError: The key is none.
        KeysUnknown: Nobody can tell.
    """
    from ldp_core.commit.lookup import find
    from ldp_core.commit.summaries import RUN
    from ldp_core.commit.verify import verified
    from ldp_core.errors import TableNotFound, UsageError
    from ldp_core.ids import is_text
    from ldp_core.window.parse import parse_window

    owner = place.owner
    if key is not None and not is_text(key):
        raise UsageError(f"--key must be a non-empty string on one line, got {key!r}")
    asked = parse_window(window, owner.zone) if window is not None else None
    made = owner.blank("").key_of(asked) if asked else str(key)
    body: dict[str, Any] = {
        "table": place.found.label,
        "pipeline": owner.pipeline,
        "window": str(asked) if asked else None,
        "key": made,
    }
    try:
        view = place.view()
    except TableNotFound:
        return {**body, **_NOTHING}
    found = find(view, owner.pipeline, made, asked)
    if found is None:
        verified(view, owner.pipeline)  # a run asks for this too before it loads what is free
    config = None
    if found and found.ledger and found.who is not None and 0 <= found.who < len(found.ledger.who):
        config = found.ledger.who[found.who].path or None
    snapshot = str(found.snapshot) if found and found.snapshot is not None else None
    left = view.snapshots.get(found.snapshot) if found and found.snapshot is not None else None
    return {
        **body,
        "state": "published" if found else "free",
        "snapshot_id": snapshot,
        "expired": snapshot is not None and left is None,
        "run_id": left.summary.get(RUN) if left else None,
        "config": config,
    }


def answered(body: dict[str, Any]) -> str:
    """The answer as a line."""
    what = f"window {body['window']}" if body["window"] else f"key {body['key']}"
    if body["state"] == "free":
        return f"free: {what} of {body['pipeline']}"
    where = _snapshot(body) if body["snapshot_id"] else "a snapshot that has been folded"
    by = f", by run {body['run_id']}" if body["run_id"] else ""
    return f"published: {what} of {body['pipeline']}, in {where}{by}"


def lines(body: dict[str, Any]) -> list[str]:
    """The overview for a person."""
    made = [f"Keys of {body['table']} (main at {body['main'] or 'no snapshot'})"]
    for item in body["pipelines"]:
        made += ["", f"pipeline {item['pipeline'] or item['property']}: {_verdict(item)}"]
        if item["state"] != "broken":
            made += _details(item)
    told = body["only_in_summaries"]
    if told:
        made += ["", f"only in snapshot summaries (the next publish takes them in): {len(told)}"]
        made += [f"  {item['window'] or item['key']}  snapshot {item['snapshot_id']}" for item in told]
    if len(made) == 1:
        made.append("none")
    return made


def _verdict(item: dict[str, Any]) -> str:
    if item["state"] == "verified":
        return "verified, main shows them all"
    if item["state"] == "rolled_back":
        freed = [*item["freed_windows"], *item["freed_keys"]]
        return f"rolled back, free again: {', '.join(freed) or 'nothing'}"
    published = [*item.get("published_windows", ()), *item.get("published_keys", ())]
    told = f"; published all the same, as snapshots of main tell: {', '.join(published)}" if published else ""
    return f"{item['state']}: {item['reason']}{told}"


def _details(item: dict[str, Any]) -> list[str]:
    anchor = item["anchor"]
    off = ", which main does not show: each key was looked for by itself"
    beside = off if item["anchor_on_main"] is False else ""
    made = [f"  anchor: snapshot {anchor['snapshot_id']}{beside}"] if anchor else []
    made += [f"  folded: {w['window']}, {w['count']} x {w['size']}" for w in item["windows"]]
    if item["keys"]:
        made.append(f"  own keys, folded: {len(item['keys'])}")
        made += [f"    {own['key']}{_of(own)}  {own['published'] or 'no date'}" for own in item["keys"]]
    for label in ("recent", "off"):
        made += [f"  {'off main' if label == 'off' else label}:"] if item[label] else []
        for one in item[label]:
            name = f"key {one['key']}{_of(one)}" if one["own_key"] else one["window"]
            last = one["snapshot_ids"][-1] if one["snapshot_ids"] else "unknown"
            made.append(f"    {name}  {_snapshot({**one, 'snapshot_id': last})}{_run(one)}")
    if any(one["expired"] for one in (*item["recent"], *item["off"])):
        made.append(_EXPIRED)
    return made


def _snapshot(one: Mapping[str, Any]) -> str:
    return f"snapshot {one['snapshot_id']}{' (expired)' if one['expired'] else ''}"


def _run(one: dict[str, Any]) -> str:
    """The run that published."""
    name = one["run_id"] or one["run"]
    return f", run {name}, attempt {one['attempt']}" if name else ""


def _of(own: dict[str, Any]) -> str:
    """The window that was loaded under a key of one's own."""
    return f" ({own['window']})" if own["window"] else ""


def _state(view: TableView, ledger: Ledger) -> dict[str, Any]:
    """What a run would be told of a pipeline's keys."""
    from ldp_core.commit.lineage import on_main
    from ldp_core.commit.rollback import gone
    from ldp_core.commit.verify import verified
    from ldp_core.errors import LDPError

    anchor = on_main(view, ledger.anchor) if ledger.anchor else None
    try:
        now = verified(view, ledger.pipeline)
    except LDPError as error:
        return {"state": "unknown", "reason": error.message, "anchor_on_main": anchor, **_told(view, ledger)}
    if now == ledger:
        return {"state": "verified", "reason": None, "anchor_on_main": anchor}
    freed = gone(ledger, now)
    return {
        "state": "rolled_back",
        "reason": None,
        "anchor_on_main": anchor,
        "freed_windows": window_texts(freed.windows, now.zone) if freed and now else [],
        "freed_keys": list(freed.keys) if freed else [],
    }


def _told(view: TableView, ledger: Ledger) -> dict[str, Any]:
    """The keys of a ledger that nobody can vouch for which main's snapshots carry: a run skips those."""
    from ldp_core.commit.absorb import owner
    from ldp_core.commit.summaries import on_line

    told = [item for item in on_line(view) if owner(ledger, item.key, item.window) is not None]
    tiles = {item.key: item.window for item in told if item.window and ledger.key_of(item.window) == item.key}
    return {
        "published_windows": window_texts(tiles.values(), ledger.zone),
        "published_keys": sorted({item.key for item in told if item.key not in tiles}),
    }


def _untold(view: TableView) -> list[dict[str, Any]]:
    from ldp_core.commit.rollback import untold

    return [
        {
            "key": item.key,
            "window": str(item.window) if item.window else None,
            "snapshot_id": str(item.point.snapshot),
        }
        for item in untold(view, view.ancestors())
    ]
