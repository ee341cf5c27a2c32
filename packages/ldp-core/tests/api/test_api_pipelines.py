"""Pipelines put together in Python go through the runner that configs go through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ldp_core
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from ldp_core import CSV, CommitContext, Iceberg, LDPError, Parquet, Pipeline, api
from ldp_core.errors import ConfigError, DataQualityError, PipelineNotFound, SourceNotFound, TableNotFound
from ldp_core.run import registered
from ldp_quality import NotNull, Range

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registered, "_ROUTES", {})


def config(**changes: Any) -> dict[str, Any]:
    return {
        "identifier": "rides",
        "metadata": {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {"name": "rides", "format": "ICEBERG", "catalog": CATALOG},
            **changes,
        },
    }


def half(rows: pa.Table) -> pa.Table:
    return rows.set_column(1, "fare", pc.divide(rows["fare"], 2.0))


def dear(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.greater(rows["fare"], 3.0))


def test_files_tables_and_functions_are_sources() -> None:
    rows = pa.table({"id": [1, 2], "fare": [5.0, 9.0]})
    assert Pipeline(source=rows, target=CSV("out", "out.csv")).run().rows_written == 2
    result = Pipeline(source=CSV("in", "out.csv"), target=Iceberg("rides", CATALOG)).run()
    assert (result.name, result.write_result.rows_after) == ("rides", 2)
    Pipeline(source=Iceberg("rides", CATALOG), target=Parquet("p", "p.parquet")).load()
    assert Parquet("p", "p.parquet").get().num_rows == 2
    made = Pipeline(source=lambda: rows, target=Iceberg("rides", CATALOG, write_mode="overwrite"))
    assert made.run(mode="append").write_result.rows_after == 4
    assert made.run().write_result.rows_after == 2


def test_transforms_and_checks_compose() -> None:
    rows = pa.table({"id": [1, 2, 3], "fare": [5.0, 9.0, 8.0]})
    pipeline = Pipeline(
        source=rows,
        target=Iceberg("rides", CATALOG),
        transforms=[half, dear],
        checks=[NotNull(["id"]), {"check": "range", "column": "fare", "max": 4.4}],
        name="mine",
    )
    assert pipeline.extract() == rows
    assert pipeline.transform(rows)["fare"].to_pylist() == [4.5, 4.0]
    with pytest.raises(DataQualityError):
        pipeline.validate(pipeline.transform(rows))
    with pytest.raises(DataQualityError):
        pipeline.run()
    assert not Iceberg("rides", CATALOG).exists()

    relaxed = Pipeline(
        source=rows, target=Iceberg("rides", CATALOG), checks=[Range("fare", max=6)], on_failure="warn"
    )
    result = relaxed.run()
    assert result.quality is not None
    assert (result.rows_written, result.quality.to_dict()["failed"]) == (3, 1)
    assert result.warnings
    assert result.to_dict()["write_result"]["snapshot_id"] == str(result.write_result.snapshot_id)


def test_python_stands_in_place_of_a_part_of_a_config() -> None:
    Path("r.csv").write_text("id,fare\n1,5.0\n2,9.0\n")
    base = config(quality=[{"check": "row_count", "min": 99}])
    with pytest.raises(DataQualityError):
        Pipeline(base).run()
    assert Pipeline(base, checks=[], transforms=[dear]).run().rows_written == 2
    assert ldp_core.create_pipeline(config()).run(mode="overwrite").write_result.rows_after == 2
    Path("r.csv").unlink()
    with pytest.raises(SourceNotFound):
        Pipeline(config()).run()


def test_parts_that_are_none_are_refused() -> None:
    with pytest.raises(ConfigError, match="source and a target"):
        Pipeline()
    with pytest.raises(ConfigError, match="is no source"):
        Pipeline(source=3, target=Iceberg("t", CATALOG)).run()
    with pytest.raises(ConfigError, match="is no target"):
        Pipeline(source=pa.table({"a": [1]}), target="x.csv").run()
    with pytest.raises(ConfigError, match="is no check"):
        Pipeline(source=pa.table({"a": [1]}), target=Iceberg("t", CATALOG), checks=["x"]).run()
    with pytest.raises(ConfigError, match="on_failure"):
        Pipeline(
            source=pa.table({"a": [1]}), target=Iceberg("t", CATALOG), checks=[NotNull(["a"])], on_failure="x"
        ).run()
    with pytest.raises(ConfigError):
        ldp_core.create_pipeline(config(qualty=[]))


def test_a_route_of_ones_own_takes_the_configs_of_its_formats() -> None:
    @ldp_core.register_pipeline("kafka", "ICEBERG")
    class KafkaToIceberg:
        def __init__(self, config: ldp_core.Config) -> None:
            self.config = config

        def run(self, mode: str | None = None) -> Any:
            rows = pa.table({"topic": [self.config.source["name"]]})
            return Pipeline(source=rows, target=Iceberg("events", CATALOG), name="kafka").run(mode)

    body = config(source={"name": "rides", "format": "KAFKA"})
    assert api.get_pipeline_class("KAFKA", "iceberg") is KafkaToIceberg
    assert [route["source"] for route in api.registered_pipelines()] == ["KAFKA"]
    assert ldp_core.run_config(ldp_core.Config.from_dict(body)).rows_written == 1
    assert isinstance(ldp_core.create_pipeline(body), KafkaToIceberg)
    assert api.get_pipeline_class("json", "csv", "bigquery") is Pipeline
    with pytest.raises(PipelineNotFound, match="PARQUET"):
        api.get_pipeline_class("AVRO", "ICEBERG")


def test_a_route_of_ones_own_never_drops_a_key() -> None:
    got: list[CommitContext | None] = []

    class Plain:
        def __init__(self, config: ldp_core.Config) -> None: ...

        def run(self, mode: str | None = None) -> Any:
            got.append(None)

    class Keyed(Plain):
        def run(self, mode: str | None = None, commit: CommitContext | None = None) -> Any:
            got.append(commit)

    ldp_core.register_pipeline("kafka", "ICEBERG")(Plain)
    body = ldp_core.Config.from_dict(config(source={"name": "rides", "format": "KAFKA"}))
    for asked in ({"window": "yesterday"}, {"idempotency_key": "k"}):
        with pytest.raises(ConfigError, match=r"Plain.*no window and takes no key"):
            ldp_core.run_config(body, **asked)
    with pytest.raises(ConfigError, match="adopt needs a window or a key"):
        ldp_core.run_config(body, adopt=True)
    ldp_core.run_config(body, run_id="r")
    ldp_core.register_pipeline("kafka", "ICEBERG")(Keyed)
    ldp_core.run_config(body, window="yesterday", attempt=2, run_id="r")
    assert got == [None, CommitContext(run_id="r", attempt=2, window="yesterday")]


@pytest.mark.parametrize(
    ("commit", "message"),
    [
        (CommitContext(idempotency_key="auto"), "auto needs a window"),
        (CommitContext(idempotency_key=" "), "non-empty"),
        (CommitContext(idempotency_key=5), "non-empty"),
        (CommitContext(idempotency_key="a\nb"), "on one line"),
        (CommitContext(idempotency_key="a\udcff"), "on one line"),
        (CommitContext(idempotency_key="k" * 513), "^idempotency_key has 513 bytes, and 512 are the most$"),
        (CommitContext(idempotency_key="é" * 257), "has 514 bytes"),
        (CommitContext(idempotency_key="\n" * 5_000), r"got '(\\n){39}…$"),
        (CommitContext(window="yesterday", run_id="r" * 513), "^run_id has 513 bytes"),
        (CommitContext(adopt=True), "adopt needs a window or a key"),
        (CommitContext(adopt=True, run_id="r"), "adopt needs a window or a key"),
        (CommitContext(window="yesterday", overlap="maybe"), "overlap"),
        (CommitContext(window="yesterday", run_id=""), "run_id"),
        (CommitContext(idempotency_key="k", run_id="r", attempt=0), "attempt"),
        (CommitContext(idempotency_key="k", run_id="r", attempt="2"), "attempt"),
    ],
)
def test_a_key_that_is_none_loads_nothing(commit: CommitContext, message: str) -> None:
    rows = pa.table({"id": [1, 2]})
    for base in (None, config()):
        with pytest.raises(LDPError, match=message):
            Pipeline(base, source=rows, target=Iceberg("rides", CATALOG)).run(commit=commit)
    assert not Path("wh").exists()


def test_what_a_config_says_of_windows_and_what_a_file_takes_hold_in_python() -> None:
    rows = pa.table({"id": [1, 2]})
    with pytest.raises(ConfigError, match="no windows"):
        Pipeline(config(window="none"), source=rows).run(commit=CommitContext(window="yesterday"))
    with pytest.raises(ConfigError, match="takes no idempotency key"):
        Pipeline(source=rows, target=CSV("o", "o.csv")).run(commit=CommitContext(idempotency_key="k"))
    with pytest.raises(ConfigError, match="takes no idempotency key"):
        Pipeline(source=rows, target=CSV("o", "o.csv")).run(
            commit=CommitContext(window="yesterday", adopt=True)
        )


def test_a_table_is_read_by_its_name() -> None:
    Pipeline(source=pa.table({"id": [1, 2]}), target=Iceberg("rides", CATALOG)).run()
    first = Iceberg("rides", CATALOG).snapshots()[0]["snapshot_id"]
    Pipeline(source=pa.table({"id": [3]}), target=Iceberg("rides", CATALOG)).run()
    assert ldp_core.table("nyc.rides", "wh").to_arrow().num_rows == 3
    assert ldp_core.table("rides", "wh", snapshot_id=first).to_arrow()["id"].to_pylist() == [1, 2]
    with pytest.raises(TableNotFound, match=r"nyc\.rides"):
        ldp_core.table("nope", "wh")


def test_every_public_name_is_there() -> None:
    for name in ldp_core.__all__:
        assert getattr(ldp_core, name) is not None
