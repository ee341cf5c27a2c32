"""``type: iceberg``: history as tables that any engine can query: ``runs`` and ``quality_results``.

Rows are held until the run, or the batch of runs, is over, so that a backfill makes one commit and not one a
window; or until there are ``batch_size`` of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from ldp_core.config.catalogs import CATALOG, find_catalog
from ldp_core.config.normal import normalise
from ldp_core.errors import ConfigError
from ldp_core.events.executions import attempt_of, is_of_a_run, pipeline_of, run_of
from ldp_core.events.model import RUN_FINISHED, Event, Sink
from ldp_core.shape import Int, Key, OneOf, Shape, Text
from ldp_core.sinks.rows import rows_of
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from collections.abc import Callable

NAMESPACE = "_ldp"
BATCH_SIZE = 500


class IcebergSink:
    """``type: iceberg``."""

    shape = Shape(
        keys=(
            Key("type", Text(), "iceberg."),
            Key(
                "catalog",
                OneOf((Text(pattern=r"\S"), CATALOG)),
                "The catalog, or its name in ldp.yaml; that of the target by default.",
            ),
            Key("namespace", Text(pattern=r"\S"), "The namespace of the tables.", default=NAMESPACE),
            Key("batch_size", Int(min=1), "Runs that are held at most.", default=BATCH_SIZE),
        ),
        doc="Keeps a row a run in the table runs, and a row a check in quality_results.",
    )

    def open(self, spec: Spec) -> Sink:
        """A function that takes one event, with ``flush``.

        Raises:
            ConfigError: There is no catalog.
        """
        return Writer(buffer_of(spec, catalog_of(spec)), int(spec.get("batch_size") or BATCH_SIZE))


def catalog_of(spec: Spec, env: str | None = None) -> Spec:
    """The catalog that a sink writes to.

    Args:
        spec: The options of the sink.
        env: The environment of ``ldp.yaml``.

    Raises:
        ConfigError: There is none, or no catalog has the name.
    """
    catalog = spec.get("catalog")
    if isinstance(catalog, str):
        catalog = find_catalog(catalog, spec.base_dir, env)
    if not isinstance(catalog, Mapping):
        raise ConfigError(
            "the target has no catalog that the history could be kept in",
            file=spec.file,
            key=f"{spec.key}.iceberg.catalog",
            hint="name one",
        )
    return Spec(normalise(CATALOG, catalog), spec.base_dir, f"{spec.key}.iceberg.catalog", spec.file)


class Buffer:
    """Rows on their way into the tables of one namespace, from all runs of this process."""

    def __init__(self, write: Callable[[str, list[dict[str, Any]]], None]) -> None:
        self._write = write
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._runs = 0
        self._lock = Lock()

    def add(self, rows: Mapping[str, list[dict[str, Any]]]) -> int:
        """Take the rows of one attempt; returns how many attempts are held."""
        with self._lock:
            for table, some in rows.items():
                self._rows.setdefault(table, []).extend(some)
            self._runs += 1
            return self._runs

    def flush(self) -> None:
        """Write what is held, one commit a table. What cannot be written is dropped, not tried for ever."""
        with self._lock:
            held, self._rows, self._runs = self._rows, {}, 0
        for table, rows in held.items():
            if rows:
                self._write(table, rows)


class Writer:
    """Gathers the events of each attempt, and hands their rows on when it is finished."""

    def __init__(self, buffer: Buffer, batch_size: int) -> None:
        self._buffer = buffer
        self._batch_size = batch_size
        self._events: dict[tuple[str, int, str | None], list[Event]] = {}
        self.flush = buffer.flush

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if not is_of_a_run(event):
            return
        attempt = (run_of(event), attempt_of(event), pipeline_of(event))
        self._events.setdefault(attempt, []).append(event)
        if event["type"] == RUN_FINISHED:
            held = self._buffer.add(rows_of(self._events.pop(attempt)))
            if held >= self._batch_size:
                self._buffer.flush()


_buffers: dict[str, Buffer] = {}


def buffer_of(spec: Spec, catalog: Spec) -> Buffer:
    """The buffer of a namespace: one in a process, whatever run or config asks."""
    namespace = str(spec.get("namespace") or NAMESPACE)
    identity = json.dumps(
        [namespace, str(catalog.base_dir.resolve()), catalog.values], default=str, sort_keys=True
    )

    def write(table: str, rows: list[dict[str, Any]]) -> None:
        from ldp_core.sinks.append import append

        append(catalog, (namespace, table), rows)

    return _buffers.setdefault(identity, Buffer(write))


SINK = IcebergSink()
