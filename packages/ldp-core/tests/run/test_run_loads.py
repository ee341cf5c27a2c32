"""One load: what is published, what the snapshot says, what stays when it is not published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_core import registry
from ldp_core.config import Config
from ldp_core.errors import ConfigError, DataQualityError, LDPError, NoData, SourceNotFound
from ldp_core.run.registered import run_config
from ldp_core.targets.formats import Iceberg

Project = Callable[..., Path]
needs_quality = pytest.mark.skipif(
    registry.find("ldp.gates", "quality") is None, reason="needs ldp-quality, which brings the gate"
)


def table(name: str = "rides") -> Iceberg:
    return Iceberg(name, {"identifier": "nyc", "warehouse_path": "wh"})


def data_files() -> list[Path]:
    return sorted(Path("wh").rglob("*.parquet"))


def test_the_snapshot_reconciles_the_rows_of_an_upsert(project: Project) -> None:
    upsert = {"write_mode": "upsert", "join_cols": ["id"], "dedupe": "last"}
    run_config(project(csv="id,v\n1,a\n2,b\n", target=upsert))
    result = run_config(project(csv="id,v\n1,a\n2,x\n2,y\n3,c\n", target=upsert))

    assert (result.rows_read, result.rows_in, result.rows_written) == (4, 4, 2)
    assert (result.write_result.rows_unchanged, result.write_result.rows_deduplicated) == (1, 1)
    summary = table().snapshots()[-1]["summary"]
    assert {key: value for key, value in summary.items() if key.startswith("ldp.")} == {
        "ldp.run-id": result.run_id,
        "ldp.attempt": "1",
        "ldp.pipeline": "c",
        "ldp.spec-hash": result.spec_hash,
        "ldp.rows-read": "4",
        "ldp.rows-kept": "4",
        "ldp.rows-in": "4",
        "ldp.rows-written": "2",
        "ldp.rows-unchanged": "1",
        "ldp.rows-quarantined": "0",
        "ldp.rows-deduplicated": "1",
    }
    rows = sorted(table().get().to_pylist(), key=lambda row: row["id"])
    assert rows == [{"id": 1, "v": "a"}, {"id": 2, "v": "y"}, {"id": 3, "v": "c"}]


@needs_quality
def test_a_blocked_batch_leaves_nothing_behind(project: Project) -> None:
    quality = {"on_failure": "fail", "checks": [{"check": "range", "column": "fare", "min": 6}]}
    with pytest.raises(DataQualityError) as caught:
        run_config(project(quality=quality))
    assert caught.value.report.to_dict()["failed"] == 1
    assert not table().exists()
    assert data_files() == []

    run_config(project())
    before = (data_files(), [item["snapshot_id"] for item in table().snapshots()])
    with pytest.raises(DataQualityError):
        run_config(project(quality=quality))
    assert (data_files(), [item["snapshot_id"] for item in table().snapshots()]) == before


@needs_quality
def test_warn_publishes_and_says_so(project: Project) -> None:
    quality = {"on_failure": "warn", "checks": [{"check": "range", "column": "fare", "min": 6}]}
    result = run_config(project(quality=quality))
    assert (result.status, result.rows_written) == ("published", 3)
    assert result.quality is not None
    assert result.quality.to_dict()["passed"] is False
    assert any("range(fare)" in line for line in result.warnings)


@needs_quality
def test_the_gate_speaks_before_an_empty_batch_is_refused(project: Project) -> None:
    header = "ride_id,pickup_ts,fare\n"
    with pytest.raises(DataQualityError):
        run_config(project(csv=header, quality=[{"check": "row_count", "min": 1}]))
    with pytest.raises(NoData, match="No data to write"):
        run_config(project(csv=header))
    assert not table().exists()


def test_a_memory_limit_that_is_no_size_is_one_line(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LDP_MEMORY_LIMIT", "lots")
    with pytest.raises(LDPError, match="LDP_MEMORY_LIMIT: 'lots' is no size; write one such as 400MB"):
        run_config(project())


def test_types_are_mended_when_late_values_do_not_hold(project: Project) -> None:
    lines = [f"{number},{number}" for number in range(60_000)]
    lines += ["60000,2.5", "60001,x1"] * 600
    result = run_config(project(csv="id,v\n" + "\n".join(lines) + "\n"))
    assert result.rows_written == 61_200
    kinds = {field.name: str(field.type) for field in table().get().schema}
    assert kinds["id"] == "int64"
    assert "string" in kinds["v"]


def test_transforms_run_in_order_and_the_source_is_counted(project: Project) -> None:
    Path("more.py").write_text(
        "import pyarrow as pa, pyarrow.compute as pc\n"
        "def double(batches):\n"
        "    for batch in batches:\n"
        "        at = batch.schema.get_field_index('fare')\n"
        "        yield batch.set_column(at, 'fare', pc.multiply(batch.column(at), 2.0))\n"
    )
    steps = [
        {"sql": "SELECT ride_id, fare, fare > 8 AS dear FROM source WHERE ride_id > 1"},
        {"python": "more:double"},
    ]
    result = run_config(project(transforms=steps))
    assert (result.rows_read, result.rows_in, result.rows_written) == (3, 2, 2)
    assert sorted(table().get().to_pylist(), key=lambda row: row["ride_id"]) == [
        {"ride_id": 2, "fare": 15.0, "dear": False},
        {"ride_id": 3, "fare": 18.0, "dear": True},
    ]


def test_a_transform_that_breaks_is_one_clear_line(project: Project) -> None:
    with pytest.raises(LDPError) as caught:
        run_config(
            project(
                transforms=[
                    {"sql": "SELECT CASE WHEN ride_id > 1 THEN error('no good') ELSE 1 END AS a FROM source"}
                ]
            )
        )
    assert "no good" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not table().exists()


@needs_quality
def test_any_name_of_a_column_works_from_end_to_end(project: Project) -> None:
    names = ['a"b', "sélect", "from", "a b", "__row", "c1", "'; DROP TABLE x; --", "*", "1"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    row = ",".join(str(number) for number in range(len(names)))
    quality = [{"check": "not_null", "columns": names}, {"check": "unique", "columns": ["__row"]}]
    result = run_config(project(csv=f"{header}\n{row}\n", quality=quality))
    assert result.quality is not None
    assert result.quality.to_dict()["passed"], result.quality.summary()
    assert table().get().to_pylist() == [dict(zip(names, range(len(names)), strict=True))]


def test_a_failing_sink_is_a_warning(project: Project) -> None:
    Path("occupied").write_text("a file, so no folder can be made here")
    sinks = {"sinks": ["jsonl"], "jsonl": {"path": "occupied/events.jsonl"}}
    result = run_config(project(observability=sinks))
    assert result.status == "published"
    assert any("jsonl" in line for line in result.warnings)


@needs_quality
def test_events_tell_the_run_without_its_rows(project: Project) -> None:
    result = run_config(
        project(observability={"sinks": ["jsonl"]}, quality=[{"check": "row_count", "min": 1}])
    )
    Path("r.csv").unlink()
    with pytest.raises(SourceNotFound):
        run_config(Path("c.json"))
    events = [json.loads(line) for line in Path(".ldp/events.jsonl").read_text().splitlines()]
    assert [event["type"] for event in events] == [
        "run.started",
        "run.extracted",
        "quality.evaluated",
        "run.published",
        "run.finished",
        "run.started",
        "run.failed",
        "run.finished",
    ]
    assert [event["seq"] for event in events] == [0, 1, 2, 3, 4, 0, 1, 2]
    assert {event["run_id"] for event in events[:5]} == {result.run_id}
    assert events[3]["payload"]["snapshot_id"] == str(result.write_result.snapshot_id)
    assert events[4]["payload"]["status"] == "published"
    assert events[6]["payload"] == {
        "pipeline": events[0]["payload"]["pipeline"],
        "error": "CSV file not found: r.csv",
        "code": "source_not_found",
        "retriable": True,
    }


def test_scratch_and_spill_are_gone_after_every_run(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    run_config(project())
    with pytest.raises(NoData):
        run_config(project(csv="a\n"))
    assert list(scratch.iterdir()) == []


def test_every_problem_is_told_at_once_and_nothing_is_made(project: Project) -> None:
    config = project(target={"write_mod": "append", "write_mode": "upsert"}, qualty=[])
    with pytest.raises(ConfigError) as caught:
        run_config(config)
    keys = {problem.key for problem in caught.value.problems}
    assert {"metadata.target.write_mod", "metadata.target.join_cols", "metadata.qualty"} <= keys
    assert not Path("wh").exists()


def test_a_gate_that_is_not_installed_refuses_the_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldp_core import registry

    real = registry.find
    monkeypatch.setattr(
        registry,
        "find",
        lambda group, *rest, **more: None if group == "ldp.gates" else real(group, *rest, **more),
    )
    with pytest.raises(ConfigError, match="quality") as caught:
        run_config(project(quality=[{"check": "row_count", "min": 1}]))
    assert "pip install ldp-quality" in str(caught.value)


@pytest.mark.parametrize("target", ["CSV", "PARQUET", "JSONL"])
def test_a_table_goes_back_to_a_file(project: Project, target: str) -> None:
    run_config(project())
    body: dict[str, Any] = {
        "identifier": "out",
        "metadata": {
            "source": {
                "name": "rides",
                "format": "ICEBERG",
                "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
            },
            "target": {"name": "o", "format": target, "path": "out/o.file"},
        },
    }
    result = run_config(Config.from_dict(body, base_dir=Path.cwd()))
    assert (result.rows_read, result.rows_written, result.write_result.snapshot_id) == (3, 3, None)
    assert Path("out/o.file").stat().st_size > 0
