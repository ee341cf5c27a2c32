"""``type: quality_store``: the verdicts of each run into the store, from its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.events.executions import attempt_of, is_of_a_run, pipeline_of, run_of
from ldp_core.events.model import QUALITY_EVALUATED, RUN_FINISHED, Event, Sink
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec

from ldp_quality.store.store import DEFAULT_PATH

SHAPE = Shape(
    keys=(
        Key("type", Text(), "quality_store."),
        Key(
            "uri",
            Text(pattern=r"\S"),
            "A SQLite file, or postgresql://user@host/database; a relative file starts at the config.",
            default=DEFAULT_PATH,
        ),
        Key("password_env", Text(), "The environment variable that holds the database's password."),
    ),
    doc="Keeps the verdict of every run and rule for ldp quality history, show and trend.",
)


class QualityStoreSink:
    """``type: quality_store``."""

    shape = SHAPE

    def open(self, spec: Spec) -> Sink:
        """A function that takes one event. Nothing is opened before there is a verdict to save."""
        return Keeper(place_of(spec), spec.get("password_env"))


def place_of(spec: Spec) -> str:
    """The file or the URI of a sink's options."""
    from ldp_quality.store.postgres import is_postgres

    uri = str(spec.get("uri") or DEFAULT_PATH)
    return uri if is_postgres(uri) else spec.path(uri.removeprefix("sqlite:///"))


class Keeper:
    """Gathers the events of each attempt, and saves what its checks found when it is finished.

    Args:
        place: See ``open_store``.
        password_env: See ``open_store``.
    """

    def __init__(self, place: str, password_env: str | None = None) -> None:
        self._place = place
        self._password_env = password_env
        self._events: dict[tuple[str, int, str | None], list[Event]] = {}

    def __call__(self, event: Event) -> None:
        """Take one event.

        Raises:
            LDPError: The store cannot be written.
        """
        if not is_of_a_run(event):
            return
        attempt = (run_of(event), attempt_of(event), pipeline_of(event))
        self._events.setdefault(attempt, []).append(event)
        if event["type"] != RUN_FINISHED:
            return
        result = result_of(self._events.pop(attempt))
        if result is None:
            return
        from ldp_quality.store.store import open_store

        with open_store(self._place, password_env=self._password_env) as store:
            store.save_result(**result)


def result_of(events: list[Event]) -> dict[str, Any] | None:
    """What ``Store.save_result`` takes, from all events of an attempt; None where no check was made."""
    from ldp_core.events.fold import fold_attempts

    from ldp_quality.grade import worst
    from ldp_quality.store.records import moment_of

    state = fold_attempts(events)[0]
    told = state.payloads.get(QUALITY_EVALUATED) or {}
    lines = [line for line in told.get("results") or () if isinstance(line, Mapping)]
    if not lines:
        return None
    at = next(event["ts"] for event in reversed(events) if event["type"] == QUALITY_EVALUATED)
    statuses = [line.get("status") or ("pass" if line.get("passed") else "fail") for line in lines]
    start, end = moment_of(state.window_start), moment_of(state.window_end)
    contract = told.get("contract") or {}
    return {
        "report": {"status": worst(statuses), "checks": lines},
        "dataset": state.target or state.pipeline or "unknown",
        "run_id": state.run_id,
        "attempt": state.attempt,
        "pipeline": state.pipeline or "",
        "evaluated": moment_of(at),
        "outcome": state.status,
        "contract_id": contract.get("id"),
        "contract_version": contract.get("version"),
        "window": (start, end) if start and end else None,
        "duration_s": state.duration_s,
        "engine": told.get("engine"),
        "spec_hash": state.spec_hash,
    }


SINK = QualityStoreSink()
