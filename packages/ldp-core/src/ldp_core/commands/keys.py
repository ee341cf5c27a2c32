"""``ldp keys``: which windows a table holds, and how that is put right when nobody can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ldp_core._output import env_option, json_option, note, print_json, say
from ldp_core.commands._keys import yes_option

if TYPE_CHECKING:
    from ldp_core.commands._keys import Place
    from ldp_core.commit.rebuild import Rebuilt, Said
    from ldp_core.tables.view import TableView
    from ldp_core.window.model import Window


@click.group()
def keys() -> None:
    """Look at the keys of a table: which windows were published, and which are free."""


@keys.command()
@click.argument("config")
@click.option(
    "--window", metavar="WINDOW", help="Answer for one window: START/END, yesterday, last-week, ..."
)
@click.option("--key", metavar="KEY", help="Answer for one key.")
@env_option
@json_option
def show(config: str, window: str | None, key: str | None, env: str | None, as_json: bool) -> int:
    """Show the keys that a config's table holds, and whether main shows what they stand for.

    With --window or --key the answer is one word: published or free, both with exit code 0. Where nobody can
    tell, it is an error that says why.
    """
    from ldp_core.commands import _keys_show
    from ldp_core.commands._keys import place_of
    from ldp_core.errors import UsageError

    place = place_of(config, env)
    if window is not None and key is not None:
        raise UsageError("--window and --key are two questions; ask one at a time")
    if window is not None or key is not None:
        body = _keys_show.answer(place, window, key)
        lines = [_keys_show.answered(body)]
    else:
        body = _keys_show.overview(place)
        lines = _keys_show.lines(body)
    if as_json:
        print_json(body)
    else:
        for line in lines:
            say(line)
    return 0


@keys.command()
@click.argument("config")
@click.option(
    "--published",
    multiple=True,
    metavar="WINDOW[:SIZE]",
    help="The table holds this window, or these of a size (day, hour, 15m) laid end to end.",
)
@click.option("--free", multiple=True, metavar="WINDOW[:SIZE]", help="The table does not hold it, or them.")
@click.option("--published-key", multiple=True, metavar="KEY", help="The table holds what has this key.")
@click.option("--free-key", multiple=True, metavar="KEY", help="The table does not hold it.")
@click.option(
    "--rest", type=click.Choice(["published", "free"]), help="What all else is that nobody can tell."
)
@yes_option
@env_option
@json_option
def rebuild(
    config: str,
    published: tuple[str, ...],
    free: tuple[str, ...],
    published_key: tuple[str, ...],
    free_key: tuple[str, ...],
    rest: str | None,
    yes: bool,
    env: str | None,
    as_json: bool,
) -> None:
    """Write the keys of a config anew from what is left of the table's history.

    Says what is certain and what is only assumed. Where nothing that is left tells whether a window is
    published, look into the table and say so yourself. Commits a snapshot that changes no row.
    """
    from ldp_core.commands._keys import place_of
    from ldp_core.commit.rebuild import Said, commit_rebuilt, rebuilt
    from ldp_core.errors import UsageError
    from ldp_core.ids import unfit

    if why := next((why for key in published_key if (why := unfit("--published-key", key))), None):
        raise UsageError(why)
    place = place_of(config, env)
    said = Said(_windows(place, published), _windows(place, free), published_key, free_key, rest)
    view = place.view()
    made = rebuilt(view, place.owner, said)
    needed = made.why is not None or said != Said()
    done = commit_rebuilt(place.base(), place.owner, said) if yes and needed else None
    snapshot = str(done.snapshot_id) if done else None
    if as_json:
        print_json(_rebuilt_json(place, view, made, snapshot))
        return
    _say_rebuilt(place, made, said)
    if done:
        say(f"committed in snapshot {snapshot}")
    elif not needed:
        say("nothing has to be written")
    elif not made.unsettled and not made.unsettled_keys:
        note("nothing was written; --yes commits it")


@keys.command()
@click.argument("config")
@click.option(
    "--before", metavar="DATE", help="Forget keys that no window gives and that were published before."
)
@yes_option
@env_option
@json_option
def compact(config: str, before: str | None, yes: bool, env: str | None, as_json: bool) -> None:
    """Make the ledger of a config's keys smaller: fold single publishes, forget old keys of one's own.

    Windows are never forgotten: laid end to end they cost next to nothing. A key that is forgotten can be
    published again. Commits a snapshot that changes no row.
    """
    from ldp_core.commands._keys import instant, place_of
    from ldp_core.commit.compact import commit_compacted, compacted
    from ldp_core.commit.salvage import counted, plural
    from ldp_core.window.parse import moment

    place = place_of(config, env)
    limit = int(moment(before, "--before", place.owner.zone).timestamp() * 1000) if before else None
    held = _held(place) if limit is not None else frozenset()
    made = compacted(place.view(), place.owner, limit, held)
    done = commit_compacted(place.base(), place.owner, limit, held) if yes and made.changes else None
    snapshot = str(done.snapshot_id) if done else None
    if as_json:
        print_json(
            {
                "pipeline": place.owner.pipeline,
                "singly": {"before": len(made.before.recent), "after": len(made.ledger.recent)},
                "forgotten": [{"key": own.key, "published": instant(own.at)} for own in made.forgotten],
                "kept_by_snapshots": [own.key for own in made.told],
                "kept_by_quarantine": [own.key for own in made.held],
                "undated": [own.key for own in made.undated],
                "changes": made.changes,
                "committed": done is not None,
                "snapshot_id": snapshot,
            }
        )
        return
    say(f"{place.owner.pipeline}: {counted(made.before)}, {len(made.before.recent)} of them kept singly")
    if limit is not None:
        say(f"forgotten: {plural(len(made.forgotten), 'key')} published before {instant(limit)}")
        if made.told:
            say(f"kept: {plural(len(made.told), 'older key')} that a snapshot of the table still carries")
        if made.held:
            rest = plural(len(made.held), "older key")
            say(f"kept: {rest} that batches in quarantine rest on (ldp quarantine drop)")
        if made.undated:
            say(f"kept: {plural(len(made.undated), 'key')} of which nobody knows when it was published")
    if done:
        say(f"committed in snapshot {snapshot}")
    elif not made.changes:
        say("nothing has to be written")
    else:
        note("nothing was written; --yes commits it")


def _held(place: Place) -> frozenset[str]:
    """The keys that batches in quarantine rest on: what was put aside, or requeued, would be forgotten."""
    from ldp_core._duck import private
    from ldp_core.quarantine.batches import read_batches
    from ldp_core.quarantine.remove import exists, quarantine_of

    target = place.config.spec("target")
    base = quarantine_of(target) if exists(target) else None
    if base is None:
        return frozenset()
    with private() as con:
        found = read_batches(con, base)
    return frozenset(key for batch in found for key in (batch.key, batch.requeue_key))


def _windows(place: Place, texts: tuple[str, ...]) -> tuple[Window, ...]:
    """``WINDOW`` or ``WINDOW:SIZE`` as windows."""
    from ldp_core.errors import UsageError
    from ldp_core.window.calendar import SIZES, iter_windows
    from ldp_core.window.parse import parse_window

    found: list[Window] = []
    for text in texts:
        bounds, _, size = text.rpartition(":")
        window = parse_window(bounds if size in SIZES else text, place.owner.zone)
        if size not in SIZES:
            found.append(window)
            continue
        tiles = list(iter_windows(window.start, window.end, size, place.owner.zone))
        if not tiles or tiles[-1].end != window.end:
            raise UsageError(f"{bounds} is no whole number of windows of size {size}")
        found += tiles
    return tuple(found)


def _rebuilt_json(place: Place, view: TableView, made: Rebuilt, snapshot: str | None) -> dict[str, Any]:
    from ldp_core.commands._keys import ledger_json

    return {
        "pipeline": place.owner.pipeline,
        "problem": made.why,
        "certain": list(made.certain),
        "assumed": list(made.assumed),
        "unsettled": {"windows": list(made.unsettled), "keys": list(made.unsettled_keys)},
        "ledger": ledger_json(made.ledger, view),
        "committed": snapshot is not None,
        "snapshot_id": snapshot,
    }


def _say_rebuilt(place: Place, made: Rebuilt, said: Said) -> None:
    say(f"Keys of {place.owner.pipeline} in {place.owner.target}")
    if made.why:
        say(f"problem: {made.why}")
    for line in made.certain:
        say(f"certain: {line}")
    for line in made.assumed:
        say(f"assumed: {line}")
    open_ = (*made.unsettled, *made.unsettled_keys)
    for line in open_[:20]:
        say(f"nobody can tell: {line}")
    if len(open_) > 20:
        say(f"nobody can tell: {len(open_) - 20} more (--json lists them)")
    if open_:
        note("look into the table, then say --published or --free for each of them, or --rest published|free")
