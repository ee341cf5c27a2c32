"""From a config to its table's history and to the pipeline whose keys are meant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from ldp_core.commands._lookup import Found, config_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ldp_core.commit.change import Base
    from ldp_core.commit.intervals import Interval
    from ldp_core.commit.ledger import Ledger, Publish
    from ldp_core.commit.owner import Owner
    from ldp_core.config import Config
    from ldp_core.tables.view import TableView

yes_option = click.option("--yes", "--apply", "yes", is_flag=True, help="Commit; without, only a preview.")
"""``--yes``; the parameter is ``yes: bool``."""


@dataclass(frozen=True)
class Place:
    """A config's table and its keys.

    Attributes:
        config: The config.
        found: Its table.
        owner: The pipeline.
    """

    config: Config
    found: Found
    owner: Owner

    def view(self) -> TableView:
        """The table's history, peeked where the catalog's files are on this machine.

        Raises:
            TableNotFound: There is no table.
        """
        from ldp_core.fs import is_local
        from ldp_core.tables.view import of_local, of_metadata

        peeked = self.found.metadata()
        if is_local(peeked.location):
            return of_local(peeked.data)
        base = self.base()
        return of_metadata(base.metadata, base.io)

    def base(self) -> Base:
        """The table, to be committed to.

        Raises:
            TableNotFound: There is no table.
        """
        from ldp_core.catalogs.access import open_catalog
        from ldp_core.commit.base import load_base

        return load_base(open_catalog(self.found.catalog), (self.found.namespace, self.found.name))


def place_of(file: str, env: str | None) -> Place:
    """Where a config's keys are.

    Raises:
        ConfigError: It is no valid config, or its target is no Iceberg table.
    """
    from ldp_core.commit.ledger import Who
    from ldp_core.commit.owner import Owner
    from ldp_core.config import Config

    found = config_table(file, env)
    config = Config.from_file(file, env=env)
    section = config.section("window")
    zone = str(section.get("timezone") or "UTC") if isinstance(section, dict) else "UTC"
    source = config.source
    own = str(config.metadata.get("id") or "")
    who = Who(str(config.source_kind()), str(source.get("name") or ""), own, str(config.path or file))
    return Place(config, found, Owner(config.identifier, found.label, who, zone))


def ledger_json(ledger: Ledger, view: TableView) -> dict[str, Any]:
    """A ledger as ``--json`` prints it; the snapshots that are left in the table tell the ids of its runs."""
    return {
        "pipeline": ledger.pipeline,
        "target": ledger.target,
        "table_uuid": ledger.uuid,
        "timezone": ledger.zone,
        "anchor": _point(ledger.anchor),
        "recent": [_publish(ledger, item, view) for item in ledger.recent],
        "windows": [_interval(ledger, item) for item in ledger.windows],
        "keys": [
            {
                "key": own.key,
                "window": str(own.window) if own.window else None,
                "published": instant(own.at),
                "config": _who(ledger, own.who),
            }
            for own in ledger.keys
        ],
        "off": [_publish(ledger, item, view) for item in ledger.off],
        "configs": [
            {"format": who.format, "source": who.source, "id": who.id, "path": who.path} for who in ledger.who
        ],
    }


def window_texts(found: Iterable[Any], zone: str) -> list[str]:
    """Windows in few words: ``START/END`` each, or ``START/END:hour`` where they are laid end to end."""
    from ldp_core.commit.rebuild import spans

    return list(spans(found, zone))


def instant(at: int) -> str | None:
    """Milliseconds since 1970 as text; None for 0."""
    moment = datetime.fromtimestamp(at // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if at else None


def _point(point: Any) -> dict[str, Any] | None:
    return None if point is None else {"snapshot_id": str(point.snapshot), "sequence_number": point.sequence}


def _run_id_of(view: TableView, item: Publish) -> str | None:
    """The id of the run that published; None where its snapshots have expired: a ledger keeps its hash."""
    from ldp_core.commit.summaries import RUN
    from ldp_core.ids import run_hex

    snaps = (view.snapshots.get(point.snapshot) for point in reversed(item.points))
    ids = (str(snap.summary.get(RUN) or "") for snap in snaps if snap is not None)
    return next((text for text in ids if text and run_hex(text) == item.run), None)


def _publish(ledger: Ledger, item: Publish, view: TableView) -> dict[str, Any]:
    return {
        "key": item.key,
        "window": str(item.window) if item.window else None,
        "own_key": not ledger.derived(item),
        "snapshot_ids": [str(point.snapshot) for point in item.points],
        "expired": bool(item.points) and item.points[-1].snapshot not in view.snapshots,
        "run_id": _run_id_of(view, item),
        "run": item.run or None,
        "attempt": item.attempt,
        "published": instant(item.at),
        "config": _who(ledger, item.who),
    }


def _interval(ledger: Ledger, item: Interval) -> dict[str, Any]:
    from ldp_core.commit.intervals import moment, windows
    from ldp_core.window.model import Window

    tiles = list(windows(item))
    return {
        "window": str(Window(moment(item.start), moment(item.end))),
        "size": f"day of {item.zone}" if item.zone else _length(tiles[0].length.total_seconds()),
        "count": len(tiles),
        "config": _who(ledger, item.who),
    }


def _length(seconds: float) -> str:
    for name, length in (("day", 86_400), ("hour", 3_600), ("min", 60)):
        if seconds % length == 0:
            count = int(seconds // length)
            return name if count == 1 and name != "min" else f"{count} {name}{'s' if name != 'min' else ''}"
    return f"{seconds:g} s"


def _who(ledger: Ledger, number: int) -> str | None:
    return ledger.who[number].path or None if 0 <= number < len(ledger.who) else None
