"""The Protocols and value types that cross packages. Imports nothing heavy.

One run goes: ``Source.open`` gives an ``Extract`` (SQL over the run's DuckDB connection), transforms wrap
it, ``TargetSession.resolve`` fits it to the table, ``TargetSession.stage`` writes files nobody can see yet,
gates judge the ``Batch``, ``TargetSession.publish`` makes it visible in one step or ``discard`` deletes it.
"""

from ldp_core.spi.gates import Apart, Batch, Gate, Marks, PreparedGate, Report, Standing, Verdict
from ldp_core.spi.load import Extract, Loss, Resolved, Staged, TargetSession, WriteResult
from ldp_core.spi.plugins import (
    CatalogProvider,
    DoctorLine,
    EventSink,
    Section,
    Source,
    Target,
    TargetInfo,
    Transform,
)
from ldp_core.spi.run import Keyed, Progress, RunContext
from ldp_core.spi.spec import Spec
from ldp_core.spi.tasks import OpenTask, TableName, Task, TaskCall, TaskInfo, TaskKind, TaskResult

__all__ = [
    "Apart",
    "Batch",
    "CatalogProvider",
    "DoctorLine",
    "EventSink",
    "Extract",
    "Gate",
    "Keyed",
    "Loss",
    "Marks",
    "OpenTask",
    "PreparedGate",
    "Progress",
    "Report",
    "Resolved",
    "RunContext",
    "Section",
    "Source",
    "Spec",
    "Staged",
    "Standing",
    "TableName",
    "Target",
    "TargetInfo",
    "TargetSession",
    "Task",
    "TaskCall",
    "TaskInfo",
    "TaskKind",
    "TaskResult",
    "Transform",
    "Verdict",
    "WriteResult",
]
