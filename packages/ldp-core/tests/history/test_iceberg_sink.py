"""The Iceberg sink: a row a run and a row a check, in real types, in few commits, never in the way."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core import registry
from ldp_core.catalogs.access import open_catalog
from ldp_core.config import Config
from ldp_core.errors import ConfigError, SourceNotFound
from ldp_core.events import batch
from ldp_core.events.model import Emitter
from ldp_core.plan.build import build
from ldp_core.run.many import run_all
from ldp_core.run.registered import run_config
from ldp_core.sinks.append import append
from ldp_core.sinks.history import read_runs
from ldp_core.sinks.iceberg import SINK
from ldp_core.sinks.rows import QUALITY_RESULTS, RUNS, schemas
from ldp_core.spi import Spec
from ldp_core.tables.write import write_files
from pyiceberg.types import StringType

Project = Callable[..., Path]
SINKS = {"sinks": ["iceberg"]}
DAY = "2026-08-01/2026-08-02"
WINDOW = {"size": "day", "column": "pickup_ts"}
needs_quality = pytest.mark.skipif(
    registry.find("ldp.gates", "quality") is None, reason="needs ldp-quality, which brings the gate"
)


def catalog(folder: str = "wh") -> Spec:
    return Spec({"type": "local", "identifier": "nyc", "warehouse_path": folder}, Path.cwd())


def table(name: str, space: str = "_ldp", folder: str = "wh") -> Any:
    return open_catalog(catalog(folder)).load_table((space, name))


def rows(name: str, **where: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table(name, **where).scan().to_arrow().to_pylist()
    return sorted(found, key=lambda row: (row.get("started") or row.get("evaluated"), str(row.get("name"))))


def test_one_row_an_attempt_in_real_types(project: Project) -> None:
    path = project(window=WINDOW, observability=SINKS)
    first = run_config(path, window=DAY)
    run_config(path, window=DAY)
    published, skipped = rows(RUNS)
    assert published["snapshot_id"] == skipped["snapshot_id"] == first.write_result.snapshot_id
    assert (published["status"], skipped["status"]) == ("published", "skipped_duplicate")
    assert (published["rows_read"], published["rows_kept"], published["rows_written"]) == (3, 1, 1)
    assert published["window_start"] == datetime(2026, 8, 1, tzinfo=UTC)
    assert published["window_end"] == datetime(2026, 8, 2, tzinfo=UTC)
    assert published["started"] < published["finished"] <= skipped["started"]
    assert published["target"] == "nyc.rides"
    assert published["table_uuid"] == first.write_result.table_uuid
    types = {field.name: str(field.field_type) for field in table(RUNS).schema().fields}
    assert {types[name] for name in ("started", "finished", "window_start", "window_end")} == {"timestamptz"}
    assert (types["snapshot_id"], types["rows_read"], types["attempt"]) == ("long", "long", "int")
    assert (types["duration_s"], types["retriable"]) == ("double", "boolean")


def test_configs_that_run_under_one_id_have_a_row_each(project: Project) -> None:
    configs = [
        Config.from_file(project(name, target={"name": name}, observability=SINKS)) for name in ("a", "b")
    ]
    outcomes = list(run_all(configs, run_id="job"))
    assert [outcome.error for outcome in outcomes] == [None, None]
    assert [(row["run_id"], row["pipeline"], row["target"]) for row in rows(RUNS)] == [
        ("job", "a", "nyc.a"),
        ("job", "b", "nyc.b"),
    ]
    for name in ("a", "b"):
        assert [state.target for state in read_runs(catalog(), "_ldp", name)] == [f"nyc.{name}"]


def test_events_of_two_configs_that_reach_one_sink_are_kept_apart(project: Project) -> None:
    project()
    sink = SINK.open(Spec({"catalog": dict(catalog().values)}, Path.cwd()))
    emitters = [Emitter([("iceberg", sink)], "job", warn=pytest.fail) for _ in range(2)]  # type: ignore[arg-type]
    for kind, more in (("run.started", {}), ("run.finished", {"status": "published"})):
        for name, emitter in zip(("a", "b"), emitters, strict=True):
            emitter.emit(kind, {"pipeline": name, **more})
    sink.flush()  # type: ignore[attr-defined]
    assert [(row["pipeline"], row["status"]) for row in rows(RUNS)] == [
        ("a", "published"),
        ("b", "published"),
    ]


def test_a_failed_run_has_its_row(project: Project) -> None:
    path = project(observability=SINKS)
    Path("r.csv").unlink()
    with pytest.raises(SourceNotFound):
        run_config(path)
    (row,) = rows(RUNS)
    assert (row["status"], row["code"], row["retriable"]) == ("failed", "source_not_found", True)
    assert row["rows_read"] is None


def test_a_failed_run_of_the_command_writes_its_row_before_it_ends(project: Project) -> None:
    path = project(observability=SINKS)
    Path("r.csv").unlink()
    ldp = Path(sys.executable).with_name("ldp")
    assert subprocess.run([ldp, "run", path], capture_output=True, timeout=60, check=False).returncode == 1
    assert [row["status"] for row in rows(RUNS)] == ["failed"]


@needs_quality
def test_one_row_a_check(project: Project) -> None:
    checks = [{"check": "range", "column": "fare", "min": 6}, {"check": "not_null", "columns": ["fare"]}]
    result = run_config(project(observability=SINKS, quality={"on_failure": "warn", "checks": checks}))
    found = rows(QUALITY_RESULTS)
    assert [(row["name"], row["kind"], row["passed"], row["failing_rows"]) for row in found] == [
        ("not_null(fare)", "not_null", True, 0),
        ("range(fare)", "range", False, 1),
    ]
    assert {(row["run_id"], row["severity"], row["rows"]) for row in found} == {(result.run_id, "warn", 3)}
    assert [(row["status"], row["share"], row["condition"], row["details"]) for row in found] == [
        ("pass", 0, None, ""),
        ("fail", pytest.approx(1 / 3), None, "1 of 3 rows"),
    ]
    assert (rows(RUNS)[0]["checks"], rows(RUNS)[0]["checks_failed"]) == (2, 1)


def test_several_configs_are_one_commit(project: Project) -> None:
    files = [project(name, target={"name": name}, observability=SINKS) for name in ("a", "b", "c")]
    outcomes = list(run_all([Config.from_file(file) for file in files]))
    assert [outcome.result.status for outcome in outcomes if outcome.result] == ["published"] * 3
    assert [row["pipeline"] for row in rows(RUNS)] == ["a", "b", "c"]
    assert len(table(RUNS).snapshots()) == 1


def test_a_batch_is_written_when_it_is_full(project: Project) -> None:
    options = {"sinks": [{"type": "iceberg", "batch_size": 2}]}
    path = project(observability=options)
    with batch.batched():
        for _ in range(3):
            run_config(path)
        assert len(rows(RUNS)) == 2
    assert len(rows(RUNS)) == 3
    assert len(table(RUNS).snapshots()) == 2


def test_the_sink_has_its_own_catalog_and_namespace(project: Project) -> None:
    other = {"type": "local", "identifier": "nyc", "warehouse_path": "other"}
    options = {"sinks": [{"type": "iceberg", "catalog": other, "namespace": "ops"}]}
    run_config(project(observability=options))
    assert len(rows(RUNS, space="ops", folder="other")) == 1


def test_a_catalog_by_name_is_that_of_the_environment(project: Project) -> None:
    Path("ldp.yaml").write_text(
        "catalogs:\n  log: {type: local, identifier: nyc, warehouse_path: dev}\n"
        "environments:\n  prod:\n    catalogs:\n"
        "      log: {type: local, identifier: nyc, warehouse_path: prod}\n"
    )
    path = project(observability={"sinks": [{"type": "iceberg", "catalog": "log"}]})
    run_config(Config.from_file(path, env="prod"))
    assert len(rows(RUNS, folder="prod")) == 1
    assert not Path("dev").exists()
    with pytest.raises(ConfigError, match="nolog"):
        build(Config.from_file(project(observability={"sinks": [{"type": "iceberg", "catalog": "nolog"}]})))


def test_a_sink_that_cannot_write_is_one_warning(project: Project) -> None:
    Path("blocked").write_text("a file, so no folder can be made here")
    broken = {"type": "local", "identifier": "nyc", "warehouse_path": "blocked"}
    options = {"sinks": ["jsonl", {"type": "iceberg", "catalog": broken}]}
    result = run_config(project(observability=options))
    assert result.status == "published"
    assert len([line for line in result.warnings if "iceberg" in line]) == 1
    assert len(Path(".ldp/events.jsonl").read_text().splitlines()) == 5


def test_a_sink_without_a_catalog_is_one_warning(project: Project) -> None:
    target = {"name": "out", "format": "CSV", "path": "out.csv"}
    path = project()
    body = json.loads(path.read_text())
    body["metadata"] |= {"target": target, "observability": SINKS}
    path.write_text(json.dumps(body))
    result = run_config(path)
    assert result.status == "published"
    assert [line for line in result.warnings if "no catalog" in line] == list(result.warnings)


def test_a_batch_that_cannot_be_written_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def flush() -> None:
        raise OSError("disk full")

    def sink(event: Any) -> None:
        del event

    sink.flush = flush  # type: ignore[attr-defined]
    with caplog.at_level(logging.WARNING, "ldp_core"), batch.batched(), batch.batched():
        for run in ("a", "b"):
            Emitter([("iceberg", sink)], run, warn=pytest.fail).close()  # type: ignore[arg-type]
        assert not caplog.messages
    assert caplog.messages == ["events do not reach the sink iceberg: disk full"]


def race(run_id: str, turns: int) -> list[int]:
    """Three processes append at once; their exit codes."""
    code = f"""if True:
        import sys
        from pathlib import Path
        from ldp_core.sinks.append import append
        from ldp_core.spi import Spec
        spec = Spec({{"type": "local", "identifier": "nyc", "warehouse_path": "wh"}}, Path.cwd())
        for turn in range({turns}):
            run_id = "{run_id}".format(n=sys.argv[1], turn=turn)
            append(spec, ("_ldp", "runs"), [{{"run_id": run_id, "attempt": 1}}])
    """
    workers = [subprocess.Popen([sys.executable, "-c", code, str(n)]) for n in range(3)]
    return [worker.wait() for worker in workers]


def test_processes_make_the_tables_and_append_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert race("{n}-{turn}", turns=3) == [0] * 3
    found = {row["run_id"] for row in table(RUNS).scan().to_arrow().to_pylist()}
    assert found == {f"{n}-{turn}" for n in range(3) for turn in range(3)}
    files = {Path(f.file.file_path.removeprefix("file://")) for f in table(RUNS).scan().plan_files()}
    assert {path.resolve() for path in Path("wh").rglob("*.parquet")} == {path.resolve() for path in files}


def older(name: str, *columns: tuple[str, pa.DataType]) -> None:
    """A table as an older version made it."""
    opened = open_catalog(catalog(), create=True)
    opened.create_namespace_if_not_exists("_ldp")
    opened.create_table(("_ldp", name), pa.schema([("run_id", pa.string()), *columns]))


def test_a_table_of_another_version_gets_the_columns_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    older(RUNS, ("attempt", pa.int64()), ("later", pa.string()))
    made = table(RUNS)
    made.append(pa.table({"run_id": ["o"], "attempt": [1], "later": ["x"]}))
    append(catalog(), ("_ldp", RUNS), [{"run_id": "r", "attempt": 1, "status": "published"}])
    found = table(RUNS)
    assert len(found.snapshots()) == 2
    assert found.snapshots()[-1].schema_id == found.schema().schema_id
    assert found.schema().column_names == ["run_id", "attempt", "later", *schemas()[RUNS].names[2:]]
    told = sorted(found.scan().to_arrow().to_pylist(), key=lambda row: row["run_id"])
    assert [(row["run_id"], row["later"], row["status"]) for row in told] == [
        ("o", "x", None),
        ("r", None, "published"),
    ]
    append(catalog(), ("_ldp", RUNS), [{"run_id": "s", "attempt": 1}])
    assert len(table(RUNS).metadata.schemas) == 2


@needs_quality
def test_older_verdicts_get_the_newer_columns(project: Project) -> None:
    path = project(observability=SINKS, quality=[{"check": "not_null", "columns": ["fare"]}])
    older(QUALITY_RESULTS, ("attempt", pa.int32()), ("name", pa.string()), ("passed", pa.bool_()))
    run_config(path)
    (row,) = rows(QUALITY_RESULTS)
    assert (row["name"], row["passed"], row["status"], row["share"]) == ("not_null(fare)", True, "pass", 0)


def test_processes_add_the_columns_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    older(RUNS, ("attempt", pa.int32()))
    found = {f"{n}-{turn}" for n in range(3) for turn in range(2)}
    assert race("{n}-{turn}", turns=2) == [0] * 3
    assert {row["run_id"] for row in table(RUNS).scan().to_arrow().to_pylist()} == found
    assert len(table(RUNS).metadata.schemas) == 2


@pytest.mark.parametrize("added", ["status", "theirs"])
def test_columns_that_others_add_while_rows_are_written_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added: str
) -> None:
    monkeypatch.chdir(tmp_path)
    older(RUNS, ("attempt", pa.int32()))
    taken = []

    def write(*given: Any) -> Any:
        if not taken:
            taken.append(added)
            with table(RUNS).update_schema() as update:
                update.add_column(added, StringType())
        return write_files(*given)

    monkeypatch.setattr("ldp_core.sinks.append.write_files", write)
    append(catalog(), ("_ldp", RUNS), [{"run_id": "r", "attempt": 1, "status": "published"}])
    names = table(RUNS).schema().column_names
    assert sorted(names) == sorted({*schemas()[RUNS].names, added})
    (row,) = table(RUNS).scan().to_arrow().to_pylist()
    assert (row["run_id"], row["status"], row[added]) == (
        "r", "published", "published" if added == "status" else None,
    )  # fmt: skip


def test_history_reads_what_the_sink_wrote(project: Project) -> None:
    path = project(window=WINDOW, observability=SINKS)
    result = run_config(path, window=DAY)
    (state,) = read_runs(catalog(), "_ldp", "c")
    assert (state.run_id, state.status, state.snapshot_id) == (
        result.run_id, "published", str(result.write_result.snapshot_id),
    )  # fmt: skip
    assert state.window_start == "2026-08-01T00:00:00Z"
    assert read_runs(catalog(), "_ldp", "other") == []


def test_every_column_of_the_rows_is_one_of_the_table() -> None:
    assert "payloads" not in schemas()[RUNS].names
    assert SINK.shape.keys[0].name == "type"
