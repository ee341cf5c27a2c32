"""Tasks of workflows: what a kind of task must be, and what a task tells and does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ldp_core.clock import Clock, system_clock
from ldp_core.errors import Problem

if TYPE_CHECKING:
    from ldp_core.spi.run import Progress
    from ldp_core.window.model import Window


@dataclass(frozen=True)
class Task:
    """One task of a workflow, as the file has it.

    Attributes:
        id: Its name in the workflow.
        kind: The entry name of its kind, which is the key that holds what it does.
        value: What stands under that key.
        depends_on: The tasks that must succeed first.
        base_dir: The folder that relative paths start from.
        key: Its place in the file, for messages: ``tasks[0]``.
        file: The file as the user named it, for messages.
        env: The environment of ``ldp.yaml`` that holds.
    """

    id: str
    kind: str
    value: Any
    depends_on: tuple[str, ...] = ()
    base_dir: Path = Path()
    key: str = ""
    file: str | None = None
    env: str | None = None


@dataclass(frozen=True, order=True)
class TableName:
    """A table that a task reads or writes.

    Attributes:
        place: Where its catalog is: two tables of one name in two catalogs are two tables.
        name: ``namespace.table``.
    """

    place: str
    name: str


@dataclass(frozen=True)
class TaskInfo:
    """What a task is in one window, for ``plan`` and for the order of the tasks.

    Attributes:
        target: The table, the file or what else it is about, for people.
        idempotency_key: The key that it publishes under; None for what carries no key.
        source_path: The path of its source in the window, where it has one.
        reads: The tables that it reads.
        writes: The tables that it writes.
        warnings: Lines that the user should know before it runs.
        notes: Lines that explain.
    """

    target: str | None = None
    idempotency_key: str | None = None
    source_path: str | None = None
    reads: tuple[TableName, ...] = ()
    writes: tuple[TableName, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskCall:
    """One attempt of a task.

    Attributes:
        window: The window of the workflow; None for a workflow that is run without one.
        run_id: The run: the same for every attempt.
        attempt: From 1; a later one fences those before it.
        workflow: The identifier of the workflow.
        sinks: Names and functions that take the events of the task besides its own sinks.
        replace: Whether what the window has published is loaded again in its place.
        memory_limit: The engine's memory, such as ``400MB``.
        progress: Where long steps report.
        clock: The time.
        changed: Whether a task that ran before in this run of the workflow may have written data.
        readings: What was read of text files for other windows; see ``RunContext``.
        turn: Called right before what it did becomes visible; returns when it is its turn among windows that
            run side by side. A task whose windows may run so calls it, and is called with it.
    """

    window: Window | None
    run_id: str
    attempt: int
    workflow: str
    sinks: tuple[tuple[str, Any], ...] = ()
    replace: bool = False
    memory_limit: str | None = None
    progress: Progress | None = None
    clock: Clock = system_clock
    changed: bool = True
    readings: Any = None
    turn: Callable[[], object] | None = None


@dataclass(frozen=True)
class TaskResult:
    """How an attempt ended that did not fail.

    Attributes:
        status: ``published``, ``skipped_duplicate`` or ``succeeded``.
        rows_read: Rows of its source.
        rows_written: Rows that it wrote.
        rows_quarantined: Rows that it put aside.
        snapshot_id: The snapshot that it made.
        tables: The tables that it wrote.
        warnings: Lines about data that is not as it should be.
        detail: What else there is to tell, as JSON.
    """

    status: str
    rows_read: int | None = None
    rows_written: int | None = None
    rows_quarantined: int | None = None
    snapshot_id: int | None = None
    tables: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)


class OpenTask(Protocol):
    """A task that was read: the config or the project that it names is at hand."""

    @property
    def vouched(self) -> bool:
        """Whether keys on main alone say that a window is done; else its last run has to say it."""

    @property
    def counts(self) -> bool:
        """Whether a window waits for it: false for upkeep, which leaves no window undone."""

    @property
    def side_by_side(self) -> bool:
        """Whether different windows of it may run at the same time and give what they give one by one."""

    def problems(self, *, replace: bool = False) -> list[Problem]:
        """What keeps it from running; every config that it names is checked. Errors, warnings, notes."""

    def info(self, window: Window | None, *, replace: bool = False) -> TaskInfo:
        """What it is in a window. Looks at no data. Asked only of a task without errors."""

    def done(self, windows: Sequence[Window], *, replace: bool = False) -> list[bool]:
        """Which windows main holds the key of, read in one go; nothing is created. Only where it is vouched.

        Raises:
            LDPError: The table cannot be asked.
        """

    def keys(self, windows: Sequence[Window], *, replace: bool = False) -> list[str]:
        """The keys of windows, each as ``info`` has it. Only where it is vouched."""

    def inputs(self, window: Window | None) -> list[str]:
        """The files that, once changed, may end a failure: its config, what that names, local sources."""

    def run(self, call: TaskCall) -> TaskResult:
        """Run one attempt.

        Raises:
            DataQualityError: A gate held its data back.
            LDPError: It failed.
        """


class TaskKind(Protocol):
    """A kind of task, registered in ``ldp.task_kinds`` under the key that a task has for it."""

    shape: Any
    """A ``ldp_core.shape.Type``: what may stand under the key."""

    def open(self, task: Task) -> OpenTask:
        """Read what the task names; what is wrong with it, ``problems`` says.

        Args:
            task: Its value fits the shape.
        """
