"""Events: the envelope, the ledger file, run state; a failing sink stops nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.config.validate import check
from ldp_core.errors import LDPError
from ldp_core.events import jsonl, model
from ldp_core.events.fold import fold_runs
from ldp_core.events.model import Emitter, make_event
from ldp_core.events.null import SINK as NULL
from ldp_core.shape import Named
from ldp_core.spi import Spec

NOON = datetime(2026, 8, 1, 12, 0, 0, 250000, tzinfo=UTC)


def run_events(run_id: str, *, status: str = "published", attempt: int = 1) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    emitter = Emitter([("list", found.append)], run_id, attempt, warn=pytest.fail)  # type: ignore[list-item]
    emitter.emit("run.started", {"pipeline": "rides", "mode": "append"})
    emitter.emit("run.extracted", {"rows_read": 3, "rows_kept": 3})
    emitter.emit("quality.evaluated", {"checks": 2, "failed": 0})
    emitter.table_uuid = "u"
    outcome = {
        "published": "run.published",
        "blocked_quality": "run.blocked_quality",
        "failed": "run.failed",
    }[status]
    emitter.emit(
        outcome, {"rows_written": 3, "snapshot_id": 2**60} if status == "published" else {"error": "no"}
    )
    emitter.emit("run.finished", {"status": status, "duration_s": 0.5})
    return found


def test_the_envelope() -> None:
    event = make_event(
        "run.started", {"a": 1}, run_id="r", attempt=2, seq=3, table_uuid="u", clock=lambda: NOON
    )
    assert list(event) == [
        "event_id", "type", "schema_version", "ts", "run_id", "attempt", "seq", "table_uuid", "payload",
    ]  # fmt: skip
    assert event["ts"] == "2026-08-01T12:00:00.250000Z"
    assert event["event_id"][14] == "7"
    assert event["schema_version"] == 1
    with pytest.raises(LDPError, match="of the type"):
        make_event("run.exploded", run_id="r")


def test_what_json_cannot_hold_is_made_plain() -> None:
    payload = {"id": 2**60, "nan": float("nan"), "at": NOON, "path": Path("a"), "t": (1, 2), 3: None}
    assert make_event("run.started", payload, run_id="r")["payload"] == {
        "id": str(2**60),
        "nan": None,
        "at": "2026-08-01T12:00:00.250000Z",
        "path": "a",
        "t": [1, 2],
        "3": None,
    }


def test_secrets_are_masked() -> None:
    event = make_event("run.failed", {"error": "postgresql://u:hush@h/db", "token": "hush"}, run_id="r")
    assert "hush" not in json.dumps(event)


def test_a_failing_sink_warns_once_and_stops_nothing() -> None:
    lines: list[str] = []
    good: list[Any] = []

    def bad(event: model.Event) -> None:
        raise OSError("disk full")

    emitter = Emitter([("bad", bad), ("good", good.append)], "r", warn=lines.append)
    for _ in range(3):
        emitter.emit("run.started")
    assert [event["seq"] for event in good] == [0, 1, 2]
    assert lines == ["events do not reach the sink bad: disk full"]


def test_the_jsonl_sink_writes_beside_the_config(tmp_path: Path) -> None:
    write = jsonl.SINK.open(Spec({"type": "jsonl"}, tmp_path))
    for event in run_events("r"):
        write(event)
    file = tmp_path / ".ldp" / "events.jsonl"
    assert [json.loads(line)["type"] for line in file.read_text().splitlines()] == [
        "run.started", "run.extracted", "quality.evaluated", "run.published", "run.finished",
    ]  # fmt: skip
    other = jsonl.SINK.open(Spec({"type": "jsonl", "path": "a/b.jsonl"}, tmp_path))
    other(run_events("r")[0])
    assert (tmp_path / "a/b.jsonl").is_file()
    NULL.open(Spec({}, tmp_path))(run_events("r")[0])


def test_sinks_are_known_to_configs() -> None:
    sink = Named("ldp.event_sinks", "type", aliases={"none": "null"})
    for value in ({"type": "jsonl"}, {"type": "jsonl", "path": "x"}, {"type": "null"}, {"type": "none"}):
        assert check(sink, value) == []
    assert check(sink, {"type": "jsonl", "pth": "x"})


def test_a_half_line_spoils_no_other(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    first, second = run_events("r")[:2]
    jsonl.append(file, first)
    with file.open("ab") as out:
        out.write(b'{"event_id": "x", "ty')
    jsonl.append(file, second)
    assert [event["seq"] for event in jsonl.read(file)] == [0, 1]
    assert [event["seq"] for event in jsonl.read_back(file)] == [1, 0]


def test_no_file_is_no_events(tmp_path: Path) -> None:
    assert list(jsonl.read(tmp_path / "none")) == []
    assert list(jsonl.read_back(tmp_path / "none")) == []


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(max_size=30), max_size=20), st.integers(1, 200))
def test_reading_back_is_reading_reversed(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int
) -> None:
    file = tmp_path_factory.mktemp("events") / "e.jsonl"
    for text in texts:
        jsonl.append(file, {"event_id": text, "type": "run.started", "payload": {"text": text}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_BLOCK", block)
        assert list(jsonl.read_back(file)) == list(jsonl.read(file))[::-1]
    assert [event["event_id"] for event in jsonl.read(file)] == texts


def test_processes_append_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    code = """if True:
        import sys
        from pathlib import Path
        from ldp_core.events import jsonl
        for turn in range(50):
            event = {"event_id": f"{sys.argv[2]}-{turn}", "type": "run.started", "payload": "x" * 3000}
            jsonl.append(Path(sys.argv[1]), event)
    """
    workers = [subprocess.Popen([sys.executable, "-c", code, str(file), str(n)]) for n in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    assert len({event["event_id"] for event in jsonl.read(file)}) == 200
    assert len(file.read_text().splitlines()) == 200


@settings(deadline=None, max_examples=25)
@given(st.randoms(use_true_random=False))
def test_run_state_does_not_depend_on_the_order_of_events(random: Any) -> None:
    events = [*run_events("a"), *run_events("b", status="failed"), *run_events("b", attempt=2)]
    expected = fold_runs(events)
    shuffled = [*events, *events[:4]]
    random.shuffle(shuffled)
    assert fold_runs(shuffled) == expected
    states = {state.run_id: state for state in expected}
    assert states["a"].status == states["b"].status == "published"
    assert (states["b"].attempt, states["b"].attempts) == (2, 2)
    assert states["a"].snapshot_id == str(2**60)
    assert (states["a"].rows_read, states["a"].rows_written, states["a"].checks) == (3, 3, 2)
    assert states["a"].to_dict()["pipeline"] == "rides"


def test_a_killed_run_is_running_and_a_failed_one_says_why() -> None:
    assert fold_runs(run_events("a")[:2])[0].status == "running"
    failed = fold_runs(run_events("a", status="failed"))[0]
    assert (failed.status, failed.error) == ("failed", "no")
    assert fold_runs(run_events("a", status="blocked_quality"))[0].status == "blocked_quality"


def test_the_model_imports_nothing_heavy() -> None:
    code = (
        "import sys, ldp_core.events.model as m, ldp_core.events.fold, ldp_core.events.null;"
        "assert not {'pyarrow', 'pyiceberg', 'duckdb', 'sqlalchemy', 'yaml', 'filelock'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_held_events_go_out_in_order_and_together_where_the_sink_can() -> None:
    single: list[Any] = []
    calls: list[list[Any]] = []

    class Whole:
        def __call__(self, event: Any) -> None:
            raise AssertionError("one by one")

        def together(self, events: Any) -> None:
            calls.append([event["type"] for event in events])

    def bad(event: Any) -> None:
        raise RuntimeError("no")

    warned: list[str] = []
    sinks = [("bad", bad), ("single", single.append), ("whole", Whole())]
    emitter = Emitter(sinks, "r", warn=warned.append)  # type: ignore[arg-type]
    emitter.hold()
    emitter.emit("run.started")
    assert single == calls == []
    emitter.emit("run.skipped_duplicate")
    emitter.let_go()
    emitter.emit("run.finished")
    emitter.close()
    assert [(event["type"], event["seq"]) for event in single] == [
        ("run.started", 0),
        ("run.skipped_duplicate", 1),
        ("run.finished", 2),
    ]
    assert calls == [["run.started", "run.skipped_duplicate"], ["run.finished"]]
    assert len(warned) == 1


def test_closing_lets_held_events_go() -> None:
    found: list[Any] = []
    emitter = Emitter([("list", found.append)], "r", warn=pytest.fail)  # type: ignore[list-item]
    emitter.hold()
    emitter.emit("run.started")
    emitter.close()
    assert [event["type"] for event in found] == ["run.started"]
