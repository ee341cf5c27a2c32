"""The spec hash and the keys, byte for byte as the earlier system made them."""

from __future__ import annotations

import copy
import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.config import Config
from ldp_core.config.canonical import canonical_json, digest, idempotency_key, relative
from ldp_core.errors import ConfigError

BASE_HASH = "40d19d58902bf55921672476b3953d7db2826d25269733344437a47d1149cb9d"
BASE: dict[str, Any] = {
    "identifier": "rides",
    "metadata": {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "write_mode": "append",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        },
        "quality": {"on_failure": "fail", "checks": [{"check": "row_count", "min": 1}]},
    },
}


def changed(**places: Any) -> dict[str, Any]:
    """The base config with values put at dotted places (``__`` for a dot)."""
    data = copy.deepcopy(BASE)
    for place, value in places.items():
        *around, last = place.split("__")
        at = data
        for name in around:
            at = at.setdefault(name, {})
        at[last] = value
    return data


def hash_of(data: dict[str, Any], base_dir: Path | None = None) -> str:
    return Config.from_dict(data, base_dir).spec_hash()


def test_the_base_vector_and_the_list_form() -> None:
    assert hash_of(BASE) == BASE_HASH
    assert hash_of(changed(metadata__quality=[{"check": "row_count", "min": 1}])) == BASE_HASH


def test_a_label_in_when_is_hashed() -> None:
    data = changed(when="fortnightly")
    del data["metadata"]["quality"]
    assert hash_of(data) == "600554fabda190b7d310aed75b779ec63665c66813ba5b87cba24ab88f01307c"


def test_one_and_one_point_nought_differ() -> None:
    quality = {"on_failure": "fail", "checks": [{"check": "row_count", "min": 1.0}]}
    expected = "b245c07217d251cd380eece524ef7dd71f5ac30435ebdfd1ef07098476c29cd6"
    assert hash_of(changed(metadata__quality=quality)) == expected


@pytest.mark.parametrize(
    "places",
    [
        {"who": "x", "what": "y", "where": "z", "kind": "Pipeline", "apiVersion": "ldp/v1"},
        {"metadata__observability": {"sinks": ["jsonl"]}},
        {"metadata__schedule": "@daily", "metadata__retries": {"max_attempts": 3}},
        {"metadata__docs": {"layer": "gold"}},
        {"metadata__maintenance": {"a": 1}, "metadata__sla": {"b": 2}, "metadata__engine": "duckdb"},
        {"metadata__source__path": "./a/../r.csv"},
        {"metadata__source__format": "csv", "metadata__target__format": "Iceberg"},
        {"metadata__target__write_mode": "APPEND"},
        {"metadata__target__catalog__warehouse_path": "./wh/"},
        {"metadata__quality__on_failure": "FAIL"},
        {"x-note": 1, "$schema": "s", "metadata__x-note": 1, "metadata__target__x-note": {"deep": 1}},
        {"metadata__quality__checks": [{"check": "row_count", "min": 1, "x-why": "because"}]},
        {"when": None, "how": None},
    ],
)
def test_what_does_not_change_the_hash(places: dict[str, Any]) -> None:
    assert hash_of(changed(**places)) == BASE_HASH


@pytest.mark.parametrize(
    "places",
    [
        {"when": "daily"},
        {"how": "batch"},
        {"identifier": "other"},
        {"metadata__source__path": "other.csv"},
        {"metadata__source__delimiter": ";"},
        {"metadata__target__write_mode": "overwrite"},
        {"metadata__target__catalog__identifier": "sf"},
        {"metadata__window": {"size": "day"}},
        {"metadata__id": "second"},
        {"metadata__transforms": [{"sql": "SELECT * FROM source"}]},
        {"metadata__quality__on_failure": "warn"},
    ],
)
def test_what_changes_the_hash(places: dict[str, Any]) -> None:
    assert hash_of(changed(**places)) != BASE_HASH


