"""``type: openlineage``: START and COMPLETE or FAIL of each run, by the client of OpenLineage."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, EngineNotFound
from ldp_core.events.executions import attempt_of, is_of_a_run, pipeline_of, run_of
from ldp_core.events.fold import RunState, fold_attempts
from ldp_core.events.model import RUN_FINISHED, RUN_STARTED, Event, Sink
from ldp_core.fs import local_path
from ldp_core.locks import file_lock
from ldp_core.shape import Key, Number, Shape, Text
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pathlib import Path

    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import RunEvent

DEFAULT_PATH = ".ldp/openlineage.jsonl"
NAMESPACE = "ldp"
TIMEOUT = 5.0
_LOCK_SECONDS = 30
_RETRY = {"total": 1, "connect": 1, "read": 1}
"""A server that does not answer holds up each event of a run for no longer than twice the timeout."""

Emit = Callable[["RunEvent"], None]


class OpenLineageSink:
    """``type: openlineage``."""

    shape = Shape(
        keys=(
            Key("type", Text(), "openlineage."),
            Key("path", Text(pattern=r"\S"), "A file of JSON lines.", default=DEFAULT_PATH),
            Key("url", Text(pattern=r"^https?://"), "The server, in place of a file."),
            Key("namespace", Text(pattern=r"\S"), "The namespace of the jobs.", default=NAMESPACE),
            Key("api_key_env", Text(pattern=r"\S"), "The variable that holds the key of the server."),
            Key("timeout", Number(above=0), "Seconds that the server may take.", default=TIMEOUT),
        ),
        at_most_one=(("path", "url"),),
        doc="Tells a lineage server, or a file, what each run read and wrote.",
    )

    def open(self, spec: Spec) -> Sink:
        """A function that takes one event.

        Raises:
            EngineNotFound: The client of OpenLineage is not installed.
            ConfigError: The variable of ``api_key_env`` is not set.
        """
        return Lineage(_emitter(spec), str(spec.get("namespace") or NAMESPACE))


class Lineage:
    """Turns the events of each attempt into run events: one when it starts, one when it is over."""

    def __init__(self, emit: Emit, namespace: str) -> None:
        self._emit = emit
        self._namespace = namespace
        self._events: dict[tuple[str, int, str | None], list[Event]] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        from ldp_core.sinks.lineage import run_event

        if not is_of_a_run(event):
            return
        attempt = (run_of(event), attempt_of(event), pipeline_of(event))
        self._events.setdefault(attempt, []).append(event)
        kind = event["type"]
        if kind == RUN_STARTED:
            self._emit(run_event(self._state(attempt), self._namespace, event["ts"], ended=False))
        elif kind == RUN_FINISHED:
            state = self._state(attempt)
            del self._events[attempt]
            self._emit(run_event(state, self._namespace, event["ts"], ended=True))

    def _state(self, attempt: tuple[str, int, str | None]) -> RunState:
        return fold_attempts(self._events[attempt])[0]


def _emitter(spec: Spec) -> Emit:
    try:
        from openlineage.client import OpenLineageClient
    except ImportError as error:
        raise EngineNotFound(
            "the sink openlineage needs openlineage-python", hint="pip install 'ldp-cli[openlineage]'"
        ) from error
    url = spec.get("url")
    if url is not None:
        return OpenLineageClient(transport=_http(spec, str(url))).emit
    from openlineage.client.transport.file import FileConfig, FileTransport

    path = local_path(spec.path(str(spec.get("path") or DEFAULT_PATH)))
    client = OpenLineageClient(transport=FileTransport(FileConfig(log_file_path=str(path), append=True)))
    return lambda event: _locked(client, path, event)


def _locked(client: OpenLineageClient, path: Path, event: RunEvent) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(path.with_name(f".{path.name}.lock"), what=f"the file {path}", timeout=_LOCK_SECONDS):
        client.emit(event)


def _http(spec: Spec, url: str) -> Any:
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    options: dict[str, Any] = {
        "url": url,
        "timeout": float(spec.get("timeout") or TIMEOUT),
        "retry": dict(_RETRY),
    }
    variable = spec.get("api_key_env")
    if variable is not None:
        key = os.environ.get(str(variable))
        if not key:
            raise ConfigError(
                f"the variable {variable} is not set",
                file=spec.file,
                key=f"{spec.key}.openlineage.api_key_env",
                hint="set it to the key of the server",
            )
        options["auth"] = {"type": "api_key", "apiKey": key}
    return HttpTransport(HttpConfig.from_dict(options))


def place_of(endpoint: Mapping[str, Any]) -> tuple[str, str]:
    """The namespace and the name of a data set, as OpenLineage names files, objects and tables."""
    table = endpoint.get("table")
    if table is not None:
        catalog = endpoint.get("catalog") or {}
        return _space(str(catalog.get("place") or catalog.get("type") or "iceberg")), str(table)
    path = endpoint.get("path")
    if not isinstance(path, str):
        return str(endpoint.get("format") or "unknown").lower(), str(endpoint.get("name") or "unknown")
    scheme, _, rest = path.partition("://")
    if not rest:
        return "file", path
    bucket, _, key = rest.partition("/")
    return f"{scheme}://{bucket}" if bucket else scheme, key or "/"


def _space(place: str) -> str:
    return place if "://" in place else f"file://{place}" if place.startswith("/") else place


SINK = OpenLineageSink()
