"""The sections of metadata that the core understands."""

from __future__ import annotations

from typing import Any

import pytest
from ldp_core.config import Config
from ldp_core.config.sections.observability import sinks
from ldp_core.config.sections.schedule import wrong

SOURCE = {"name": "rides", "format": "CSV", "path": "r.csv"}
TARGET = {"name": "rides", "format": "ICEBERG", "catalog": {"identifier": "nyc", "warehouse_path": "wh"}}


def problems(severity: str = "error", **sections: Any) -> dict[str, str]:
    config = Config.from_dict(
        {"identifier": "r", "metadata": {"source": SOURCE, "target": TARGET, **sections}}
    )
    return {problem.key: str(problem) for problem in config.problems() if problem.severity == severity}


@pytest.mark.parametrize(
    "text",
    [
        "@hourly",
        "@daily",
        "@weekly",
        "@monthly",
        "5 2 * * *",
        "*/15 * * * *",
        "0 */6 * * *",
        "0 9 * * 1-5",
        "0 0 * * MON",
        "0 0 * * 7",
        "0 0 1,15 * 5",
        "*/30 1-2 * * *",
        "0 0 31 * *",
        "0 0 L * *",
        "0 0 * * 5#2",
        "0 0 29 2 *",
        "0 0 * jan-mar mon,wed",
        "0 0 * * MON#2,5L",
        "0 0 30 2 MON",
        "0 0 31 */2 *",
        "0 0 L,31 2 *",
        "  0 0 * * *  ",
    ],
)
def test_schedules(text: str) -> None:
    assert wrong(text) is None
    assert problems(schedule=text, window={"size": "day", "column": "at"}) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0 * *", "has five fields"),
        ("0 0 0 * * *", "has five fields"),
        ("0 0 * * * * *", "has five fields"),
        ("@yearly", "unknown schedule '@yearly'; the words are @hourly, @daily, @weekly, @monthly"),
        ("daily", "has five fields"),
        ("*/0 * * * *", "'*/0' is no minute"),
        ("60 * * * *", "'60' is no minute"),
        ("0 24 * * *", "'24' is no hour"),
        ("0 0 0 * *", "'0' is no day of month"),
        ("0 0 * 13 *", "'13' is no month"),
        ("0 0 * * 8", "'8' is no day of week"),
        ("0 0 * * 5-1", "'5-1' is no day of week"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6 *", "never comes"),
        ("0 0 30-31 feb */2", "never comes"),
        ("0 0 31 4-6/2 *", "never comes"),
        ("a b c d e", "'a' is no minute"),
        ("1,,2 * * * *", "'' is no minute"),
        ("-1 * * * *", "'-1' is no minute"),
        ("٣ * * * *", "is no minute"),
    ],
)
def test_what_is_no_schedule(text: str, message: str) -> None:
    assert message in (wrong(text) or "")
    assert message in problems(schedule=text)["metadata.schedule"]


@pytest.mark.parametrize(
    "window",
    [
        "none",
        {"size": "day"},
        {"size": "15m", "column": "ts", "timezone": "Europe/Paris"},
        {"size": "hour", "overlap": "allow", "empty": "publish"},
    ],
)
def test_windows(window: Any) -> None:
    assert problems(window=window) == {}


@pytest.mark.parametrize(
    ("window", "key", "message"),
    [
        ("all", "metadata.window", 'must be "none" or an object'),
        ({"size": "week"}, "metadata.window.size", "must be one of day, hour, 15m"),
        ({"column": "ts"}, "metadata.window.size", "is required"),
        ({"size": "day", "timezone": "Europe/Pariss"}, "metadata.window.timezone", "unknown time zone"),
        ({"size": "day", "timezone": "../etc/passwd"}, "metadata.window.timezone", "unknown time zone"),
        ({"size": "day", "colum": "a"}, "metadata.window.colum", "did you mean column?"),
    ],
)
def test_what_is_no_window(window: Any, key: str, message: str) -> None:
    found = problems(window=window)
    assert list(found) == [key]
    assert message in found[key]


GOLD = {
    "layer": "gold",
    "description": "Rides.",
    "owner": "team",
    "grain": "one ride",
    "primary_key": ["ride_id"],
    "columns": {"ride_id": "the id", "x-ray": "a column"},
    "tags": ["taxi"],
    "refresh": "daily",
}


def test_docs_of_a_gold_table_are_whole() -> None:
    assert problems(docs=GOLD) == {}
    for name in GOLD:
        if name == "layer":
            continue
        for blank in ({}, {name: [] if isinstance(GOLD[name], list) else {} if name == "columns" else " "}):
            docs = {**{key: value for key, value in GOLD.items() if key != name}, **blank}
            found = problems(docs=docs)
            assert f"metadata.docs.{name}" in found, (name, blank)
    found = problems(docs={"layer": "gold"})
    assert set(found) == {f"metadata.docs.{name}" for name in GOLD if name != "layer"}


def test_docs_of_other_layers_may_lack_anything() -> None:
    assert problems(docs={}) == {}
    assert problems(docs={"layer": "Silver", "tags": "one", "primary_key": "id"}) == {}
    assert "did you mean gold?" in problems(docs={"layer": "golden"})["metadata.docs.layer"]


def test_gold_columns_and_key_agree() -> None:
    assert (
        "not among the columns"
        in (problems(docs={**GOLD, "primary_key": ["id"]})["metadata.docs.primary_key[0]"])
    )
    assert "metadata.docs.columns.ride_id" in problems(docs={**GOLD, "columns": {"ride_id": " "}})


def test_sinks_in_every_form() -> None:
    value = {"sinks": ["jsonl", {"type": "jsonl", "path": "b"}, "null"], "jsonl": {"path": "a"}}
    assert sinks(value) == [{"type": "jsonl", "path": "a"}, {"type": "jsonl", "path": "b"}, {"type": "null"}]
    assert sinks({"sinks": "jsonl"}) == [{"type": "jsonl"}]
    assert sinks({}) == []


def test_sinks_of_earlier_configs_hold() -> None:
    value = {"sinks": ["openlineage", {"type": "iceberg", "batch_size": 10}], "openlineage": {"path": "a"}}
    assert problems(observability=value) == {}
    assert problems("warning", observability=value) == {}


def test_options_of_sinks_are_checked() -> None:
    both = {"sinks": [{"type": "openlineage", "path": "a", "url": "http://h"}]}
    assert problems(observability=both)
    none = {"sinks": ["iceberg"], "iceberg": {"batch_size": 0}}
    assert list(problems(observability=none)) == ["metadata.observability.iceberg.batch_size"]
    wrong = {"sinks": [{"type": "iceberg", "catalog": {"type": "sql"}}]}
    assert problems(observability=wrong)


def test_a_catalog_of_a_sink_may_be_a_name() -> None:
    value = {"sinks": [{"type": "iceberg", "catalog": "lake"}, "jsonl"]}
    assert problems(observability=value) == {}
    assert sinks(value, lambda name: {"type": "local", "identifier": name})[0]["catalog"] == {
        "type": "local",
        "identifier": "lake",
    }


def test_what_is_wrong_with_sinks() -> None:
    assert "unknown type" in problems(observability={"sinks": ["jsonll"]})["metadata.observability.sinks[0]"]
    assert "metadata.observability.sinks[0].type" in problems(observability={"sinks": [{"path": "a"}]})
    assert "metadata.observability.sink" in problems(observability={"sink": ["jsonl"]})
    assert list(problems("warning", observability={"sinks": [], "jsonl": {"path": "a"}})) == [
        "metadata.observability.jsonl"
    ]
