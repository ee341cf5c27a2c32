"""The task kind ``maintain``: what it takes, what it says of itself, and what it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.config.validate import check
from ldp_core.errors import LDPError
from ldp_core.spi import Task, TaskCall
from ldp_maintenance import Maintenance
from ldp_maintenance.task import KIND, SHAPE
from ldp_maintenance.testing import builders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with ``c.json``, whose table ``db.t`` has three small files and snapshots."""
    builders.small_files(builders.table(builders.catalog(tmp_path)), 3)
    catalog = {
        "type": "sql",
        "name": "test",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"{tmp_path}/warehouse",
        "namespace": "db",
    }
    metadata = {
        "source": {"name": "s", "format": "CSV", "path": "s.csv"},
        "target": {"name": "t", "format": "ICEBERG", "catalog": catalog},
    }
    (tmp_path / "c.json").write_text(json.dumps({"identifier": "c", "metadata": metadata}))
    return tmp_path


def _open(folder: Path, **value: Any) -> Any:
    return KIND.open(Task("tidy", "maintain", {"config": "c.json", **value}, base_dir=folder, key="tasks[0]"))


def _run(folder: Path, **value: Any) -> Any:
    return _open(folder, **value).run(TaskCall(None, "r1", 1, "night"))


def _snapshots(folder: Path) -> int:
    return len(builders.catalog(folder).load_table("db.t").snapshots())


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ({}, "config"),
        ({"config": "c", "expire": -1}, "at least 0"),
        ({"config": "c", "retain_last": 0}, "at least 1"),
        ({"config": "c", "orphan_age_hours": -1}, "at least 0"),
        ({"config": "c", "aply": True}, "did you mean apply?"),
    ],
)
def test_what_it_does_not_take(value: dict[str, Any], part: str) -> None:
    assert part in " ".join(map(str, check(SHAPE, value)))


def test_it_holds_no_window_back(folder: Path) -> None:
    task = _open(folder)
    assert (task.counts, task.vouched, task.side_by_side) == (False, False, False)
    assert task.problems() == []
    assert task.info(None).target == "db.t"
    assert task.inputs(None) == [str(folder / "c.json")]


def test_it_is_a_dry_run_unless_apply(folder: Path) -> None:
    before = builders.catalog(folder).load_table("db.t").metadata_location
    found = _run(folder, expire=1, orphans=True)
    assert found.status == "succeeded"
    assert [one["operation"] for one in found.detail["operations"]] == ["expire-snapshots", "remove-orphans"]
    assert builders.catalog(folder).load_table("db.t").metadata_location == before
    assert not (folder / ".ldp").exists()


def test_without_expire_and_orphans_it_does_all_that_is_due(folder: Path) -> None:
    found = _run(folder, apply=True)
    assert found.tables == ("db.t",)
    assert found.snapshot_id is not None
    assert found.detail["after"]["data_files"] == 1
    event = json.loads((folder / ".ldp" / "events.jsonl").read_text().splitlines()[-1])
    assert (event["type"], event["run_id"]) == ("table.maintained", "r1")
    assert (event["payload"]["workflow"], event["payload"]["task"]) == ("night", "tidy")


def test_expiry_alone(folder: Path) -> None:
    assert _snapshots(folder) == 3
    found = _run(folder, expire=0.0000001, retain_last=2, apply=True)
    assert [one["status"] for one in found.detail["operations"]] == ["done"]
    assert _snapshots(folder) == 2


def test_a_zero_that_nobody_typed_is_refused(folder: Path) -> None:
    assert "only taken from a command line" in str(_open(folder, expire=0, apply=True).problems()[0])
    assert _open(folder, expire=0).problems() == []
    assert _run(folder, expire=0).status == "succeeded"  # a dry run
    with pytest.raises(LDPError):
        _run(folder, expire=0, apply=True)
    assert _snapshots(folder) == 3


def test_what_is_refused_fails_the_task(folder: Path) -> None:
    table = builders.catalog(folder).load_table("db.t")
    with table.transaction() as change:
        change.set_properties({"gc.enabled": "false"})
    with pytest.raises(LDPError, match=r"gc\.enabled"):
        _run(folder, expire=1, apply=True)
    assert _run(folder, apply=True).status == "succeeded"


def test_a_config_in_python(folder: Path) -> None:
    rides = Maintenance.of_config(folder / "c.json")
    assert rides.describe().table == "db.t"
    done = rides.run(commit=True)
    assert done.changed
    assert done.lines()[0] == "Maintenance of Iceberg table db.t (applied)"
    event = json.loads((folder / ".ldp" / "events.jsonl").read_text().splitlines()[-1])
    assert (event["type"], event["payload"]["pipeline"]) == ("table.maintained", "c")


def test_a_table_in_python(folder: Path) -> None:
    catalog = json.loads((folder / "c.json").read_text())["metadata"]["target"]["catalog"]
    (folder / "lake.json").write_text(json.dumps(catalog))
    assert Maintenance.of_table("db.t", str(folder / "lake.json")).plan().table == "db.t"


def test_a_config_that_is_wrong_is_told_with_its_own_problems(folder: Path) -> None:
    body = json.loads((folder / "c.json").read_text())
    body["metadata"]["maintenance"] = {"min_input_file": 1}
    (folder / "c.json").write_text(json.dumps(body))
    assert "did you mean min_input_files?" in str(_open(folder).problems()[0])
    (folder / "c.json").unlink()
    assert "not found" in str(_open(folder).problems()[0])


def test_a_config_that_cannot_be_read_is_about_the_key_or_about_the_file(folder: Path) -> None:
    value = {"config": "c.json"}
    task = Task("tidy", "maintain", value, base_dir=folder, key="tasks[0]", file="nightly/w.yaml")
    (folder / "c.json").write_text('{"identifier": ')
    found = KIND.open(task).problems()
    assert [(one.file, one.key) for one in found] == [(str(Path("nightly", "c.json")), "")]
    (folder / "c.json").unlink()
    found = KIND.open(task).problems()
    assert [(one.file, one.key) for one in found] == [(None, "maintain.config")]
    assert str(Path("nightly", "c.json")) in found[0].message
