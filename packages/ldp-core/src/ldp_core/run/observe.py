"""Tells the event sinks what a run does. A sink that fails is a warning, never the end of a load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core.errors import LDPError
from ldp_core.events.model import Emitter, Sink
from ldp_core.plan.stages import Plan
from ldp_core.run import gates
from ldp_core.spi import RunContext, Spec, Verdict, WriteResult

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Observer:
    """The events of one run, in order.

    Attributes:
        plan: What is run.
        emitter: Numbers the events and hands them to the sinks.
    """

    plan: Plan
    emitter: Emitter

    @classmethod
    def open(cls, plan: Plan, ctx: RunContext) -> Observer:
        """Open the sinks of the plan; one that is not installed or does not open is a warning."""
        opened = [sink for options in plan.sinks if (sink := _open(options, plan, ctx)) is not None]
        return cls(plan, Emitter(opened, ctx.run_id, ctx.attempt, warn=ctx.warn, clock=ctx.clock))

    def started(self) -> None:
        """``run.started``: what is run."""
        plan = self.plan
        self._emit(
            "run.started",
            identifier=plan.identifier,
            spec_hash=plan.spec_hash,
            source={"kind": plan.read.kind, "name": plan.read.spec.get("name")},
            target={"kind": plan.write.kind, "name": plan.write.spec.get("name")},
            mode=plan.write.mode or plan.write.spec.get("write_mode"),
        )

    def extracted(self, rows: int, schema: pa.Schema) -> None:
        """``run.extracted``: how many rows, of which columns."""
        self._emit(
            "run.extracted",
            rows_read=rows,
            rows_kept=rows,
            schema={column.name: str(column.type) for column in schema},
        )

    def evaluated(self, verdicts: dict[str, Verdict]) -> None:
        """``quality.evaluated``: the gates' verdicts, without rows or values."""
        self._emit("quality.evaluated", **gates.evaluated(verdicts))

    def published(self, wrote: WriteResult) -> None:
        """``run.published``: what the target became."""
        self._emit("run.published", **wrote.to_dict())

    def stopped(self, status: str, error: BaseException, duration_s: float) -> None:
        """``run.blocked_quality`` or ``run.failed``, then ``run.finished``."""
        if status == "blocked_quality":
            self._emit("run.blocked_quality")
        else:
            kind = error.code if isinstance(error, LDPError) else type(error).__name__
            retriable = isinstance(error, OSError) or bool(getattr(error, "retriable", False))
            self._emit("run.failed", error=kind, retriable=retriable)
        self.finished(status, duration_s)

    def finished(self, status: str, duration_s: float) -> None:
        """``run.finished``: how it ended and how long it took."""
        self._emit("run.finished", status=status, duration_s=round(duration_s, 3))

    def _emit(self, kind: str, **payload: Any) -> None:
        self.emitter.emit(kind, payload)


def _open(options: Mapping[str, Any], plan: Plan, ctx: RunContext) -> tuple[str, Sink] | None:
    word = str(options.get("type"))
    name = registry.find("ldp.event_sinks", "null" if word == "none" else word, ignore_case=True)
    if name is None:
        ctx.warn(f"the event sink {word} is not installed; its events are dropped")
        return None
    try:
        sink = registry.load("ldp.event_sinks", name)
        return name, sink.open(Spec(options, plan.base_dir, "metadata.observability", plan.file))
    except Exception as error:
        ctx.warn(f"the event sink {name} does not open: {error}")
        return None
