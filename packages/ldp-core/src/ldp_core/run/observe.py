"""Tells the event sinks what a run does. A sink that fails is a warning, never the end of a load.

An event carries specs, schemas, counts, ids and verdicts. It never carries a row, a value of the data, or
the text of an error that may quote one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core.clock import Clock, system_clock
from ldp_core.errors import Interrupted, LDPError
from ldp_core.events import model
from ldp_core.events.jsonl import DEFAULT_PATH
from ldp_core.events.model import Emitter, Sink
from ldp_core.plan.stages import Plan
from ldp_core.shape import Shape
from ldp_core.spi import Keyed, Spec, Verdict, WriteResult

if TYPE_CHECKING:
    import pyarrow as pa

_SAYS = frozenset(
    {
        "already_published",
        "catalog",
        "commit_conflict",
        "commit_unknown",
        "config",
        "engine_not_found",
        "interrupted",
        "key_taken",
        "keys_unknown",
        "ledger_broken",
        "no_data",
        "pipeline_not_found",
        "snapshot_not_found",
        "source_not_found",
        "superseded",
        "table_not_found",
        "unreconciled",
        "usage",
        "window_overlap",
    }
)
"""Codes of errors whose text holds no value of the data."""
_CHECK = {
    "name": "name",
    "check": "kind",
    "status": "status",
    "passed": "passed",
    "failing_rows": "failing_rows",
    "rows": "rows",
    "share": "share",
    "where": "where",
    "scope": "scope",
    "base_snapshot": "base_snapshot",
    "details": "details",
}
"""What an event tells of a check: the key a gate gives it, and the key of the event."""


@dataclass(frozen=True)
class Part:
    """The workflow that a run is part of.

    Attributes:
        workflow: Its identifier.
        task: The task.
        sinks: Names and functions that take the run's events: the workflow's ledger, and its own sinks.
    """

    workflow: str
    task: str
    sinks: tuple[tuple[str, Sink], ...] = ()


@dataclass(frozen=True)
class Observer:
    """The events of one run, in order.

    Attributes:
        plan: What is run.
        emitter: Numbers the events and hands them to the sinks.
        part: The workflow that it is part of; its name and the task's stand in every event, and so does the
            pipeline's: a run id alone does not name a run.
    """

    plan: Plan
    emitter: Emitter
    part: Part | None = None

    @classmethod
    def open(
        cls,
        plan: Plan,
        run_id: str,
        attempt: int = 1,
        *,
        warn: Callable[[str], None],
        clock: Clock = system_clock,
        part: Part | None = None,
    ) -> Observer:
        """Open the sinks of the plan; one that is not installed or does not open is a warning.

        Args:
            plan: What is run. A keyed run writes the ledger beside its config, whatever sinks it names.
            run_id: The run.
            attempt: From 1.
            warn: Takes one line for the user.
            clock: The time.
            part: The workflow that the run is part of; its sinks take the events in place of that ledger.
        """
        wanted = [*plan.sinks, *_ledger(plan)] if _is_keyed(plan.keyed) and part is None else plan.sinks
        catalog = plan.write.spec.get("catalog")
        opened = [open_sink(one, plan.base_dir, warn, file=plan.file, catalog=catalog) for one in wanted]
        own = [sink for sink in opened if sink is not None]
        above = part.sinks if part is not None else ()
        # A config may name the very file that the workflow writes to: each event goes there once.
        sinks = (*(one for one in own if one[1] not in [sink for _, sink in above]), *above)
        return cls(plan, Emitter(sinks, run_id, attempt, warn=warn, clock=clock), part)

    def started(self) -> None:
        """``run.started``: what is run. Sinks hear of it when it has something to do, or at its end."""
        self.emitter.hold()
        plan = self.plan
        keyed = plan.keyed
        window = None
        if keyed is not None and keyed.start is not None and keyed.end is not None:
            window = {"start": keyed.start, "end": keyed.end}
        self._emit(
            model.RUN_STARTED,
            window=window,
            idempotency_key=keyed.key if keyed is not None else None,
            spec_hash=plan.spec_hash or None,
            source=_endpoint(plan.read.kind, plan.read.spec),
            target=_endpoint(plan.write.kind, plan.write.spec),
            mode=_mode(plan),
        )

    def begins(self) -> None:
        """The run has something to do: whoever looks sees it running."""
        self.emitter.let_go()

    def extracted(self, rows: int, schema: pa.Schema, kept: int | None = None) -> None:
        """``run.extracted``: how many rows, of which columns.

        Args:
            rows: Rows of the source.
            schema: The columns that will be published.
            kept: Rows of the source inside the window; all of them by default.
        """
        self._emit(
            model.RUN_EXTRACTED,
            rows_read=rows,
            rows_kept=rows if kept is None else kept,
            schema=[{"name": column.name, "type": str(column.type)} for column in schema],
        )

    def evaluated(self, verdicts: Mapping[str, Verdict]) -> None:
        """``quality.evaluated``: the gates' verdicts, without rows or values; also where there are none."""
        results = [line for gate, verdict in verdicts.items() for line in _results(gate, verdict)]
        self._emit(
            model.QUALITY_EVALUATED,
            checks=len(results),
            failed=sum(not line["passed"] for line in results),
            passed=all(verdict.passed for verdict in verdicts.values()),
            blocks=any(verdict.blocks for verdict in verdicts.values()),
            **_judged_by(verdicts),
            results=results,
        )

    def published(
        self,
        wrote: WriteResult,
        *,
        rows_in: int | None = None,
    ) -> None:
        """``run.published``: what the target became.

        Args:
            wrote: What the publish did.
            rows_in: Rows after the transforms; by default the sum of what became of them.
        """
        told = wrote.to_dict()
        self.emitter.table_uuid = told.pop("table_uuid")
        left_out = wrote.rows_deduplicated + wrote.rows_quarantined
        whole = wrote.rows_written + wrote.rows_unchanged + left_out
        self._emit(
            model.RUN_PUBLISHED,
            table=told.pop("table_identifier"),
            **told,
            rows_in=whole if rows_in is None else rows_in,
        )

    def skipped(self, snapshot_id: int | None, duration_s: float) -> None:
        """``run.skipped_duplicate``, then ``run.finished``: the key was published before.

        Args:
            snapshot_id: The snapshot that carries the key, where one still does.
            duration_s: Seconds from start to end.
        """
        keyed = self.plan.keyed
        self._emit(
            model.RUN_SKIPPED_DUPLICATE,
            idempotency_key=keyed.key if keyed is not None else None,
            snapshot_id=None if snapshot_id is None else str(snapshot_id),
        )
        self.finished("skipped_duplicate", duration_s)

    def stopped(self, status: str, error: BaseException, duration_s: float) -> None:
        """``run.blocked_quality`` or ``run.failed``, then ``run.finished``."""
        if isinstance(error, KeyboardInterrupt):
            error = Interrupted("the run was interrupted")
        kind = model.RUN_BLOCKED_QUALITY if status == "blocked_quality" else model.RUN_FAILED
        code = error.code if isinstance(error, LDPError) else type(error).__name__
        retriable = bool(getattr(error, "retriable", isinstance(error, OSError)))
        self._emit(kind, error=error_text(error), code=code, retriable=retriable)
        self.finished(status, duration_s)

    def finished(self, status: str, duration_s: float) -> None:
        """``run.finished``: how it ended and how long it took. Sinks that hold events back let them go."""
        self._emit(model.RUN_FINISHED, status=status, duration_s=round(duration_s, 3))
        self.emitter.close()

    def _emit(self, kind: str, **payload: Any) -> None:
        if self.emitter.closed:  # an interrupt while the run tidies up changes nothing about how it ended
            return
        names = {} if self.part is None else {"workflow": self.part.workflow, "task": self.part.task}
        self.emitter.emit(kind, {"pipeline": self.plan.identifier, **payload, **names})


