"""What one run owns: a bounded engine, a scratch folder, an id, and a place for warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldp_core import _duck
from ldp_core._progress import SILENT
from ldp_core._signals import heard
from ldp_core.clock import Clock, system_clock
from ldp_core.errors import UsageError
from ldp_core.ids import new_id, unfit
from ldp_core.run._scratch import scratch_folder
from ldp_core.run.observe import Part
from ldp_core.spi import Keyed, Progress, RunContext


@dataclass(frozen=True)
class RunOptions:
    """How to run, as opposed to what.

    Attributes:
        memory_limit: The engine's memory, such as ``400MB``.
        strict: What would be a warning about data is an error.
        progress: Where long steps report.
        clock: The time.
        run_id: uuid7 or any text; made when it is None.
        attempt: From 1.
        part: The workflow that the run is part of.
        on_failure: What a failed gate does, above what configs say: ``fail``, ``warn`` or ``quarantine``.
        readings: See ``RunContext``.
        turn: See ``RunContext``.

    Raises:
        UsageError: The run id, the attempt or ``on_failure`` is none.
    """

    memory_limit: str | None = None
    strict: bool = False
    progress: Progress = SILENT
    clock: Clock = system_clock
    run_id: str | None = None
    attempt: int = 1
    part: Part | None = None
    on_failure: str | None = None
    readings: Any = None
    turn: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        if self.run_id is not None and (why := unfit("run_id", self.run_id)):
            raise UsageError(why)
        if type(self.attempt) is not int or self.attempt < 1:
            raise UsageError(f"attempt must be a whole number from 1, got {self.attempt!r}")
        if self.on_failure not in (None, "fail", "warn", "quarantine"):
            raise UsageError(f"on_failure must be fail, warn or quarantine, got {self.on_failure!r}")


@dataclass
class Lines:
    """Lines for the user, in order, each once."""

    found: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Take a line unless it is there already."""
        if text not in self.found:
            self.found.append(text)


@contextmanager
def open_context(
    base_dir: Path, options: RunOptions, warnings: Lines, keyed: Keyed | None = None
) -> Iterator[RunContext]:
    """A context for one run; its connection and its scratch folder are gone afterwards, whatever happens.

    Args:
        base_dir: The config's folder.
        options: How to run.
        warnings: Takes the run's warnings.
        keyed: The window and the key of the run.
    """
    with scratch_folder() as scratch:
        con = _duck.connect(memory_limit=options.memory_limit, temp_directory=scratch / "spill")
        try:
            with heard(con.interrupt):
                yield RunContext(
                    con=con,
                    base_dir=base_dir,
                    scratch=scratch,
                    run_id=options.run_id or new_id(),
                    attempt=options.attempt,
                    progress=options.progress,
                    warn=warnings.add,
                    clock=options.clock,
                    strict=options.strict,
                    keyed=keyed,
                    on_failure=options.on_failure,
                    readings=options.readings,
                    turn=options.turn,
                )
        finally:
            con.close()
