"""The status as one screen: a table where it fits, else a few lines for each file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta

from ldp_core._output import cell, print_table, say
from ldp_core.window.model import instant

from ldp_orchestration.overview import BREACH, LATE, Status, TableStatus, WorkflowStatus
from ldp_orchestration.schedule.telling import keeps_failing, length

_COLUMNS = ("file", "last window", "last run", "rows", "quality", "late", "next fire", "missed")
_NONE = "-"


def show(found: Status) -> None:
    """Print it."""
    rows = list(_rows(found))
    widths = [max(len(cell(row[at])) for row in (_COLUMNS, *rows)) for at in range(len(_COLUMNS))]
    if sum(widths) + 2 * len(widths) <= shutil.get_terminal_size().columns:
        if rows:
            print_table(_COLUMNS, rows, footer=False)
    else:
        for one in found.workflows:
            for line in _lines(one, found.now):
                say(line)
    for line in _troubles(found):
        say(line)


def _rows(found: Status) -> Iterator[tuple[str, ...]]:
    """A row a file, and one for each of its tables where it has several."""
    for one in found.workflows:
        plan = one.plan
        single = one.tables[0] if len(one.tables) == 1 else None
        yield (
            one.file,
            one.last_window or _NONE,
            _last(one, found.now),
            _rows_of(single),
            one.quality or _NONE,
            _late(one),
            instant(plan.next_fire) if plan and plan.next_fire else _NONE,
            str(plan.missed_in_all) if plan else _NONE,
        )
        for table in one.tables if single is None else ():
            name = f"  {table.target or table.task}"
            yield (name, "", _state(table, found.now), _rows_of(table), table.quality or _NONE, "", "", "")


def _lines(one: WorkflowStatus, now: datetime) -> Iterator[str]:
    """The same for a narrow screen, or none."""
    yield f"{one.file}  {_last(one, now)}"
    if one.last_window:
        yield f"  last window  {one.last_window} {one.last_status}"
    for table in one.tables:
        rows = _rows_of(table)
        parts = [_state(table, now), *([f"{rows} row{'' if rows == '1' else 's'}"] if rows != _NONE else [])]
        parts += [f"checks {table.quality}"] if table.quality else []
        yield f"  {table.target or table.task}  {', '.join(parts)}"
    if one.lateness or one.sla_status:
        yield f"  late         {_late(one)}"
    if one.plan and one.plan.next_fire:
        yield f"  next fire    {instant(one.plan.next_fire)}"
    if one.plan and one.plan.missed_in_all:
        yield f"  missed       {one.plan.missed_in_all}"


def _troubles(found: Status) -> Iterator[str]:
    """What asks for somebody's hand: a line each."""
    for one in found.workflows:
        plan = one.plan
        if one.sla_status == BREACH and one.sla and plan:
            allowed = length(timedelta(seconds=one.sla.error_after or 0))
            late = length(one.lateness or timedelta())
            yield f"{one.file}: {plan.late} is {late} late; metadata.sla.error_after is {allowed}"
        for wait in plan.waiting if plan else ():
            yield f"{one.file}: {wait.window} {keeps_failing(wait.failures, wait.next_try)}"
        for window in plan.blocked if plan else ():
            yield f"{one.file}: {window} is blocked by a gate; each tick tries it again"
        for command in plan.commands if plan else ():
            yield f"{one.file}: to fill what was missed: {command}"
        if one.error:
            yield f"{one.file}: {one.error}"


def _last(one: WorkflowStatus, now: datetime) -> str:
    return _NONE if one.status is None else f"{one.status}{_ago(one.finished, now)}"


def _state(table: TableStatus, now: datetime) -> str:
    ended = table.last.finished if table.last else None
    if table.status is None:
        return _NONE
    return f"{table.status}{_ago(datetime.fromisoformat(ended) if ended else None, now)}"


def _ago(moment: datetime | None, now: datetime) -> str:
    return f", {length(now - moment)} ago" if moment is not None and moment <= now else ""


def _rows_of(table: TableStatus | None) -> str:
    rows = table.last.rows_written if table and table.last else None
    return _NONE if rows is None else f"{rows:,}"


def _late(one: WorkflowStatus) -> str:
    """How late it is, and what its limits say of that."""
    if one.plan is None or one.error:
        return _NONE
    if one.lateness is None or one.lateness < timedelta(seconds=1):
        return "no"
    word = {BREACH: " (breach)", LATE: " (warning)"}.get(one.sla_status or "", "")
    return f"{length(one.lateness)}{word}" if word else length(one.lateness)
