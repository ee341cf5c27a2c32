"""What the steps of one run share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ldp_core.clock import Clock, system_clock

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Progress(Protocol):
    """What a long step tells of itself; the command line draws it, Python ignores it."""

    def step(
        self, what: str, *, total_bytes: int | None = None, total_rows: int | None = None
    ) -> AbstractContextManager[Callable[[int, int], None]]:
        """Begin a step; the yielded function takes (rows so far, bytes so far)."""


@dataclass(frozen=True)
class Keyed:
    """What a run is to the table it publishes into: whose it is, for which window, under which key.

    Attributes:
        pipeline: The identifier of the config.
        source: The format and the name of its source.
        id: ``metadata.id``; empty when there is none.
        path: The config file, for messages.
        key: The idempotency key; None for a plain run.
        start: The start of the window, in UTC.
        end: Its end.
        zone: The time zone of its windows.
        column: The column that selects the rows of the window; an overwrite replaces those alone.
        overlap: Whether an append may share time with published windows.
        adopt: Whether what another config published under the key counts as this one's.
        empty: Whether a window without rows is published as done.
        requeued: The batch of the quarantine whose rows the run brings back; they are a part of what an
            earlier run loaded.
        still: Looks at the table (a ``tables.view.TableView``) before every commit; what it raises ends the
            run.
    """

    pipeline: str
    source: tuple[str, str] = ("", "")
    id: str = ""
    path: str = ""
    key: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    zone: str = "UTC"
    column: str | None = None
    overlap: bool = False
    adopt: bool = False
    empty: bool = False
    requeued: str | None = None
    still: Callable[[Any], None] | None = None


@dataclass(frozen=True)
class RunContext:
    """What every step of one run shares.

    Attributes:
        con: The run's DuckDB connection (bounded memory, spills into ``scratch``).
        base_dir: The config's folder.
        scratch: A folder of this run alone; removed when the run ends.
        run_id: uuid7 or any text.
        attempt: From 1.
        clock: The time.
        progress: Where long steps report.
        warn: Takes one line for the user; collected in the result, printed by the command.
        strict: ``--strict``: what would be a warning about data is an error.
        keyed: What the run is to the table; None for a load of the Python classes.
        on_failure: See ``Batch``.
        readings: What was read of text files for other windows (a ``sources.readings.Readings``).
        turn: Called right before a load publishes; returns when it is its turn among loads side by side.
    """

    con: DuckDBPyConnection
    base_dir: Path
    scratch: Path
    run_id: str
    attempt: int
    progress: Progress
    warn: Callable[[str], None]
    clock: Clock = system_clock
    strict: bool = False
    keyed: Keyed | None = None
    on_failure: str | None = None
    readings: Any = None
    turn: Callable[[], object] | None = None
