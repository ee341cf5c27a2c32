"""What stays of a run besides the table: one event, and a line for each file that was deleted."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.clock import Clock, system_clock

if TYPE_CHECKING:
    from ldp_core.config import Config

    from ldp_maintenance.maintenance import Maintained

AUDIT = ".ldp/deleted.jsonl"
"""Beside the config; in the working folder where a run was not addressed by one."""


def tell(
    found: Maintained,
    config: Config | None,
    *,
    warn: Callable[[str], None],
    run_id: str | None = None,
    attempt: int = 1,
    sinks: Sequence[tuple[str, Any]] = (),
    names: Mapping[str, Any] | None = None,
    clock: Clock = system_clock,
) -> None:
    """Tell ``table.maintained`` to the ledger beside the config and to the sinks that it names.

    Args:
        found: What was done.
        config: The config that addressed the table; without one, only ``sinks`` are told.
        warn: Takes a line where a sink does not open or fails.
        run_id: The run; a new one by default.
        attempt: Its attempt.
        sinks: Names and functions that take the event besides.
        names: What stands in the event besides, such as the workflow's task.
        clock: The time.
    """
    from ldp_core.events.model import TABLE_MAINTAINED, Emitter
    from ldp_core.ids import new_id

    above = list(sinks)
    own = [one for one in _opened(config, warn) if one[1] not in [sink for _, sink in above]]
    if not own and not above:
        return
    emitter = Emitter(
        (*own, *above), run_id or new_id(), attempt, warn=warn, clock=clock, table_uuid=found.uuid
    )
    named = {"pipeline": config.identifier} if config is not None else {}
    emitter.emit(TABLE_MAINTAINED, {"operation": "maintain", **named, **_payload(found), **(names or {})})
    emitter.close()


def _payload(found: Maintained) -> dict[str, Any]:
    return {
        "table": found.table,
        "operations": [
            one.to_dict()
            for one in found.outcomes
            if one.status not in ("nothing", "skipped") or one.snapshots
        ],
        "snapshots": [str(item) for one in found.outcomes for item in one.snapshots],
        "before": found.before,
        "after": found.after,
    }


def _opened(config: Config | None, warn: Callable[[str], None]) -> list[tuple[str, Any]]:
    """The ledger beside the config, and the sinks of its observability."""
    from ldp_core.config.catalogs import find_catalog
    from ldp_core.config.sections.observability import sinks as listed
    from ldp_core.events.jsonl import DEFAULT_PATH
    from ldp_core.run.observe import open_sink
    from ldp_core.spi import Spec

    if config is None:
        return []
    section = config.section("observability")
    wanted = (
        listed(section, lambda name: find_catalog(name, config.base_dir, config.env))
        if isinstance(section, Mapping)
        else []
    )
    spec = Spec({}, config.base_dir)
    paths = [spec.path(str(one.get("path") or DEFAULT_PATH)) for one in wanted if one.get("type") == "jsonl"]
    if spec.path(DEFAULT_PATH) not in paths:
        wanted.append({"type": "jsonl"})
    catalog = config.spec("target").get("catalog")
    found = [open_sink(one, config.base_dir, warn, file=config.name, catalog=catalog) for one in wanted]
    return [one for one in found if one is not None]


@dataclass
class Audit:
    """Appends a line of JSON for each file that was deleted; may be called from several threads.

    Attributes:
        path: The file; made with the first line.
    """

    path: Path
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _handle: int | None = None

    def __call__(self, line: Mapping[str, Any]) -> None:
        """Append a line, whole."""
        from ldp_core.events.model import plain

        text = json.dumps(plain(dict(line)), ensure_ascii=False, separators=(",", ":"))
        with self._lock:
            if self._handle is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(self._handle, text.encode() + b"\n")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None


def audit_of(config: Config | None, path: str | None = None) -> Audit:
    """Where a run's deletions are written down.

    Args:
        config: The config that addressed the table.
        path: The file that was asked for.
    """
    if path is not None:
        return Audit(Path(path))
    return Audit(config.resolve(AUDIT) if config is not None else Path(AUDIT))
