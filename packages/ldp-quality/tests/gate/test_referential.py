"""Keys that exist in another table, in a run and against the plainest reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core.config import Config
from ldp_core.errors import ConfigError, DataQualityError
from ldp_core.run.runner import run
from ldp_quality import Referential, run_checks

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}


def config(folder: Path, name: str, csv: str, quality: Any = None, **catalog: Any) -> Path:
    (folder / f"{name}.csv").write_text(csv, "utf8")
    target = {"name": name, "format": "ICEBERG", "write_mode": "overwrite", "catalog": {**CATALOG, **catalog}}
    body = {"source": {"name": name, "format": "CSV", "path": f"{name}.csv"}, "target": target}
    if quality is not None:
        body["quality"] = quality
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"identifier": name, "metadata": body}))
    return path


def load(path: Path) -> Any:
    return run(Config.from_file(path))


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    load(config(tmp_path, "cities", "id,country\n1,US\n2,TH\n2,TH\n"))
    return tmp_path


@pytest.mark.parametrize(
    "to",
    [
        {"config": "cities.json", "columns": ["id"]},
        {"table": "cities", "columns": "id"},
        {"table": "nyc.cities", "columns": ["id"]},
    ],
)
def test_a_key_that_is_not_there_blocks(lake: Path, to: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    quality = [{"check": "referential", "columns": "city", "to": to}]
    load(config(lake, "rides", "ride,city\n1,1\n2,2\n3,\n", quality))
    with pytest.raises(DataQualityError) as caught:
        load(config(lake, "rides", "ride,city\n1,1\n2,7\n3,7\n4,9\n5,\n", quality))
    [result] = caught.value.report.results
    label = to.get("config") or to["table"]
    assert result.name == f"referential(city -> {label})"
    assert result.details == (
        f"2 key(s) (city) in 3 rows do not exist in {label}(id); 1 rows with a null key skipped"
    )
    assert (result.failing_rows, [sample["row"] for sample in result.samples]) == (3, [1, 2, 3])
    assert result.metrics["to_snapshot"].isdigit()


@pytest.mark.parametrize(
    ("to", "text"),
    [
        ({"table": "towns", "columns": ["id"]}, "nyc.towns does not exist"),
        ({"config": "towns.json", "columns": ["id"]}, "towns.json"),
        ({"table": "cities", "columns": ["code"]}, r"cities has no column\(s\) \['code'\]; it has"),
        ({"table": "cities", "columns": ["country"]}, "city is int64, and country of cities is string"),
    ],
)
def test_a_table_that_cannot_be_looked_into_is_never_green(lake: Path, to: Any, text: str) -> None:
    quality = [{"check": "referential", "columns": "city", "to": to}]
    with pytest.raises(DataQualityError, match=f"could not be evaluated: .*{text}") as caught:
        load(config(lake, "rides", "ride,city\n1,1\n", quality))
    assert caught.value.report.status == "not_run"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"columns": "a"}, "to"),
        ({"columns": "a", "to": {}}, "exactly one of"),
        ({"columns": "a", "to": {"table": "t", "config": "c"}}, "exactly one of|only one of|at most"),
        ({"columns": "a", "to": {"table": "t", "columns": ["x", "y"]}}, "2 columns, and the key has 1"),
        ({"columns": "a", "to": {"tabel": "t"}}, "tabel"),
    ],
)
def test_a_wrong_reference_is_found_before_anything_is_read(tmp_path: Path, item: Any, text: str) -> None:
    path = config(tmp_path, "rides", "a\n1\n", [{"check": "referential", **item}])
    with pytest.raises(ConfigError, match=text):
        load(path)


def test_a_name_needs_a_catalog() -> None:
    import pyarrow as pa

    report = run_checks(pa.table({"a": [1]}), [Referential("a", to={"table": "t"})])
    assert report.status == "not_run"
    assert "name a config instead" in report.results[0].details


KEYS = st.tuples(st.sampled_from([None, 1, 2, 3]), st.sampled_from([None, "a", "b"]))


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(KEYS, max_size=8), st.lists(KEYS, min_size=1, max_size=5))
def test_pairs_of_columns(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], others: list[Any]
) -> None:
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("pairs")
    text = "".join(f"{'' if k is None else k},{'' if v is None else v}\n" for k, v in [*others, (9, "z")])
    load(config(folder, "other", f"k,v\n{text}"))
    frame = pa.table(
        {
            "x": pa.array([row[0] for row in rows], pa.int64()),
            "y": pa.array([row[1] for row in rows], pa.string()),
        }
    )
    check = Referential(["x", "y"], to={"config": str(folder / "other.json"), "columns": ["k", "v"]})
    [result] = run_checks(frame, [check]).results
    bad = [at for at, row in enumerate(rows) if None not in row and row not in others]
    assert result.status == ("fail" if bad else "pass")
    assert result.failing_rows == len(bad)
    assert [sample["row"] for sample in result.samples] == bad[:5]
    assert result.metrics["absent_keys"] == len({rows[at] for at in bad})
