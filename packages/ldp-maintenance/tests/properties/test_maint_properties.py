"""The table properties that a policy wants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import UsageError
from ldp_core.fs import local_path
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Policy
from ldp_maintenance.properties import apply_properties
from ldp_maintenance.testing import builders
from pyiceberg.table import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = builders.table(builders.catalog(tmp_path), properties={"old": "1", "same": "x"})
    builders.append(made, range(3))
    return made


def _run(table: Table, wanted: Any, *, commit: bool = True) -> Any:
    outcome = apply_properties(
        Target(table.catalog, ("db", "t"), Policy(properties=wanted)), Doing(commit=commit)
    )
    table.refresh()
    return outcome


WANTED = {"write.metadata.previous-versions-max": "5", "same": "x", "old": None, "absent": None}


def test_maint_properties_are_set_and_removed_in_one_commit(table: Table) -> None:
    log = len(table.metadata.metadata_log)
    outcome = _run(table, WANTED)
    assert outcome.status == "done"
    assert outcome.detail["set"] == {"write.metadata.previous-versions-max": "5"}
    assert outcome.detail["removed_properties"] == ["old"]
    assert table.properties["write.metadata.previous-versions-max"] == "5"
    assert "old" not in table.properties
    assert len(table.metadata.metadata_log) == log + 1


def test_maint_properties_that_are_there_commit_nothing(table: Table) -> None:
    _run(table, WANTED)
    location = table.metadata_location
    assert _run(table, WANTED).status == "nothing"
    assert _run(table, {}).status == "nothing"
    assert table.metadata_location == location


def test_maint_properties_a_preview_changes_nothing(table: Table) -> None:
    location = table.metadata_location
    assert _run(table, WANTED, commit=False).status == "preview"
    assert table.metadata_location == location


def test_maint_properties_tells_of_metadata_files_that_are_stranded(table: Table) -> None:
    first = local_path(table.metadata.metadata_log[0].metadata_file)
    (first.parent / "00000-left.metadata.json").write_bytes(first.read_bytes())
    outcome = _run(table, {"write.metadata.previous-versions-max": "1"})
    assert outcome.detail["stranded_metadata_files"] == 1
    assert any("1 older metadata files" in line for line in outcome.lines)


def test_maint_properties_the_ledger_of_keys_is_no_setting(table: Table) -> None:
    with pytest.raises(UsageError, match="ledger of keys"):
        _run(table, {"ldp.keys.version": "9"})
