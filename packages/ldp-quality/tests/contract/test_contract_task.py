"""A contract as a task of a workflow: it lets the tasks after it run, or holds them back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import DataQualityError
from ldp_core.spi import Task, TaskCall
from ldp_core.window import parse_window
from ldp_quality.tasks import KIND

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.2.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, logicalType: integer, required: true, unique: true}
"""
WINDOW = parse_window("2026-08-01/2026-08-02")


def _opened(folder: Path, **value: Any) -> Any:
    (folder / "shop.odcs.yaml").write_text(CONTRACT)
    whole = {"contract": "shop.odcs.yaml", **value}
    file = str(folder / "w.yaml")
    return KIND.open(Task("agreed", "contract", whole, (), folder, "tasks[0]", file))


def _config(folder: Path) -> None:
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    source = {"name": "orders", "format": "CSV", "path": "orders.csv"}
    target = {"name": "orders", "format": "ICEBERG", "write_mode": "overwrite", "catalog": catalog}
    body = {"identifier": "load", "metadata": {"source": source, "target": target}}
    (folder / "load.json").write_text(json.dumps(body))


def _load(folder: Path, text: str) -> None:
    from ldp_core import run_config

    _config(folder)
    (folder / "orders.csv").write_text(text)
    run_config(folder / "load.json")


CALL = TaskCall(WINDOW, "run", 1, "night")


@pytest.mark.parametrize("target", ["load.json", "nyc.orders", "orders"])
def test_a_table_that_keeps_the_contract_succeeds(tmp_path: Path, target: str) -> None:
    _load(tmp_path, "id\n1\n2\n")
    task = _opened(tmp_path, target=target)
    assert task.problems() == []
    result = task.run(CALL)
    assert (result.status, result.rows_read, result.warnings) == ("succeeded", 2, ())
    assert result.detail["contract"] == {"id": "shop", "version": "1.2.0"}
    assert [table.name for table in task.info(WINDOW).reads] == ["nyc.orders"]


def test_a_table_that_breaks_it_is_blocked_or_warned_of(tmp_path: Path) -> None:
    _load(tmp_path, "id\n1\n1\n")
    with pytest.raises(DataQualityError, match=r"contract shop 1\.2\.0 on nyc\.orders"):
        _opened(tmp_path, target="load.json").run(CALL)
    warned = _opened(tmp_path, target="load.json", on_failure="warn").run(CALL)
    assert warned.status == "succeeded"
    assert "unique(id)" in warned.warnings[0]


@pytest.mark.parametrize(("text", "good"), [("id\n1\n2\n", True), ("id\n1\n1\n", False)], ids=["good", "bad"])
def test_a_file_is_tested_where_it_is(tmp_path: Path, text: str, good: bool) -> None:
    (tmp_path / "orders.csv").write_text(text)
    task = _opened(tmp_path, target="orders.csv")
    assert task.info(None).reads[0].name == str((tmp_path / "orders.csv").resolve())
    if good:
        assert task.run(CALL).status == "succeeded"
    else:
        with pytest.raises(DataQualityError):
            task.run(CALL)


def test_what_is_wrong_is_known_before_it_runs(tmp_path: Path) -> None:
    task = _opened(tmp_path, target="none.yaml")
    (tmp_path / "shop.odcs.yaml").write_text(CONTRACT.replace("integer", "number of things"))
    found = task.problems()
    assert {Path(str(problem.file)).name for problem in found if problem.file} == {"shop.odcs.yaml"}
    assert [problem.key for problem in found if problem.file is None] == ["contract.target"]


def test_a_config_that_is_wrong_is_called_as_the_workflow_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nightly = tmp_path / "nightly"
    nightly.mkdir()
    (nightly / "load.json").write_text('{"identifier": "load", "metadata": {"target": {"name": "orders"}}}')
    (nightly / "shop.odcs.yaml").write_text(CONTRACT)
    said = {"contract": "shop.odcs.yaml", "target": "load.json"}
    found = KIND.open(Task("a", "contract", said, (), nightly, "tasks[0]", "nightly/w.yaml")).problems()
    assert [(problem.file, problem.key) for problem in found] == [
        (str(Path("nightly", "load.json")), "metadata.target.format")
    ]


def test_a_config_that_has_loaded_nothing_yet_is_no_problem(tmp_path: Path) -> None:
    _config(tmp_path)
    task = _opened(tmp_path, target="load.json")
    assert task.problems() == []
    assert [table.name for table in task.info(WINDOW).reads] == ["nyc.orders"]
    assert not (tmp_path / "wh").exists()


def test_nothing_but_its_last_run_vouches_for_it(tmp_path: Path) -> None:
    task = _opened(tmp_path, target="load.json")
    assert (task.vouched, task.counts, task.side_by_side) == (False, True, False)
    assert task.done([WINDOW]) == [False]
    names = {Path(path).name for path in task.inputs(WINDOW)}
    assert names == {"shop.odcs.yaml", "load.json"}
