"""How schedules are told to a person, a line at a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from ldp_core.window.model import instant

from ldp_orchestration.backfilled import BackfillWindow
from ldp_orchestration.backoff import wait_after
from ldp_orchestration.discovery import Invalid
from ldp_orchestration.schedule.ticked import WAITING, TickResult

_SOONER = "or when its config or source changes, or with --force"
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def length(span: timedelta) -> str:
    """A length of time in its largest two units: ``2 h 5 min``."""
    left = round(span.total_seconds())
    if left < 1:
        return "less than 1 s"
    parts: list[str] = []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {name}" if count else "")
        if len(parts) == 2:
            break
    return " ".join(filter(None, parts))


def local(moment: datetime) -> str:
    """A moment in the time zone of this machine."""
    return moment.astimezone().isoformat(sep=" ", timespec="minutes")


def about(span: timedelta) -> str:
    """A length of time that is an estimate: ``about 2 h 5 min``."""
    return f"about {length(max(span, timedelta(seconds=1)))}"


def keeps_failing(failures: int, until: datetime) -> str:
    """How often a window failed, and when a tick tries it again."""
    times = "once" if failures == 1 else f"{failures} times in a row"
    return f"failed {times}; next try at {instant(until.replace(microsecond=0))}"


def again(window: BackfillWindow) -> str | None:
    """When a window that just ended badly is tried again; None where it ended well."""
    if window.outcome == "blocked":
        return "each tick tries it again"
    if window.outcome != "failed":
        return None
    wait = length(wait_after(getattr(window, "failures", 0) + 1))
    return f"next try {wait} after this one began, {_SOONER}"


def errors_of(window: BackfillWindow) -> list[str]:
    """What went wrong in a window, a line each."""
    tasks = window.result.tasks if window.result else ()
    return [f"{task.id}: {task.error}" for task in tasks if task.error] + (
        [window.error] if window.error else []
    )


def waiting_lines(result: TickResult) -> Iterator[str]:
    """The windows that a tick left alone because they keep failing."""
    for one in result.workflows:
        for window in one.windows:
            if window.outcome == WAITING and window.next_try:
                text = keeps_failing(window.failures, window.next_try)
                yield f"{one.file}: {window.window} {text}, {_SOONER}"


def invalid_lines(problems: tuple[Invalid, ...]) -> Iterator[str]:
    """The files that are not valid."""
    for one in problems:
        for problem in one.problems:
            yield str(problem) if problem.file else f"{one.file}: {problem}"


def summary(result: TickResult) -> str | None:
    """The last line of a tick; None where there is nothing to say."""
    counts = {name: count for name, count in result.counts().items() if count and name != "skipped"}
    if not counts and not result.problems and not any(one.error for one in result.workflows):
        return None
    words = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items()]
    words += [f"{len(result.problems)} not valid"] if result.problems else []
    stopped = sum(one.error is not None for one in result.workflows)
    words += [f"{stopped} not ticked"] if stopped else []
    now = instant(result.now.replace(microsecond=0))
    return f"tick at {now}: {', '.join(words)} in {result.duration_s:.1f} s"
