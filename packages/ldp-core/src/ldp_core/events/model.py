"""Events: what happened in a run, one flat envelope each. Standard library only.

Events carry specs, schemas, counts, ids and verdicts, never rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from ldp_core.clock import Clock, system_clock
from ldp_core.config.secrets import mask, masked
from ldp_core.errors import LDPError
from ldp_core.events.batch import later

SCHEMA_VERSION = 1

RUN_STARTED = "run.started"
RUN_EXTRACTED = "run.extracted"
QUALITY_EVALUATED = "quality.evaluated"
RUN_PUBLISHED = "run.published"
RUN_SKIPPED_DUPLICATE = "run.skipped_duplicate"
RUN_BLOCKED_QUALITY = "run.blocked_quality"
RUN_FAILED = "run.failed"
RUN_FINISHED = "run.finished"
WORKFLOW_STARTED = "workflow.started"
WORKFLOW_FINISHED = "workflow.finished"
TABLE_MAINTAINED = "table.maintained"

TYPES = (
    RUN_STARTED,
    RUN_EXTRACTED,
    QUALITY_EVALUATED,
    RUN_PUBLISHED,
    RUN_SKIPPED_DUPLICATE,
    RUN_BLOCKED_QUALITY,
    RUN_FAILED,
    RUN_FINISHED,
    WORKFLOW_STARTED,
    WORKFLOW_FINISHED,
    TABLE_MAINTAINED,
)
"""Every type of event, a run's in the order in which they happen."""

OUTCOMES = {
    RUN_PUBLISHED: "published",
    RUN_SKIPPED_DUPLICATE: "skipped_duplicate",
    RUN_BLOCKED_QUALITY: "blocked_quality",
    RUN_FAILED: "failed",
}
"""The event that decides a run, and the status it gives."""

Event: TypeAlias = Mapping[str, Any]
Sink: TypeAlias = Callable[[Event], None]

_EXACT = 2**53


def make_event(
    type: str,
    payload: Mapping[str, Any] | None = None,
    *,
    run_id: str,
    attempt: int = 1,
    seq: int = 0,
    table_uuid: str | None = None,
    clock: Clock = system_clock,
) -> dict[str, Any]:
    """One event as JSON knows it.

    Whole numbers beyond 2**53 (snapshot ids) become text, NaN and the infinities null, times ISO 8601,
    secrets ``***``.

    Args:
        type: One of ``TYPES``.
        payload: What it tells.
        run_id: The run or the workflow's run.
        attempt: From 1.
        seq: Its place among the events of the attempt, from 0.
        table_uuid: The table it is about.
        clock: The time.

    Raises:
        LDPError: There is no such type.
    """
    from ldp_core.ids import new_id

    if type not in TYPES:
        raise LDPError(f"no event is of the type {type!r}")
    return {
        "event_id": new_id(),
        "type": type,
        "schema_version": SCHEMA_VERSION,
        "ts": _instant(clock()),
        "run_id": run_id,
        "attempt": attempt,
        "seq": seq,
        "table_uuid": table_uuid,
        "payload": plain(masked(payload or {})),
    }


class Emitter:
    """Numbers the events of one attempt and hands them to sinks, none of which can stop a load.

    Args:
        sinks: Names and functions.
        run_id: The run.
        attempt: From 1.
        warn: Takes one line the first time that a sink fails.
        clock: The time.
        table_uuid: The table, once it is known; may be set later.
    """

    def __init__(
        self,
        sinks: Sequence[tuple[str, Sink]],
        run_id: str,
        attempt: int = 1,
        *,
        warn: Callable[[str], None],
        clock: Clock = system_clock,
        table_uuid: str | None = None,
    ) -> None:
        self.table_uuid = table_uuid
        self.closed = False
        self._sinks = tuple(sinks)
        self._run_id = run_id
        self._attempt = attempt
        self._warn = warn
        self._clock = clock
        self._seq = 0
        self._failed: set[str] = set()
        self._held: list[Event] | None = None

    def hold(self) -> None:
        """Keep events back until they are let go, all at once: cheaper where nothing but they will happen."""
        self._held = self._held or []

    def let_go(self) -> None:
        """Hand over what was held back, and every later event as it happens."""
        held, self._held = self._held, None
        if held:
            self._hand_all(held)

    def emit(self, type: str, payload: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Make the next event and hand it to every sink; returns it."""
        event = make_event(
            type,
            payload,
            run_id=self._run_id,
            attempt=self._attempt,
            seq=self._seq,
            table_uuid=self.table_uuid,
            clock=self._clock,
        )
        self._seq += 1
        if self._held is not None:
            self._held.append(event)
        else:
            self._hand_all([event])
        return event

    def close(self) -> None:
        """The attempt is over: sinks that hold events back let them go, or keep them while a batch lasts."""
        self.closed = True
        self.let_go()
        for name, sink in self._sinks:
            flush = getattr(sink, "flush", None)
            if callable(flush) and not later(name, flush):
                try:
                    flush()
                except Exception as error:
                    self._failure(name, error)

    def _hand_all(self, events: Sequence[Event]) -> None:
        for name, sink in self._sinks:
            together = getattr(sink, "together", None)
            try:
                if callable(together):
                    together(events)
                    continue
            except Exception as error:
                self._failure(name, error)
                continue
            for event in events:
                try:
                    sink(event)
                except Exception as error:
                    self._failure(name, error)

    def _failure(self, name: str, error: Exception) -> None:
        if name not in self._failed:
            self._failed.add(name)
            self._warn(f"events do not reach the sink {name}: {mask(str(error))}")


def plain(value: Any) -> Any:
    """A value as every JSON reader takes it (see ``make_event``)."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, date):
        return value.isoformat()
    to_dict = getattr(value, "to_dict", None)
    return plain(to_dict()) if callable(to_dict) else str(value)


def _instant(moment: datetime) -> str:
    """UTC with ``Z``; a naive time is kept as it is."""
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
