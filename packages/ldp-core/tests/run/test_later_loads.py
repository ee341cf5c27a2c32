"""Later loads into a table that is there: what fits, what is drift, and what is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_core.api import table
from ldp_core.errors import DriftError
from ldp_core.run.registered import run_config

Project = Callable[..., Path]
JSON = {"name": "rides", "format": "JSONL", "path": "r.csv"}


def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table("nyc.rides", "c.json").to_arrow().to_pylist()
    return found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"id": 2, "a": null, "l": null}', {"a": None, "l": None}),
        ('{"id": 2}', {"a": None, "l": None}),
        ('{"id": 2, "a": {}, "l": []}', {"a": {"x": None, "p": None}, "l": []}),
        ('{"id": 2, "a": {"p": null}, "l": [null]}', {"a": {"x": None, "p": None}, "l": [None]}),
    ],
)
def test_nested_json_without_values_goes_into_the_table(project: Project, line: str, expected: Any) -> None:
    first = '{"id": 1, "a": {"x": 1, "p": {"q": 2}}, "l": [{"k": "v"}]}\n'
    run_config(project(source=JSON, csv=first))
    run_config(project(source=JSON, csv=line + "\n"))
    (second,) = [row for row in rows() if row["id"] == 2]
    assert second == {"id": 2, **expected}


def test_a_text_in_a_nested_column_is_drift(project: Project) -> None:
    run_config(project(source=JSON, csv='{"id": 1, "a": {"x": 1}}\n'))
    with pytest.raises(DriftError, match="column 'a': the source has string"):
        run_config(project(source=JSON, csv='{"id": 1, "a": "x"}\n'))
