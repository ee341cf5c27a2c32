"""The events of real runs: complete, folded by the names they carry, and without any value of the data."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core import registry
from ldp_core.config import Config
from ldp_core.errors import CommitConflict, DataQualityError, DriftError, LDPError, SourceNotFound
from ldp_core.events import jsonl
from ldp_core.events.fold import fold_attempts, fold_runs
from ldp_core.events.model import make_event
from ldp_core.plan.build import build
from ldp_core.run.context import RunOptions
from ldp_core.run.observe import Part, error_text
from ldp_core.run.registered import run_config
from ldp_core.run.runner import execute
from ldp_core.targets.formats import Iceberg

Project = Callable[..., Path]
LEDGER = Path(".ldp/events.jsonl")
DAY = "2026-08-01/2026-08-02"
WINDOW = {"size": "day", "column": "pickup_ts"}
needs_quality = pytest.mark.skipif(
    registry.find("ldp.gates", "quality") is None, reason="needs ldp-quality, which brings the gate"
)


def events() -> list[dict[str, Any]]:
    return list(jsonl.read(LEDGER))


def types() -> list[str]:
    return [event["type"] for event in events()]


def test_a_plain_run_writes_no_ledger(project: Project) -> None:
    run_config(project())
    assert not LEDGER.exists()


def test_a_keyed_run_writes_the_ledger_beside_its_config(project: Project, tmp_path: Path) -> None:
    path = project(window=WINDOW)
    result = run_config(path, window=DAY)
    assert types() == [
        "run.started", "run.extracted", "quality.evaluated", "run.published", "run.finished",
    ]  # fmt: skip
    started, extracted, evaluated, published, finished = (event["payload"] for event in events())
    assert started == {
        "pipeline": "c",
        "window": {"start": "2026-08-01T00:00:00Z", "end": "2026-08-02T00:00:00Z"},
        "idempotency_key": result.keyed.key if result.keyed else None,
        "spec_hash": result.spec_hash,
        "source": {"format": "CSV", "name": "rides", "path": str(tmp_path / "r.csv")},
        "target": {
            "format": "ICEBERG",
            "name": "rides",
            "table": "nyc.rides",
            "catalog": {"type": "local", "place": str(tmp_path / "wh")},
        },
        "mode": "append",
    }
    assert extracted == {
        "pipeline": "c",
        "rows_read": 3,
        "rows_kept": 1,
        "schema": [
            {"name": "ride_id", "type": "int64"},
            {"name": "pickup_ts", "type": "timestamp[us]"},
            {"name": "fare", "type": "double"},
        ],
    }
    told = {"checks": 0, "failed": 0, "passed": True, "blocks": False, "results": []}
    assert evaluated == {"pipeline": "c", **told}
    assert published["rows_written"] == published["rows_in"] == 1
    assert published["snapshot_id"] == str(result.write_result.snapshot_id)
    assert finished["status"] == "published"
    assert {event["table_uuid"] for event in events()[:3]} == {None}
    uuid = str(Iceberg("rides", {"identifier": "nyc", "warehouse_path": "wh"}).table().metadata.table_uuid)
    assert [event["table_uuid"] for event in events()[3:]] == [uuid, uuid]


def test_a_keyed_run_writes_one_ledger_once(project: Project) -> None:
    run_config(project(window=WINDOW, observability={"sinks": ["jsonl"]}), window=DAY)
    assert len(events()) == 5


def test_a_ledger_of_the_config_stands_beside_the_one_of_keyed_runs(project: Project) -> None:
    sinks = {"sinks": [{"type": "jsonl", "path": "own.jsonl"}]}
    run_config(project(window=WINDOW, observability=sinks), window=DAY)
    assert list(jsonl.read(Path("own.jsonl"))) == events()


def test_a_run_whose_key_is_published_says_so(project: Project) -> None:
    path = project(window=WINDOW)
    first = run_config(path, window=DAY)
    second = run_config(path, window=DAY)
    assert types()[5:] == ["run.started", "run.skipped_duplicate", "run.finished"]
    state = fold_runs(events())[0]
    assert (state.run_id, state.status) == (second.run_id, "skipped_duplicate")
    assert state.snapshot_id == str(first.write_result.snapshot_id)
    assert state.idempotency_key == events()[0]["payload"]["idempotency_key"]


def test_a_keyed_run_that_may_not_begin_is_recorded(project: Project) -> None:
    path = project(window=WINDOW)
    run_config(path, window=DAY)
    with pytest.raises(LDPError):
        run_config(path, window="2026-08-01T12:00:00/2026-08-02T12:00:00")
    assert types()[5:] == ["run.started", "run.failed", "run.finished"]
    assert fold_runs(events())[0].code == "window_overlap"


def test_real_runs_fold_to_what_they_said(project: Project) -> None:
    path = project(observability={"sinks": ["jsonl"]})
    results = [run_config(path) for _ in range(2)]
    Path("r.csv").unlink()
    with pytest.raises(SourceNotFound):
        run_config(path, run_id="again")
    failed, *published = fold_runs(events())
    assert (failed.run_id, failed.status, failed.code, failed.retriable) == (
        "again", "failed", "source_not_found", True,
    )  # fmt: skip
    for state, result in zip(published, results[::-1], strict=True):
        assert state.to_dict() == {
            "run_id": result.run_id,
            "attempt": 1,
            "attempts": 1,
            "pipeline": "c",
            "workflow": None,
            "task": None,
            "status": "published",
            "started": state.started,
            "finished": state.finished,
            "duration_s": state.duration_s,
            "rows_read": 3,
            "rows_kept": 3,
            "rows_written": 3,
            "rows_quarantined": 0,
            "checks": 0,
            "checks_failed": 0,
            "snapshot_id": str(result.write_result.snapshot_id),
            "table_uuid": state.table_uuid,
            "target": "nyc.rides",
            "mode": "append",
            "window_start": None,
            "window_end": None,
            "idempotency_key": None,
            "spec_hash": result.spec_hash,
            "error": None,
            "code": None,
            "retriable": None,
        }
        assert state.started < state.finished
        assert abs(state.duration_s - result.duration_s) < 1


def test_attempts_fold_one_by_one(project: Project) -> None:
    path = project(window=WINDOW)
    Path("r.csv").rename("away.csv")
    with pytest.raises(SourceNotFound):
        run_config(path, window=DAY, run_id="r")
    Path("away.csv").rename("r.csv")
    run_config(path, window=DAY, run_id="r", attempt=2)
    assert [(s.attempt, s.status) for s in fold_attempts(events())] == [(2, "published"), (1, "failed")]
    last = fold_runs(events())
    assert [(s.attempt, s.attempts, s.status) for s in last] == [(2, 2, "published")]


def test_a_rollback_shows_in_the_runs_that_it_undid(project: Project) -> None:
    path = project(observability={"sinks": ["jsonl"]})
    first, second = (run_config(path) for _ in range(2))
    undone = {"operation": "rollback", "snapshots": [str(second.write_result.snapshot_id)]}
    jsonl.append(LEDGER, make_event("table.maintained", undone, run_id="m"))
    states = {state.run_id: state.status for state in fold_runs(events())}
    assert states == {first.run_id: "published", second.run_id: "rolled_back"}


def test_a_run_that_is_made_again_after_a_rollback_is_published(project: Project) -> None:
    path = project(window=WINDOW)
    first = run_config(path, window=DAY, run_id="r")
    undone = {"operation": "rollback", "snapshots": [str(first.write_result.snapshot_id)]}
    jsonl.append(LEDGER, make_event("table.maintained", undone, run_id="m"))
    second = run_config(path, window=DAY, run_id="r", idempotency_key="again")
    for order in (events(), events()[::-1]):
        (state,) = fold_runs(order)
        assert (state.status, state.attempts) == ("published", 1)
        assert state.snapshot_id == str(second.write_result.snapshot_id)
        assert state.idempotency_key == "again"


def test_an_attempt_that_is_made_again_keeps_nothing_of_the_one_before(project: Project) -> None:
    path = project(window=WINDOW)
    Path("r.csv").rename("away.csv")
    with pytest.raises(SourceNotFound):
        run_config(path, window=DAY, run_id="r")
    Path("away.csv").rename("r.csv")
    run_config(path, window=DAY, run_id="r")
    (state,) = fold_attempts(events()[::-1])
    assert (state.status, state.rows_written, state.error, state.code) == ("published", 1, None, None)


@pytest.mark.parametrize("old", [False, True])
def test_runs_of_two_configs_under_one_id_stay_apart(project: Project, old: bool) -> None:
    """Also in a ledger of a version that named the pipeline in the first event alone."""
    for name in ("a", "b"):
        path = project(name, target={"name": name}, window=WINDOW)
        run_config(path, window=DAY, run_id="job")
    run_config(path, window="2026-08-02/2026-08-03", run_id="job", attempt=2)
    found = events()
    if old:
        for event in found:
            if event["type"] != "run.started":
                del event["payload"]["pipeline"]
    for order in (found, found[::-1]):
        runs = fold_runs(order)
        told = [(s.run_id, s.pipeline, s.target, s.attempt, s.attempts, s.rows_written) for s in runs]
        assert told == [("job", "b", "nyc.b", 2, 2, 2), ("job", "a", "nyc.a", 1, 1, 1)]
        assert [(s.pipeline, s.attempt) for s in fold_attempts(order)] == [("b", 2), ("b", 1), ("a", 1)]


def test_two_configs_that_run_at_one_time_under_one_id_stay_apart(project: Project) -> None:
    for name in ("a", "b"):
        run_config(project(name, target={"name": name}, window=WINDOW), window=DAY, run_id="job")
    found = events()
    mixed = [event for pair in zip(found[:5], found[5:], strict=True) for event in pair]
    for number, event in enumerate(mixed):
        event["ts"] = f"2026-08-01T12:00:{number:02}Z"
    states = {state.pipeline: state for state in fold_runs(mixed)}
    assert {name: (s.status, s.target) for name, s in states.items()} == {
        "a": ("published", "nyc.a"),
        "b": ("published", "nyc.b"),
    }
    assert states["a"].snapshot_id != states["b"].snapshot_id


def test_a_part_of_a_workflow_tells_the_workflow(project: Project) -> None:
    found: list[dict[str, Any]] = []
    part = Part("wf", "load", (("ledger", found.append),))  # type: ignore[arg-type]
    execute(build(Config.from_file(project())), RunOptions(part=part))
    assert {(event["payload"]["workflow"], event["payload"]["task"]) for event in found} == {("wf", "load")}
    state = fold_runs(found)[0]
    assert (state.workflow, state.task, state.pipeline, state.status) == ("wf", "load", "c", "published")
    assert not LEDGER.exists()


def test_a_workflow_folds_to_a_run_of_its_own() -> None:
    started = {"workflow": "wf", "window": {"start": "2026-08-01T00:00:00Z", "end": "2026-08-02T00:00:00Z"}}
    finished = {"workflow": "wf", "status": "succeeded", "duration_s": 1.5}
    state = fold_runs(
        [
            make_event("workflow.started", started, run_id="w"),
            make_event("workflow.finished", finished, run_id="w", seq=1),
        ]
    )[0]
    assert (state.pipeline, state.task, state.status) == ("wf", "(workflow)", "succeeded")
    assert (state.window_start, state.duration_s) == ("2026-08-01T00:00:00Z", 1.5)


def test_columns_named_like_secrets_keep_their_types(project: Project) -> None:
    run_config(project(csv="id,token,password\n1,a,b\n", observability={"sinks": ["jsonl"]}))
    schema = events()[1]["payload"]["schema"]
    assert [column["type"] for column in schema] == ["int64", "string", "string"]


@needs_quality
def test_checks_are_told_by_name_kind_verdict_and_counts(project: Project) -> None:
    checks = [{"check": "range", "column": "fare", "min": 6}, {"check": "not_null", "columns": ["fare"]}]
    with pytest.raises(DataQualityError):
        run_config(project(quality=checks, observability={"sinks": ["jsonl"]}), run_id="r")
    told = events()[2]["payload"]
    assert (told["checks"], told["failed"], told["passed"], told["blocks"]) == (2, 1, False, True)
    assert told["engine"] == "duckdb"
    common = {"gate": "quality", "rows": 3, "severity": "error", "where": None}
    common |= {"scope": "batch", "base_snapshot": None}
    assert told["results"] == [
        {
            **{**common, "name": "range(fare)", "kind": "range", "status": "fail", "passed": False},
            **{"failing_rows": 1, "share": 1 / 3, "details": "1 of 3 rows"},
            "metrics": {"below_min": 1, "nan_count": 0, "null_count": 0},
        },
        {
            **{**common, "name": "not_null(fare)", "kind": "not_null", "status": "pass", "passed": True},
            **{"failing_rows": 0, "share": 0, "details": "", "metrics": {"null_counts.fare": 0}},
        },
    ]
    assert types()[3:] == ["run.blocked_quality", "run.finished"]
    state = fold_runs(events())[0]
    assert (state.status, state.checks, state.checks_failed) == ("blocked_quality", 2, 1)


MARKER = "zq7marker"
texts = st.text(alphabet="abcxyz0189 .:-", max_size=8)


@needs_quality
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(texts, min_size=1, max_size=5),
    place=st.integers(0, 4),
    kind=st.sampled_from(["accepted_values", "unique", "pattern", "drift", "transform", "engine"]),
    fatal=st.booleans(),
)
def test_no_event_holds_a_value_of_the_data(
    project: Project, values: list[str], place: int, kind: str, fatal: bool
) -> None:
    LEDGER.unlink(missing_ok=True)
    rows = [*values]
    rows.insert(min(place, len(rows)), MARKER)
    rows.append(MARKER)
    body = "k,v\n" + "".join(f'{n},"{value}"\n' for n, value in enumerate(rows))
    more: dict[str, Any] = {"observability": {"sinks": ["jsonl"]}}
    target: dict[str, Any] = {"name": f"t_{kind}"}
    if kind == "accepted_values":
        check = {"check": "accepted_values", "column": "v", "values": ["nothing"]}
        more["quality"] = {"on_failure": "fail" if fatal else "warn", "checks": [check]}
    elif kind == "unique":
        check = {"check": "unique", "columns": ["v"]}
        more["quality"] = {"on_failure": "fail" if fatal else "warn", "checks": [check]}
    elif kind == "pattern":
        check = {"check": "range", "column": "v", "min": "zzz"}
        more["quality"] = {"on_failure": "fail" if fatal else "warn", "checks": [check]}
    elif kind == "drift":
        run_config(project(csv="k,v\n1,2\n", target=target))
    elif kind == "transform":
        Path("steps.py").write_text("def bad(table):\n    raise OSError(str(table['v'].to_pylist()))\n")
        more["transforms"] = [{"python": "steps:bad", "input": "table"}]
    else:
        more["transforms"] = [{"sql": "SELECT k, CAST(v AS INTEGER) AS v FROM source"}]
    with contextlib.suppress(LDPError, OSError):
        run_config(project(csv=body, target=target, **more))
    text = LEDGER.read_text()
    assert types()[-1] == "run.finished"
    assert MARKER not in text


class OfAPlugin(LDPError):
    """What a plugin of somebody else found."""

    code = "plugin"


def test_the_text_of_an_error_that_may_quote_the_data_is_left_out() -> None:
    assert error_text(DriftError("row 3: 'secret value'")) == (
        "Data does not fit the table: a value that cannot be cast without loss, or a type that changes."
    )
    assert "secret" not in error_text(LDPError("the rows cannot be computed: secret", file="c.json"))
    assert error_text(OfAPlugin("secret")) == "What a plugin of somebody else found."
    assert error_text(CommitConflict("table t was dropped")) == "table t was dropped"
    assert (
        error_text(FileNotFoundError(2, "secret", "secret")) == "FileNotFoundError: No such file or directory"
    )
    assert error_text(ValueError("secret")) == "ValueError"


def test_an_event_is_json_that_any_reader_takes(project: Project) -> None:
    run_config(project(observability={"sinks": ["jsonl"]}))
    for line in LEDGER.read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)
        assert all(abs(n) <= 2**53 for n in _numbers(json.loads(line)))


def _numbers(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [n for item in value.values() for n in _numbers(item)]
    if isinstance(value, list):
        return [n for item in value for n in _numbers(item)]
    return [value] if isinstance(value, int) else []
