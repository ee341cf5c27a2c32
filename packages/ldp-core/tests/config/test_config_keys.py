"""Every key of the pipeline configs that existing users have loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ldp_core.config import Config

LOCAL = {"identifier": "nyc", "warehouse_path": "wh"}
CSV = {"name": "rides", "format": "CSV", "path": "r.csv"}
TABLE = {"name": "rides", "format": "ICEBERG", "catalog": LOCAL}


def errors(metadata: dict[str, Any], base_dir: Path, **root: Any) -> list[str]:
    body = {"identifier": "rides", **root, "metadata": {"source": CSV, "target": TABLE, **metadata}}
    found = Config.from_dict(body, base_dir)
    return [str(problem) for problem in found.problems() if problem.severity == "error"]


@pytest.mark.parametrize(
    "source",
    [
        {"name": "r", "format": "CSV", "path": "r.csv"},
        {"name": "r", "format": "parquet", "path": "r.parquet"},
        {"name": "r", "format": "ICEBERG", "catalog": LOCAL},
        {"name": "r", "format": "JSON", "path": "r.jsonl"},
        {"name": "r", "format": "DUCKDB", "path": "d.duckdb", "relation": "main.rides"},
        {"name": "r", "format": "DUCKDB", "path": "d.duckdb", "sql": "SELECT 1 AS a"},
        {"name": "r", "format": "XLSX", "path": "r.xlsx", "sheet": "Sheet1", "header_row": 2},
        {"name": "r", "format": "XLSX", "path": "r.xlsx", "sheet": 0},
    ],
)
def test_sources(source: dict[str, Any], tmp_path: Path) -> None:
    assert errors({"source": source}, tmp_path) == []


def test_the_query_file_of_bigquery(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text('{"query": "SELECT 1"}')
    (tmp_path / "key.json").write_text("{}")
    source = {
        "name": "r",
        "format": "JSON",
        "engine": "BIGQUERY",
        "path": "q.json",
        "credentials": {"name": "gcp", "path": "key.json"},
    }
    assert errors({"source": source}, tmp_path) == []


@pytest.mark.parametrize(
    "target",
    [
        {"name": "r", "format": "CSV", "path": "o.csv"},
        {"name": "r", "format": "PARQUET", "path": "o.parquet"},
        {**TABLE, "write_mode": "append"},
        {**TABLE, "write_mode": "upsert", "join_cols": ["id"], "schema_evolution": True},
        {**TABLE, "write_mode": "upsert", "join_cols": "id"},
        {**TABLE, "partition_by": [{"column": "ts", "transform": "day", "name": "d"}, {"column": "city"}]},
        {**TABLE, "partition_by": [{"column": "id", "transform": "bucket[16]"}]},
    ],
)
def test_targets(target: dict[str, Any], tmp_path: Path) -> None:
    assert errors({"target": target}, tmp_path) == []


@pytest.mark.parametrize(
    "catalog",
    [
        LOCAL,
        {"type": "local", **LOCAL},
        {"type": "LocalIceberg", **LOCAL},
        {"type": "sql", "uri": "sqlite:///c.db", "warehouse": "wh", "namespace": "nyc", "name": "lake"},
        {"type": "sqlite", "uri": "sqlite:///c.db", "warehouse": "wh", "identifier": "nyc"},
        {
            "type": "SQL",
            "uri": "postgresql+psycopg://u@h/db",
            "warehouse": "s3://b/wh",
            "namespace": "nyc",
            "password_env": "PW",
            "properties": {"s3.endpoint": "http://x"},
            "properties_env": {"s3.secret-access-key": "KEY"},
        },
        {
            "type": "rest",
            "uri": "https://c",
            "warehouse": "lake",
            "name": "n",
            "namespace": "nyc",
            "token_env": "TOKEN",
        },
        {"type": "rest", "uri": "https://c", "namespace": "nyc", "credential_env": "CRED"},
        {"type": "glue", "name": "g", "warehouse": "s3://b/wh", "namespace": "nyc"},
    ],
)
def test_catalogs(catalog: dict[str, Any], tmp_path: Path) -> None:
    assert errors({"target": {**TABLE, "catalog": catalog}}, tmp_path) == []
    assert errors({"source": {"name": "r", "format": "ICEBERG", "catalog": catalog}}, tmp_path) == []


@pytest.mark.parametrize(
    "sections",
    [
        {"schedule": "5 2 * * *", "window": {"size": "day", "column": "ts", "timezone": "Europe/Paris"}},
        {"window": "none"},
        {"retries": {"max_attempts": 3, "delay_s": 30, "backoff": 2.0}},
        {"observability": {"sinks": ["null", "none"]}},
        {"observability": {"sinks": [{"type": "jsonl", "path": ".ldp/events.jsonl"}]}},
        {"observability": {"sinks": ["jsonl"], "jsonl": {"path": "e.jsonl"}}},
        {
            "observability": {
                "sinks": ["openlineage", "iceberg"],
                "openlineage": {"url": "http://x", "namespace": "n", "api_key_env": "K", "timeout": 5},
                "iceberg": {"catalog": LOCAL, "namespace": "_ldp", "batch_size": 500},
            }
        },
        {"transforms": [{"sql": "SELECT * FROM source"}]},
    ],
)
def test_sections(sections: dict[str, Any], tmp_path: Path) -> None:
    assert errors(sections, tmp_path) == []


def test_labels_and_version(tmp_path: Path) -> None:
    labels = {"who": "a", "what": "b", "where": "c", "when": "daily", "how": "batch"}
    window = {"window": {"size": "day", "column": "at"}}
    assert errors(window, tmp_path, apiVersion="ldp/v1", kind="Pipeline", **labels) == []


CHECKS: list[dict[str, Any]] = [
    {"check": "row_count", "min": 1, "max": 9},
    {"check": "row_count", "equals": "source", "name": "same"},
    {"check": "row_count", "equals": 5},
    {"check": "not_null", "columns": ["a", "b"]},
    {"check": "unique", "columns": ["a"]},
    {"check": "accepted_values", "column": "city", "values": ["NYC", "BKK"]},
    {"check": "range", "column": "fare", "min": 0, "max": 100},
    {"check": "freshness", "column": "ts", "max_age_hours": 48, "now": "2026-08-01T00:00:00Z"},
    {"check": "schema", "columns": {"ride_id": "int64", "fare": "double"}},
    {"check": "schema", "columns": ["ride_id"]},
    {"check": "monotonic", "column": "ts", "group_by": ["a"], "strict": True, "order_by": ["b"]},
    {"check": "max_skew", "column_a": "a", "column_b": "b", "max_ms": 10},
    {"check": "rate_below", "predicate_column": "late", "max_rate": 0.1, "group_by": ["a"]},
    {"check": "max_gap", "column": "ts", "max_ms": 10, "group_by": ["a"]},
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: str(check["check"]))
def test_checks(check: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("ldp_quality")
    assert errors({"quality": [check]}, tmp_path) == []
    assert errors({"quality": {"on_failure": "warn", "checks": [check]}}, tmp_path) == []
