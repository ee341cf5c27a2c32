"""``ldp rollback``: main goes back, and what it goes back behind may be loaded again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ldp_core._output import env_option, json_option, note, print_json, print_table, say, warn
from ldp_core.commands._keys import yes_option

if TYPE_CHECKING:
    from ldp_core.commands._keys import Place
    from ldp_core.commit.change import Published
    from ldp_core.commit.rollback import Back
    from ldp_core.tables.view import Snap

_NUMBERS = {"rows": "total-records", "files": "total-data-files"}


@click.command()
@click.argument("config")
@click.option("--snapshot", type=int, metavar="ID", help="The snapshot that main goes back to.")
@click.option("--run", "run_id", metavar="RUN_ID", help="Go back to before this run's first publish.")
@yes_option
@env_option
@json_option
def rollback(
    config: str, snapshot: int | None, run_id: str | None, yes: bool, env: str | None, as_json: bool
) -> None:
    """Take a config's table back to an older state; the windows that are undone are free again.

    Everything above that snapshot is undone, whoever committed it. No file is deleted: an expiry of snapshots
    does that later. Main only goes back; to have rows again that were taken back, run their windows.
    """
    from ldp_core.commands._keys import place_of
    from ldp_core.commit.rollback import before_run, commit_back, look_back
    from ldp_core.errors import UsageError

    if (snapshot is None) == (run_id is None):
        raise UsageError("say where to: --snapshot ID, or --run RUN_ID")
    place = place_of(config, env)
    view = place.view()
    back = look_back(view, snapshot if snapshot is not None else before_run(view, str(run_id)))
    done = commit_back(place.base(), back, place.owner) if yes and back.undone else None
    if done:
        _tell(place, back, done)
    body = _body(place, back, done)
    if as_json:
        print_json(body)
        return
    _show(body)
    if done:
        say(f"committed in snapshot {body['snapshot_id']}")
    elif back.undone:
        note("nothing was changed; --yes commits it")


def _body(place: Place, back: Back, done: Published | None) -> dict[str, Any]:
    from ldp_core.commands._keys import window_texts

    zone = place.owner.zone
    return {
        "table": place.found.label,
        "from_snapshot_id": str(back.head.id),
        "to_snapshot_id": str(back.to.id),
        "before": {name: _number(back.head, key) for name, key in _NUMBERS.items()},
        "after": {name: _number(back.to, key) for name, key in _NUMBERS.items()},
        "undone": [_undone(snap) for snap in back.undone],
        "freed": [
            {
                "pipeline": item.pipeline or None,
                "windows": window_texts(item.windows, zone),
                "window_count": len(item.windows),
                "keys": list(item.keys),
            }
            for item in back.freed
        ],
        "unknown": dict(back.unknown),
        "committed": done is not None,
        "snapshot_id": str(done.snapshot_id) if done else None,
    }


def _undone(snap: Snap) -> dict[str, Any]:
    from ldp_core.commands._keys import instant
    from ldp_core.commit.summaries import KEY, RUN, WINDOW
    from ldp_core.window.parse import parse_window

    bounds = snap.summary.get(WINDOW)
    return {
        "snapshot_id": str(snap.id),
        "committed_at": instant(snap.at),
        "operation": snap.summary.get("operation"),
        "added_records": _number(snap, "added-records"),
        "deleted_records": _number(snap, "deleted-records"),
        "run_id": snap.summary.get(RUN),
        "key": snap.summary.get(KEY),
        "window": str(parse_window(bounds)) if bounds else None,
    }


def _show(body: Mapping[str, Any]) -> None:
    say(f"{body['table']}: main goes back to snapshot {body['to_snapshot_id']}")
    if not body["undone"]:
        say("main is there already; nothing is undone")
        return
    for name in _NUMBERS:
        before, after = body["before"][name], body["after"][name]
        say(f"  {name}: {_known(before)} -> {_known(after)}")
    columns = ("snapshot_id", "committed_at", "operation", "added_records", "deleted_records", "run_id")
    say()
    say("undone, newest first:")
    print_table(columns, [[item[name] for name in columns] for item in body["undone"]], footer=False)
    say()
    for item in body["freed"]:
        texts = [*item["windows"], *(f"key {key}" for key in item["keys"])]
        shown = ", ".join(texts[:10]) + (f" and {len(texts) - 10} more" if len(texts) > 10 else "")
        say(f"free again, of {item['pipeline'] or 'an earlier system'}: {shown}")
    if not body["freed"] and not body["unknown"]:
        say("no key becomes free")
    for name, reason in body["unknown"].items():
        warn(f"the keys of {name} cannot be told and stay as they are: {reason}")


def _number(snap: Snap, key: str) -> int | None:
    value = str(snap.summary.get(key, ""))
    return int(value) if value.isdigit() else None


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _tell(place: Place, back: Back, done: Published) -> None:
    """Write the event that ``ldp runs`` reads; a ledger that cannot be written is a warning."""
    from ldp_core.errors import LDPError
    from ldp_core.events.jsonl import DEFAULT_PATH, append
    from ldp_core.events.model import TABLE_MAINTAINED, make_event
    from ldp_core.fs import is_local
    from ldp_core.ids import new_id

    config = place.config
    payload = {
        "operation": "rollback",
        "table": place.found.label,
        "pipeline": config.identifier,
        "from_snapshot_id": str(back.head.id),
        "to_snapshot_id": str(back.to.id),
        "snapshot_id": str(done.snapshot_id),
        "snapshots": [str(snap.id) for snap in back.undone],
        "runs": list(back.runs),
    }
    uuid = str(done.base.metadata.table_uuid)
    event = make_event(TABLE_MAINTAINED, payload, run_id=new_id(), table_uuid=uuid)
    section = config.section("observability")
    sinks = section.get("sinks") if isinstance(section, Mapping) else None
    named = [item for item in sinks or () if isinstance(item, Mapping) and item.get("type") == "jsonl"]
    paths = {DEFAULT_PATH, *(str(item.get("path") or DEFAULT_PATH) for item in named)}
    paths = {path for path in paths if is_local(path)}  # a run could not write the others either
    for path in {config.resolve(path) for path in paths}:
        try:
            append(path, event)
        except (OSError, LDPError) as error:
            warn(f"the rollback does not stand in {path}: {error}")