def test_an_absolute_path_below_the_config_is_the_relative_one(tmp_path: Path) -> None:
    data = changed(
        metadata__source__path=str(tmp_path / "r.csv"),
        metadata__target__catalog__warehouse_path=str(tmp_path / "x" / ".." / "wh"),
    )
    assert hash_of(data, tmp_path) == BASE_HASH


def test_paths(tmp_path: Path) -> None:
    assert relative("s3://b/../a", tmp_path) == "s3://b/../a"
    assert relative("a//b/./c", tmp_path) == "a/b/c"
    assert relative("../a", tmp_path) == "../a"
    assert relative(str(tmp_path.parent / "o" / "a"), tmp_path) == "../o/a"


def test_a_sql_file_is_hashed_by_what_it_holds(tmp_path: Path) -> None:
    data = changed(metadata__transforms=[{"sql_file": "t.sql"}])
    (tmp_path / "t.sql").write_text("SELECT 1")
    first = hash_of(data, tmp_path)
    (tmp_path / "t.sql").write_text("SELECT 2")
    second = hash_of(data, tmp_path)
    (tmp_path / "moved.sql").write_text("SELECT 1")
    data["metadata"]["transforms"][0]["sql_file"] = "moved.sql"
    assert hash_of(data, tmp_path) == first != second
    (tmp_path / "moved.sql").unlink()
    with pytest.raises(ConfigError, match=r"cannot read .*moved\.sql"):
        hash_of(data, tmp_path)
    other = changed(metadata__transforms=[{"sql_file": {"sha256": hashlib.sha256(b"SELECT 1").hexdigest()}}])
    assert hash_of(other, tmp_path) == first


@settings(deadline=None, max_examples=40)
@given(st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(random: Any) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            items = list(value.items())
            random.shuffle(items)
            return {name: shuffled(item) for name, item in items}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    assert hash_of(shuffled(BASE)) == BASE_HASH


def test_yaml_and_json_have_one_hash(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(BASE))
    (tmp_path / "c.yaml").write_text(
        "identifier: rides\nmetadata:\n  source: {name: rides, format: csv, path: r.csv}\n"
        "  target:\n    name: rides\n    format: ICEBERG\n    write_mode: append\n"
        "    catalog: {identifier: nyc, warehouse_path: wh}\n"
        "  quality:\n    - check: row_count\n      min: 1\n"
    )
    hashes = {Config.from_file(tmp_path / name).spec_hash() for name in ("c.json", "c.yaml")}
    assert hashes == {BASE_HASH}


def test_canonical_json() -> None:
    assert canonical_json({"b": [1, 1.0, None, True], "a": "é\n\u2028"}) == (
        '{"a":"é\\n\u2028","b":[1,1.0,null,true]}'
    )
    with pytest.raises(ValueError, match="JSON compliant"):
        digest(float("nan"))


def test_the_idempotency_key_vector() -> None:
    start, end = datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 8, 2, tzinfo=UTC)
    expected = "62831bc16852034866a7b4b9869fcdabe016ba9bfdac1f07d73a9d265f3315c6"
    assert idempotency_key("rides", "nyc.rides", start, end) == expected
    assert idempotency_key("rides", "iceberg:nyc.rides", start, end) == expected
    paris = timezone(timedelta(hours=2))
    assert idempotency_key("rides", "nyc.rides", start.astimezone(paris), end.astimezone(paris)) == expected


def test_fractions_of_a_second_are_part_of_the_key() -> None:
    start = datetime(2026, 8, 1, microsecond=500_000, tzinfo=UTC)
    end = datetime(2026, 8, 1, 0, 0, 1, tzinfo=UTC)
    expected = "33ffc973c5413e2febca616ac4e6bad0fa82ebecb822b07fa77807d4d34f0738"
    assert idempotency_key("rides", "nyc.rides", start, end) == expected


def test_a_key_without_a_window() -> None:
    parts = ["ldp/v1", "idempotency", "rides", "iceberg:nyc.rides", "", ""]
    assert idempotency_key("rides", "nyc.rides") == digest(parts)
