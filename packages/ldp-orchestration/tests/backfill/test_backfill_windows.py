"""A backfill runs what is left of a range, in order, and tells what became of each window."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ldp_core import run_config
from ldp_core.commands.rollback import rollback
from ldp_core.errors import ConfigError, Interrupted, LDPError
from ldp_orchestration.backfilled import BackfillResult
from ldp_orchestration.backfilling import backfill

RULE = [{"check": "not_null", "columns": ["id"]}]


def outcomes(result: BackfillResult) -> list[str | None]:
    return [one.outcome for one in result.windows]


def states(result: BackfillResult) -> list[str]:
    return [one.state for one in result.windows]


def test_the_same_range_again_does_what_is_left(lake: Any) -> None:
    lake.drops(4, missing=(1,))
    file = lake.pipeline()
    first = backfill(file, "2026-08-01", "2026-08-05")
    assert outcomes(first) == ["published", "failed", "published", "published"]
    assert (first.status, first.exit_code) == ("failed", 1)
    again = backfill(file, "2026-08-01", "2026-08-05")
    assert states(again) == ["published", "failed", "published", "published"]
    lake.drops(4)
    last = backfill(file, "2026-08-01", "2026-08-05")
    assert outcomes(last) == ["skipped", "published", "skipped", "skipped"]
    assert (last.status, last.exit_code) == ("succeeded", 0)
    assert [row["id"] for row in lake.rows()] == [0, 1, 2, 3]


def test_a_dry_run_tells_keys_and_states_and_creates_nothing(tmp_path: Path, lake: Any) -> None:
    lake.drops(3)
    file = lake.pipeline()
    before = sorted(tmp_path.rglob("*"))
    result = backfill(file, "2026-08-01", "2026-08-04", dry_run=True)
    assert sorted(tmp_path.rglob("*")) == before
    assert (result.status, result.exit_code, states(result)) == ("dry_run", 0, ["missing"] * 3)
    key = result.windows[0].keys["rides"]
    assert run_config(file, window=lake.days(1)[0]).keyed.key == key
    found = backfill(file, "2026-08-01", "2026-08-04", dry_run=True)
    assert states(found) == ["published", "missing", "missing"]
    assert outcomes(found) == [None] * 3


def test_without_an_end_the_range_ends_with_the_last_complete_window(lake: Any) -> None:
    lake.drops(5)
    now = datetime(2026, 8, 3, 15, tzinfo=UTC)
    result = backfill(lake.pipeline(), "2026-08-01", clock=lambda: now)
    assert [one.window for one in result.windows] == lake.days(2)


@pytest.mark.parametrize(
    ("start", "end", "options", "text"),
    [
        ("2026-08-03", "2026-08-01", {}, "the range has no window"),
        ("2026-08-01", "2026-08-05", {"max_windows": 3}, "more than 3"),
        ("2026-08-01T07:00", "2026-08-05", {}, "does not start a window of size day"),
        ("2026-08-01", "9999-12-31", {}, "9999-12-31T00:00:00Z, is too far away"),
        ("2026-08-01", "2026-08-05", {"jobs": 0}, "jobs must be a whole number from 1"),
        ("2026-08-01", "2026-08-03", {"replace": True}, "there is no metadata.window.column"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, lake: Any, start: str, end: str, options: dict[str, Any], text: str
) -> None:
    lake.drops(3)
    with pytest.raises(LDPError, match=text):
        backfill(lake.pipeline(), start, end, **options)
    assert not (tmp_path / "wh").exists()
    assert not (tmp_path / ".ldp").exists()


def test_a_config_with_problems_and_one_without_windows_are_refused(lake: Any) -> None:
    pytest.importorskip("ldp_quality")
    with pytest.raises(ConfigError, match=r"metadata\.window\.size"):
        backfill(lake.pipeline(window="none"), "2026-08-01", "2026-08-03")
    lake.pipeline(quality=[{"check": "no_such_check"}])
    file = lake.workflow([{"id": "a", "pipeline": "rides.json"}])
    with pytest.raises(ConfigError, match="no_such_check"):
        backfill(file, "2026-08-01", "2026-08-03", dry_run=True)


def test_the_newest_window_first(lake: Any) -> None:
    lake.drops(3)
    heard: list[tuple[str, int, int]] = []
    result = backfill(
        lake.pipeline(),
        "2026-08-01",
        "2026-08-04",
        run_backwards=True,
        on_window=lambda one, number, total: heard.append((str(one.outcome), number, total)),
    )
    assert [one.window for one in result.windows] == lake.days(3)[::-1]
    assert heard == [("published", 1, 3), ("published", 2, 3), ("published", 3, 3)]


@pytest.mark.parametrize("how", ["failed", "blocked"])
def test_it_stops_at_the_first_window_that_failed_or_was_blocked(tmp_path: Path, lake: Any, how: str) -> None:
    pytest.importorskip("ldp_quality", reason="its gate blocks the rows")
    lake.drops(4, missing=(1,))
    if how == "blocked":
        (tmp_path / "rides_2026-08-02.csv").write_text("id,ts\n,2026-08-02 10:00:00\n9,2026-08-02 10:00:00\n")
    file = lake.pipeline(quality=RULE)
    result = backfill(file, "2026-08-01", "2026-08-05", stop_on_failure=True, jobs=4)
    assert outcomes(result) == ["published", how, None, None]
    assert result.exit_code == {"failed": 1, "blocked": 3}[how]
    assert (result.not_run, len(result.notes)) == (2, 1)
    assert "stop-on-failure" in result.notes[0]
    lake.drops(4)
    again = backfill(file, "2026-08-01", "2026-08-05", stop_on_failure=True)
    assert outcomes(again) == ["skipped", "published", "published", "published"]
    assert states(again) == ["published", how, "missing", "missing"]


def test_only_what_was_missed(lake: Any) -> None:
    lake.drops(4, missing=(1,))
    file = lake.pipeline()
    backfill(file, "2026-08-01", "2026-08-03")
    lake.drops(4)
    result = backfill(file, "2026-08-01", "2026-08-05", only_missed=True)
    assert states(result) == ["published", "failed", "missing", "missing"]
    assert outcomes(result) == ["skipped", None, "published", "published"]
    assert (result.exit_code, result.not_run) == (0, 1)


def test_a_window_is_partial_when_the_ledger_is_gone_and_a_key_is_there(tmp_path: Path, lake: Any) -> None:
    for name in ("a", "b"):
        lake.pipeline(name)
    lake.drops(2, "a")
    lake.drops(2, "b", missing=(1,))
    tasks = [{"id": "a", "pipeline": "a.json"}, {"id": "b", "pipeline": "b.json", "depends_on": ["a"]}]
    file = lake.workflow(tasks)
    backfill(file, "2026-08-01", "2026-08-03")
    assert states(backfill(file, "2026-08-01", "2026-08-03", dry_run=True)) == ["published", "failed"]
    shutil.rmtree(tmp_path / ".ldp")
    assert states(backfill(file, "2026-08-01", "2026-08-03", dry_run=True)) == ["published", "partial"]
    lake.drops(2, "b")
    result = backfill(file, "2026-08-01", "2026-08-03", only_missed=True)  # the ledger has no run of it
    assert outcomes(result) == ["skipped", "published"]
    ran = result.windows[1].result
    assert ran is not None
    assert [task.status for task in ran.tasks] == ["skipped_duplicate", "published"]


def test_a_file_is_vouched_for_by_the_ledger_and_a_new_task_makes_the_window_undone(lake: Any) -> None:
    lake.drops(2)
    lake.pipeline()
    out = {"name": "out", "format": "CSV", "path": "out.csv"}
    lake.pipeline("out", path="rides_{window_start:%Y-%m-%d}.csv", target=out)
    tasks = [{"id": "a", "pipeline": "rides.json"}, {"id": "out", "pipeline": "out.json"}]
    file = lake.workflow(tasks)
    backfill(file, "2026-08-01", "2026-08-02")
    assert states(backfill(file, "2026-08-01", "2026-08-02", dry_run=True)) == ["published"]
    more = lake.workflow([*tasks, {"id": "more", "pipeline": "out.json"}])
    found = backfill(more, "2026-08-01", "2026-08-03", jobs=2)
    assert states(found) == ["partial", "missing"]
    assert outcomes(found) == ["published", "published"]
    assert "task 'out' may not run for several windows at once" in found.notes[0]


def test_a_window_is_replaced_once_for_a_config_as_it_is(tmp_path: Path, lake: Any) -> None:
    window = {"size": "day", "column": "ts"}
    lake.drops(2)
    file = lake.pipeline(window=window)
    backfill(file, "2026-08-01", "2026-08-03")
    (tmp_path / "rides_2026-08-01.csv").write_text("id,ts\n7,2026-08-01 10:00:00\n")
    look = backfill(file, "2026-08-01", "2026-08-03", replace=True, dry_run=True)
    assert states(look) == ["missing", "missing"]
    assert outcomes(backfill(file, "2026-08-01", "2026-08-03", replace=True)) == ["published", "published"]
    assert [row["id"] for row in lake.rows()] == [1, 7]
    again = backfill(file, "2026-08-01", "2026-08-03", replace=True)
    assert (states(again), outcomes(again)) == (["published"] * 2, ["skipped"] * 2)
    other = lake.pipeline(window=window, transforms=[{"sql": "SELECT id + 1 AS id, ts FROM source"}])
    assert outcomes(backfill(other, "2026-08-01", "2026-08-03", replace=True)) == ["published", "published"]
    assert [row["id"] for row in lake.rows()] == [2, 8]


@pytest.mark.parametrize("more", [0, 12], ids=["singly", "folded"])
def test_a_window_that_was_only_ever_replaced_is_published_and_no_append_doubles_it(
    tmp_path: Path, lake: Any, more: int
) -> None:
    end = f"2026-08-{3 + more:02}"
    lake.drops(3 + more)
    file = lake.pipeline(window={"size": "day", "column": "ts"})
    assert set(outcomes(backfill(file, "2026-08-01", end, replace=True))) == {"published"}
    plain = backfill(file, "2026-08-01", f"2026-08-{4 + more:02}")
    assert outcomes(plain) == ["skipped"] * (2 + more) + ["published"]
    assert run_config(file, window="2026-08-01/2026-08-02").status == "skipped_duplicate"
    assert len(lake.rows()) == 3 + more
    changed = lake.pipeline(window={"size": "day", "column": "ts"}, transforms=[{"sql": "FROM source"}])
    assert set(outcomes(backfill(changed, "2026-08-01", end, replace=True))) == {"published"}
    assert len(lake.rows()) == 3 + more


def test_a_replacement_that_is_rolled_back_frees_its_window(lake: Any) -> None:
    lake.drops(2)
    file = lake.pipeline(window={"size": "day", "column": "ts"})
    backfill(file, "2026-08-01", "2026-08-02")
    first = run_config(file, window="2026-08-01/2026-08-02").published_in
    backfill(file, "2026-08-02", "2026-08-03", replace=True)
    assert states(backfill(file, "2026-08-01", "2026-08-03", dry_run=True)) == ["published"] * 2
    assert CliRunner().invoke(rollback, [str(file), "--snapshot", str(first), "--yes"]).exit_code == 0
    assert states(backfill(file, "2026-08-01", "2026-08-03", dry_run=True)) == ["published", "missing"]


def test_an_unexpected_error_is_the_end_of_a_window_and_not_of_the_others(
    lake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.drops(3)
    monkeypatch.setattr("ldp_orchestration.backfilling.run_workflow", _failing_once())
    result = backfill(lake.pipeline(), "2026-08-01", "2026-08-04")
    assert outcomes(result) == ["failed", "published", "published"]
    assert result.windows[0].error == "ValueError: no"
    assert result.windows[0].to_dict()["tasks"] is None


def _failing_once() -> Callable[..., Any]:
    from ldp_orchestration.run import run_workflow

    calls: list[object] = []

    def run(*args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == 1:
            raise ValueError("no")
        return run_workflow(*args, **options)

    return run


def test_an_interrupt_ends_it_and_the_same_call_goes_on(lake: Any) -> None:
    lake.drops(3)
    file = lake.pipeline()

    def stop(one: object, number: int, total: int) -> None:
        raise Interrupted("stop")

    with pytest.raises(Interrupted):
        backfill(file, "2026-08-01", "2026-08-04", on_window=stop)
    assert outcomes(backfill(file, "2026-08-01", "2026-08-04")) == ["skipped", "published", "published"]


def test_days_of_a_clock_change_are_windows_like_others(tmp_path: Path, lake: Any) -> None:
    for stamp in ("2026-03-28", "2026-03-29", "2026-03-30"):
        (tmp_path / f"rides_{stamp}.csv").write_text(f"id,ts\n1,{stamp} 10:00:00\n")
    file = lake.pipeline(window={"size": "day", "timezone": "Europe/Paris"})
    result = backfill(file, "2026-03-28", "2026-03-31")
    assert outcomes(result) == ["published"] * 3
    assert [one.window.length for one in result.windows] == [timedelta(hours=h) for h in (24, 23, 24)]