def error_text(error: BaseException) -> str:
    """Why a run failed, in words that hold no value of the data.

    The text of an error that may quote the data is left out: its kind stands for it.
    """
    if isinstance(error, LDPError):
        if error.code not in _SAYS:
            place = ":".join(str(part) for part in (error.file, error.line) if part is not None)
            what = " ".join((type(error).__doc__ or "").strip().splitlines()[:1])
            if type(error) is LDPError:
                what = "The load was stopped; what the command printed says why."
            return f"{place}: {what}" if place else what
        return str(error)
    if isinstance(error, OSError) and error.errno is not None:
        return f"{type(error).__name__}: {os.strerror(error.errno)}"
    return type(error).__name__


def _is_keyed(keyed: Keyed | None) -> bool:
    return keyed is not None and (keyed.key is not None or keyed.start is not None)


def _mode(plan: Plan) -> str | None:
    """The write mode that holds; None for targets that have none."""
    default = next((key.default for key in plan.write.target.shape.keys if key.name == "write_mode"), None)
    mode = plan.write.mode or plan.write.spec.get("write_mode") or default
    return None if mode is None else str(mode).lower()


def _ledger(plan: Plan) -> list[dict[str, Any]]:
    """The ledger beside the config, unless a sink of the config is that file already."""
    spec = Spec({}, plan.base_dir)
    own = spec.path(DEFAULT_PATH)
    named = [spec.path(str(s.get("path") or DEFAULT_PATH)) for s in plan.sinks if s.get("type") == "jsonl"]
    return [] if own in named else [{"type": "jsonl"}]


