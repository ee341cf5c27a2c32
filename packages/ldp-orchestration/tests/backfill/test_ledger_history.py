"""The last run of each window, told by the ledger: what finished, what was killed, what failed how often."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.events.jsonl import append
from ldp_core.events.model import make_event
from ldp_core.window import Window
from ldp_orchestration.history import TaskRun, runs_in

START = datetime(2026, 8, 1, tzinfo=UTC)


def day(number: int) -> Window:
    return Window(START + timedelta(days=number), START + timedelta(days=number + 1))


def bounds(window: Window) -> dict[str, Any]:
    return {"start": window.start, "end": window.end}


def started(window: Window, run_id: str, attempt: int = 1, workflow: str = "wf") -> dict[str, Any]:
    payload = {"workflow": workflow, "window": bounds(window)}
    return make_event("workflow.started", payload, run_id=run_id, attempt=attempt)


def finished(
    run_id: str, status: str, attempt: int = 1, workflow: str = "wf", **tasks: str
) -> dict[str, Any]:
    told = [
        {"id": name, "status": how, "run_id": f"{run_id}-{name}", "attempt": attempt}
        for name, how in tasks.items()
    ]
    payload = {"workflow": workflow, "status": status, "tasks": told}
    return make_event("workflow.finished", payload, run_id=run_id, attempt=attempt, seq=1)


def task(kind: str, window: Window, run_id: str, attempt: int = 1, **payload: Any) -> dict[str, Any]:
    told = {"pipeline": "p", "workflow": "wf", "task": "a", "window": bounds(window), **payload}
    return make_event(kind, told, run_id=run_id, attempt=attempt)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / ".ldp" / "events.jsonl"


def test_no_ledger_is_no_history_and_is_not_made(ledger: Path) -> None:
    assert runs_in(ledger) == {}
    assert not ledger.parent.exists()


@pytest.mark.parametrize(
    ("status", "tasks", "expected"),
    [
        ("succeeded", {"a": "published"}, "succeeded"),
        ("failed", {"a": "failed"}, "failed"),
        ("blocked_quality", {"a": "blocked_quality"}, "blocked"),
        ("failed", {"a": "published", "b": "not_run"}, "incomplete"),
        ("interrupted", {"a": "published"}, "incomplete"),
    ],
)
def test_how_a_run_ended(ledger: Path, status: str, tasks: dict[str, str], expected: str) -> None:
    append(ledger, started(day(0), "r"), finished("r", status, **tasks))
    found = runs_in(ledger)["wf"][day(0)]
    assert (found.run_id, found.attempt, found.status) == ("r", 1, expected)
    assert found.finished is not None
    assert found.tasks == {name: TaskRun(f"r-{name}", 1, how) for name, how in tasks.items()}


def test_a_killed_run_is_unfinished_and_its_tasks_are_known_with_their_attempts(ledger: Path) -> None:
    append(
        ledger,
        started(day(0), "r"),
        task("run.started", day(0), "t"),
        task("run.finished", day(0), "t", status="failed"),
        task("run.started", day(0), "t", attempt=2),
    )
    found = runs_in(ledger)["wf"][day(0)]
    assert (found.status, found.finished, found.failures) == ("unfinished", None, 0)
    assert found.tasks == {"a": TaskRun("t", 2, "running")}
    append(ledger, task("run.finished", day(0), "t", attempt=2, status="published"))
    assert runs_in(ledger)["wf"][day(0)].tasks == {"a": TaskRun("t", 2, "published")}


def test_failures_are_counted_until_something_else_happens(ledger: Path) -> None:
    expected = {"failed": 1, "interrupted": 1, "blocked_quality": 0, "succeeded": 0}
    for last, failures in expected.items():
        append(ledger, started(day(0), "x"), finished("x", last, a="failed"))
        for attempt in (1, 2, 3):
            append(ledger, started(day(0), last, attempt), finished(last, "failed", attempt, a="failed"))
        assert runs_in(ledger)["wf"][day(0)].failures >= 3
        append(ledger, started(day(0), "y"), finished("y", last, a=last))
        found = runs_in(ledger)["wf"][day(0)]
        assert (found.run_id, found.failures > 0) == ("y", failures > 0)


def test_windows_and_workflows_are_kept_apart_however_their_events_mix(ledger: Path) -> None:
    append(
        ledger,
        started(day(0), "a"),
        started(day(1), "b"),
        started(day(0), "c", workflow="other"),
        finished("b", "failed", a="failed"),
        finished("c", "succeeded", workflow="other", a="published"),
        finished("a", "succeeded", a="published"),
    )
    found = runs_in(ledger)
    assert {window: run.status for window, run in found["wf"].items()} == {
        day(0): "succeeded",
        day(1): "failed",
    }
    assert found["other"][day(0)].run_id == "c"


def test_the_later_of_two_runs_tells_even_while_the_first_goes_on(ledger: Path) -> None:
    append(ledger, started(day(0), "a"), started(day(0), "b"), finished("b", "failed", a="failed"))
    append(ledger, finished("a", "succeeded", a="published"))
    assert runs_in(ledger)["wf"][day(0)].run_id == "b"


def test_lines_that_are_no_events_and_half_lines_are_left_out(ledger: Path) -> None:
    append(ledger, started(day(0), "a"))
    with ledger.open("ab") as file:
        file.write(
            b'nonsense\n{"event_id": 1, "type": "workflow.finished"}\n{"event_id":"x","type":"workflow.st'
        )
    assert runs_in(ledger)["wf"][day(0)].status == "unfinished"
    append(ledger, finished("a", "succeeded", a="published"))
    assert runs_in(ledger)["wf"][day(0)].status == "succeeded"


def test_a_ledger_that_was_removed_and_begun_anew_is_read_anew(ledger: Path) -> None:
    append(ledger, started(day(0), "a"), finished("a", "failed", a="failed"))
    assert list(runs_in(ledger)["wf"]) == [day(0)]
    ledger.unlink()
    assert runs_in(ledger) == {}
    append(ledger, *(started(day(at), f"b{at}") for at in range(1, 9)))
    assert list(runs_in(ledger)["wf"]) == [day(at) for at in range(1, 9)]


def test_what_was_read_is_not_read_again(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ldp_orchestration import history

    seen = []
    monkeypatch.setattr(history, "parsed", lambda line: seen.append(line) or real(line))
    real = __import__("ldp_core.events.jsonl", fromlist=["parsed"]).parsed
    for at in range(30):
        append(ledger, started(day(at), f"r{at}"), finished(f"r{at}", "succeeded", a="published"))
        assert len(runs_in(ledger)["wf"]) == at + 1
    assert len(seen) == 60


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["succeeded", "failed", "blocked_quality", None])),
        max_size=12,
    ),
    st.integers(300, 3000),
)
def test_set_aside_files_and_reading_on_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[int, str | None]], limit: int
) -> None:
    ledger = tmp_path_factory.mktemp("ledger") / "events.jsonl"
    last: dict[Window, list[str]] = {}
    for at, (number, status) in enumerate(runs):
        append(ledger, started(day(number), f"r{at}"), limit=limit)
        runs_in(ledger)
        if status:
            append(ledger, finished(f"r{at}", status, a=status), limit=limit)
        last.setdefault(day(number), []).append(status or "unfinished")
    words = {"blocked_quality": "blocked"}
    expected = {window: words.get(ended[-1], ended[-1]) for window, ended in last.items()}
    once = {window: run.status for window, run in runs_in(ledger).get("wf", {}).items()}
    copy = ledger.parent / "copy"
    copy.mkdir()
    for file in ledger.parent.glob("events*.jsonl"):
        (copy / file.name).write_bytes(file.read_bytes())
    anew = {window: run.status for window, run in runs_in(copy / ledger.name).get("wf", {}).items()}
    assert once == anew == expected
    for window, ended in last.items():
        told = runs_in(ledger)["wf"][window].failures
        ends = [at for at, how in enumerate(ended) if how in ("succeeded", "blocked_quality")]
        assert told == ended[ends[-1] + 1 if ends else 0 :].count("failed")
