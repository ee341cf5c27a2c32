"""Later loads into a table that is there: what fits, what is drift, and what is counted."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.api import table
from ldp_core.errors import ConfigError, DriftError
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


def test_a_declared_key_that_no_record_has_is_told(project: Project) -> None:
    source = {**JSON, "columns": {"note": "text", "n": "int"}}
    run_config(project(source=source, csv='{"id": 1, "note": "x", "n": 1}\n'))
    result = run_config(project(source=source, csv='{"id": 2}\n'))
    assert result.warnings == ("column n: no record has this key", "column note: no record has this key")
    assert {"id": 2, "note": None, "n": None} in rows()


def losses(result: Any) -> dict[str, tuple[str, int]]:
    return {loss.column: (loss.target_type, loss.changed) for loss in result.write_result.losses}


def test_what_text_loses_is_counted(project: Project) -> None:
    run_config(project(csv="id,fare,day,name\n1,1.50,2026-01-02,x\n"))
    loose = {name: {"loss": "allow"} for name in ("id", "fare", "day", "name")}
    source = {"name": "rides", "format": "CSV", "path": "r.csv", "columns": loose}
    body = "id,fare,day,name\n2.6,1.505,2026-01-02 10:30:00,y\n3.0,2.5,2026-01-02 00:00:00,z\n,,,\n"
    with pytest.raises(DriftError, match=r"columns: \{id: \{loss: allow\}\}"):
        run_config(project(csv=body))
    result = run_config(project(source=source, csv=body))
    assert losses(result) == {"id": ("long", 1), "fare": ("decimal(18,2)", 1), "day": ("date", 1)}
    with pytest.raises(DriftError, match="column id, row 1: 'x'"):
        run_config(project(source=source, csv="id,fare,day,name\nx,1.5,2026-01-02,z\n"))


def test_what_json_loses_is_counted(project: Project) -> None:
    run_config(project(source=JSON, csv='{"id": 1, "a": {"x": 1}}\n'))
    body = '{"id": 2.5, "a": {"x": 1.5}}\n{"id": 3, "a": {"x": 2}}\n'
    with pytest.raises(DriftError):
        run_config(project(source=JSON, csv=body))
    loose = {**JSON, "columns": {"id": {"loss": "allow"}, "a": {"loss": "allow"}}}
    assert losses(run_config(project(source=loose, csv=body))) == {"id": ("long", 1), "a.x": ("long", 1)}


def test_a_typed_source_may_lose_what_is_allowed(project: Project) -> None:
    source = {"name": "rides", "format": "PARQUET", "path": "t.parquet"}
    pq.write_table(pa.table({"d": [Decimal("1.50")], "i": [1]}), "t.parquet")
    run_config(project(source=source))
    pq.write_table(pa.table({"d": [Decimal("1.505"), Decimal("2.500")], "i": [2.5, 3.0]}), "t.parquet")
    for name in ("d", "i"):
        with pytest.raises(DriftError):
            run_config(project(source={**source, "columns": {name: {"loss": "allow"}}}))
    loose = {**source, "columns": {"d": {"loss": "allow"}, "i": {"loss": "allow"}}}
    result = run_config(project(source=loose))
    assert losses(result) == {"d": ("decimal(3, 2)", 1), "i": ("long", 1)}
    with pytest.raises(ConfigError, match=r"source\.columns\.no: the source has no column 'no'; it has d, i"):
        run_config(project(source={**source, "columns": {"no": {"loss": "allow"}}}))


def test_parquet_files_with_texts_kept_in_two_ways_make_one_table(project: Project) -> None:
    Path("in").mkdir()
    for name, kind in (("a", pa.dictionary(pa.int32(), pa.string())), ("b", pa.large_string())):
        pq.write_table(pa.table({"v": pa.array([name]).cast(kind), "n": [1]}), f"in/{name}.parquet")
    source = {"name": "rides", "format": "PARQUET", "path": "in"}
    for times in (1, 2):
        run_config(project(source=source))
        assert sorted(row["v"] for row in rows()) == sorted(["a", "b"] * times)
