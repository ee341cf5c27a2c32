"""One table under two names: what one name lets go, the other one may still need."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.fs import local_path
from ldp_maintenance import Doing, Maintained, Maintenance, Target
from ldp_maintenance.model import Operation, Outcome
from ldp_maintenance.testing import builders, looks
from pyiceberg.table import Table

EXPIRE: list[Operation] = ["expire-snapshots"]


class _Counting(ClosingCatalog):
    """A catalog that notes what is asked of it, and lists nothing where it may not."""

    lists = True

    def __init__(self, *given: Any, **properties: Any) -> None:
        self.asked: list[str] = []
        super().__init__(*given, **properties)

    def list_tables(self, namespace: Any) -> Any:
        self.asked.append("tables")
        if not self.lists:
            raise PermissionError("no listing")
        return super().list_tables(namespace)

    def load_table(self, identifier: Any) -> Any:
        self.asked.append(".".join(identifier))
        return super().load_table(identifier)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """``db.t`` with a data file that only older snapshots hold."""
    made = builders.table(builders.catalog(tmp_path))
    builders.overwrite(made, builders.small_files(made, 3)[0], range(10))
    return made


def _counting(table: Table) -> _Counting:
    return _Counting("test", **table.catalog.properties)


def _run(
    catalog: Any, name: str = "t", operations: list[Operation] | None = None, *, commit: bool = True
) -> Maintained:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=10)
    doing = Doing(clock=lambda: later)
    return Maintenance(Target(catalog, ("db", name))).run(operations, commit=commit, doing=doing)


def _expired(catalog: Any, name: str = "t", *, commit: bool = True) -> Outcome:
    return _run(catalog, name, EXPIRE, commit=commit).outcomes[0]


def _again(
    table: Table, name: str = "again", *, location: str | None = None, file: str | None = None
) -> Table:
    """Register the table once more, of its own metadata file or of a copy that spells its location anew."""
    path = table.metadata_location
    if location is not None or file is not None:
        body = json.loads(local_path(path).read_text())
        path = file or path.replace(".metadata.json", "-copy.metadata.json")
        local_path(path).parent.mkdir(parents=True, exist_ok=True)
        local_path(path).write_text(json.dumps({**body, "location": location or body["location"]}))
    return table.catalog.register_table(("db", name), path)


@pytest.mark.parametrize("commit", [False, True])
@pytest.mark.parametrize(("name", "other"), [("t", "again"), ("again", "t")])
def test_maint_expire_a_table_of_two_names_is_refused_under_both(
    table: Table, commit: bool, name: str, other: str
) -> None:
    again = _again(table)
    before = looks.files_on_disk(table)
    outcome = _expired(table.catalog, name, commit=commit)
    assert (outcome.status, outcome.code) == ("refused", "safety_abort")
    assert str(outcome.reason).startswith(f"db.{name} and db.{other} are two names of one table")
    assert "gc.enabled=false" in str(outcome.hint)
    assert looks.files_on_disk(table) == before
    assert table.refresh().metadata_location == again.refresh().metadata_location
    assert len(looks.rows(again, again.metadata.snapshots[0].snapshot_id)) == 10


def test_maint_orphans_of_a_table_of_two_names_are_left_with_the_same_advice(table: Table) -> None:
    _again(table)
    outcome = _run(table.catalog, operations=["remove-orphans"]).outcomes[0]
    assert outcome.code == "safety_abort"
    assert str(outcome.hint).endswith("drop one of the names and leave the files")


@pytest.mark.parametrize("spell", ["{0}/", "file:{0}", "file://{0}//", "file://localhost{0}"])
def test_maint_expire_however_the_location_is_spelled(table: Table, spell: str) -> None:
    _again(table, location=spell.format(local_path(table.location())))
    assert _expired(table.catalog).code == "safety_abort"


def test_maint_expire_through_a_link_to_the_same_folder(table: Table, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "warehouse")
    _again(table, location=table.location().replace("/warehouse/", "/link/"))
    assert _expired(table.catalog).code == "safety_abort"


def test_maint_expire_wherever_the_metadata_file_of_the_other_name_lies(table: Table, tmp_path: Path) -> None:
    _again(table, file=f"file://{tmp_path}/backup/metadata/00007-saved.metadata.json")
    assert _expired(table.catalog).code == "safety_abort"


def test_maint_expire_goes_on_once_one_of_the_names_is_dropped(table: Table) -> None:
    _again(table)
    assert _expired(table.catalog).code == "safety_abort"
    table.catalog.drop_table("db.again")
    assert _expired(table.catalog).status == "done"


def test_maint_expire_of_a_table_in_another_ones_folder_goes_on(table: Table) -> None:
    inside = table.catalog.create_table(
        ("db", "inside"), builders.SCHEMA, location=f"{table.location()}/data/inside"
    )
    builders.small_files(inside, 2)
    _again(table, "beside", location=f"{table.location()}_2")
    assert [_expired(table.catalog, name).status for name in ("t", "inside")] == ["done", "done"]


def test_maint_expire_where_nothing_may_be_deleted_nobody_asks_for_other_tables(table: Table) -> None:
    with table.transaction() as change:
        change.set_properties({"gc.enabled": "false"})
    _again(table)
    catalog = _counting(table)
    assert (_expired(catalog).code, "tables" in catalog.asked) == ("refused", False)


def test_maint_expire_goes_on_with_a_note_where_the_catalog_lists_nothing(table: Table) -> None:
    catalog = _counting(table)
    catalog.lists = False
    outcome = _expired(catalog)
    assert outcome.status == "done"
    assert [line for line in outcome.lines if "catalog test does not list its tables" in line]


def test_maint_expire_goes_on_with_a_note_where_a_table_cannot_be_read(table: Table, tmp_path: Path) -> None:
    lost = _again(table, "lost", file=f"file://{tmp_path}/apart/00007-saved.metadata.json")
    local_path(lost.metadata_location).unlink()
    *_, expired, orphans = _run(table.catalog).outcomes
    assert expired.status == "done"
    assert [line for line in expired.lines if "nobody can tell where db.lost lies" in line]
    assert str(orphans.reason).startswith("nobody can tell where table db.lost is")


def test_maint_expire_loads_none_of_the_other_tables_and_asks_once_a_run(table: Table) -> None:
    for number in range(5):
        builders.append(builders.table(table.catalog, f"other{number}"), range(10))
    catalog = _counting(table)
    found = _run(catalog)
    assert not found.errors
    assert set(catalog.asked) == {"tables", "db.t"}
    assert catalog.asked.count("tables") == 1