def _results(gate: str, verdict: Verdict) -> list[dict[str, Any]]:
    """The checks of a gate, of each only what is known to be no value; a gate without a list is one check."""
    listed = verdict.evaluated.get("checks")
    if not isinstance(listed, list | tuple):
        return [{"gate": gate, "name": gate, "kind": gate, "passed": verdict.passed}]
    return [
        {
            "gate": gate,
            **{own: check.get(given) for given, own in _CHECK.items()},
            "severity": _severity(check, verdict),
            "metrics": _numbers(check.get("metrics")),
        }
        for check in listed
        if isinstance(check, Mapping)
    ]


def _judged_by(verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """The engine and the contract that a gate names; nothing where none does."""
    found: dict[str, Any] = {}
    for verdict in verdicts.values():
        engine, contract = verdict.evaluated.get("engine"), verdict.evaluated.get("contract")
        if isinstance(engine, str):
            found.setdefault("engine", engine)
        if isinstance(contract, Mapping):
            found.setdefault("contract", {name: contract.get(name) for name in ("id", "version")})
    return found


def _severity(check: Mapping[str, Any], verdict: Verdict) -> str | None:
    """``warn`` where a failure holds nothing back, for what the check or its policy says."""
    policy = check.get("on_failure") or verdict.evaluated.get("on_failure")
    own = check.get("severity") or ("error" if policy else None)
    return "warn" if policy == "warn" else own


def _numbers(metrics: Any) -> dict[str, int | float]:
    """The numbers that a gate tells of a check; a text might be a value."""
    if not isinstance(metrics, Mapping):
        return {}
    return {
        str(name): value
        for name, value in metrics.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _endpoint(kind: str, spec: Spec) -> dict[str, Any]:
    """A source or a target for an event: its format, its name and where it is, without secrets."""
    from ldp_core.config.secrets import mask

    found: dict[str, Any] = {"format": kind, "name": spec.get("name")}
    path = spec.get("path")
    if isinstance(path, str):
        found["path"] = mask(_absolute(spec, path))
    catalog = spec.get("catalog")
    if isinstance(catalog, Mapping):
        from ldp_core.catalogs.access import namespace, place, type_of

        own = spec.sub("catalog")
        found |= {
            "table": f"{namespace(own)}.{spec.get('name')}",
            "catalog": {"type": type_of(own), "place": mask(place(own)) or None},
        }
    return found


def _absolute(spec: Spec, path: str) -> str:
    found = spec.path(path)
    return found if "://" in found else str(Path(found).absolute())


def open_sink(
    options: Mapping[str, Any],
    base_dir: Path,
    warn: Callable[[str], None],
    *,
    file: str | None = None,
    catalog: Any = None,
) -> tuple[str, Sink] | None:
    """Open a sink: its name and the function that takes events; None, with a warning, where it does not open.

    Args:
        options: Its ``type`` and what else was said of it.
        base_dir: The folder that relative paths start from.
        warn: Takes one line for the user.
        file: The config, for messages.
        catalog: The catalog that a sink writes to which needs one and was not told of any.
    """
    word = str(options.get("type"))
    name = registry.find("ldp.event_sinks", "null" if word == "none" else word, ignore_case=True)
    if name is None:
        warn(f"the event sink {word} is not installed; its events are dropped")
        return None
    try:
        sink = registry.load("ldp.event_sinks", name)
        values = {**_given(sink.shape, catalog), **options}
        opened: Sink = sink.open(Spec(values, base_dir, "metadata.observability", file))
        return name, opened
    except Exception as error:
        warn(f"the event sink {name} does not open: {error}")
        return None


def _given(shape: Shape, catalog: Any) -> dict[str, Any]:
    """What a sink takes from elsewhere where its options do not say: the catalog."""
    takes = any(key.name == "catalog" for key in shape.keys)
    return {"catalog": catalog} if takes and catalog is not None else {}
