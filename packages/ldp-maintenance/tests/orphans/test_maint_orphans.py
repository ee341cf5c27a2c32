"""Which files are orphans, and when nothing at all may be deleted."""

from __future__ import annotations

import datetime as dt
import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest
from ldp_core._duck import private
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Change
from ldp_core.commit.publish import publish
from ldp_core.commit.stage import Stage
from ldp_core.errors import UsageError
from ldp_core.fs import local_path
from ldp_core.tables.write import Layout, write_files
from ldp_maintenance.errors import Refused, SafetyAbort
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.orphans import run as orphans_run
from ldp_maintenance.orphans.run import remove_orphans
from ldp_maintenance.policy import Orphans, Policy
from ldp_maintenance.testing import builders, looks
from pyiceberg.table import Table


def _run(
    table: Table, *, days: float = 10, commit: bool = True, others: tuple[str, ...] = (), **given: Any
) -> Any:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
    doing = Doing(commit=commit, clock=lambda: later, written_out=bool(given.pop("written_out", 0)))
    audit: list[Any] = given.pop("audit", [])
    doing = Doing(commit, clock=doing.clock, written_out=doing.written_out, audit=audit.append)
    name = table.name()
    target = Target(table.catalog, (name[0], name[1]), Policy(orphans=Orphans(**given)), others)
    return remove_orphans(target, doing)


def _put(table: Table, *relative: str) -> list[Path]:
    made = []
    for item in relative:
        path = local_path(f"{table.location()}/{item}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"stray")
        made.append(path)
    return made


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = builders.table(builders.catalog(tmp_path))
    builders.small_files(made, 2)
    return made


STRAY = (
    "data/stray.parquet",
    "data/day=1/stray.orc",
    "data/deletes.puffin",
    "metadata/stray-m0.avro",
    "metadata/00099-x.metadata.json",
    "metadata/00099-x.gz.metadata.json",
    "metadata/20240101_1.stats",
)


def test_maint_orphans_unknown_files_go_and_known_ones_stay(table: Table) -> None:
    strays = _put(table, *STRAY)
    kept = looks.files_on_disk(table) - {str(path) for path in strays}
    audit: list[Any] = []
    outcome = _run(table, audit=audit)
    assert outcome.status == "done"
    assert outcome.detail["removed"] == len(STRAY)
    assert outcome.detail["bytes"] == 5 * len(STRAY)
    assert looks.files_on_disk(table) == kept
    assert len(audit) == len(STRAY)
    assert _run(table).status == "nothing"


def test_maint_orphans_a_preview_removes_nothing(table: Table) -> None:
    _put(table, *STRAY)
    before = looks.files_on_disk(table)
    outcome = _run(table, commit=False)
    assert outcome.status == "preview"
    assert outcome.detail["orphans"] == len(STRAY)
    assert looks.files_on_disk(table) == before


def test_maint_orphans_young_files_stay_for_three_days_and_are_counted(table: Table) -> None:
    path = _put(table, "data/stray.parquet")[0]
    outcome = _run(table, days=2.9)
    assert path.exists()
    assert outcome.detail["left_young"] == 1
    assert any("1 are younger than 3 days" in line for line in outcome.lines)
    _run(table, days=3.1)
    assert not path.exists()


def test_maint_orphans_hidden_names_and_other_names_stay_unless_asked(table: Table) -> None:
    hidden = _put(table, "data/_tmp/a.parquet", "data/.hidden/b.parquet", "data/_c.parquet")
    other = _put(table, "data/_SUCCESS", "README.txt", "data/x.csv")
    outcome = _run(table)
    assert all(path.exists() for path in (*hidden, *other))
    assert (outcome.detail["left_hidden"], outcome.detail["left_other_names"]) == (4, 2)
    _run(table, hidden=True)
    assert [path.exists() for path in (*hidden, *other)] == [False] * 3 + [True] * 3
    _run(table, hidden=True, any_name=True)
    assert not any(path.exists() for path in other)
    assert not looks.unreferenced_files(table)


def test_maint_orphans_what_a_load_left_in_its_folder_of_a_partition_goes(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="day")
    base = load_base(table.catalog, ("db", "t"))
    metadata = base.metadata
    layout = Layout(metadata.schema(), metadata.spec(), metadata.properties, {})
    sql = "SELECT 1::BIGINT AS id, 'NYC' AS city, TIMESTAMP '2024-01-01' AS at, 0.5::DOUBLE AS amount"
    with Stage(base, str(uuid.uuid4())) as stage:
        with private() as con:
            (file,) = write_files(con, sql, layout, stage.folder).files
        publish(base, lambda fresh: Change("append", added=(file,)), stage=stage)
    path = local_path(file.file_path)
    assert path.parent.name.startswith("__p0=")
    lost = Path(shutil.copy(path, path.with_name("lost.parquet")))
    (stranger,) = _put(table, "data/__p0=x/stray.parquet")
    assert _run(table.refresh()).detail["removed"] == 1
    assert (path.exists(), lost.exists(), stranger.exists()) == (True, False, True)


def test_maint_orphans_a_partition_field_with_an_underscore_is_no_hidden_folder(tmp_path: Path) -> None:
    from pyiceberg.transforms import IdentityTransform

    table = builders.table(builders.catalog(tmp_path))
    with table.update_spec() as update:
        update.add_field("city", IdentityTransform(), "_city")
    builders.append(table, range(3))
    path, hidden = _put(table, "data/_city=NYC/a.parquet", "data/_other=NYC/a.parquet")
    _run(table)
    assert not path.exists()
    assert hidden.exists()


def test_maint_orphans_of_every_snapshot_ref_and_statistics_stay(table: Table) -> None:
    paths = list(looks.live_files(table))
    builders.branch(table, "dev")
    builders.overwrite(table, paths[0], range(10))
    builders.staged(table, range(5))
    builders.rollback(table)
    table.refresh()
    before = looks.files_on_disk(table)
    assert _run(table).status == "nothing"
    assert looks.files_on_disk(table) == before


def test_maint_orphans_a_lost_data_file_aborts(table: Table) -> None:
    stray = _put(table, "data/stray.parquet")[0]
    lost = next(iter(looks.live_files(table)))
    local_path(lost).unlink()
    with pytest.raises(SafetyAbort, match="is not among the files") as caught:
        _run(table)
    assert lost.rsplit("/", 1)[-1] in str(caught.value)
    assert caught.value.code == "safety_abort"
    assert caught.value.exit_code == 1
    assert stray.exists()


@pytest.mark.parametrize("where", ["inside", "around", "same"])
def test_maint_orphans_overlapping_tables_abort(table: Table, where: str) -> None:
    stray = _put(table, "data/stray.parquet")[0]
    location = table.location()
    other = {"inside": f"{location}/sub/t2", "around": location.rpartition("/")[0], "same": location}[where]
    with pytest.raises(SafetyAbort, match="overlap"):
        _run(table, others=(str(local_path(other)),))
    assert stray.exists()
    _run(table, others=(f"{location}2", f"{location}_old/t"))
    assert not stray.exists()


def test_maint_orphans_of_a_table_inside_that_nobody_named_stay(table: Table) -> None:
    theirs = _put(table, "sub/metadata/00000-a.metadata.json", "sub/data/a.parquet")
    stray = _put(table, "data/stray.parquet")[0]
    outcome = _run(table)
    assert not stray.exists()
    assert all(path.exists() for path in theirs)
    assert outcome.detail["left_doubtful"] == 2


def test_maint_orphans_a_data_path_that_holds_the_table_aborts(tmp_path: Path, table: Table) -> None:
    table.transaction().set_properties({"write.data.path": str(tmp_path)}).commit_transaction()
    with pytest.raises(SafetyAbort, match="beside it"):
        _run(table)
    table.transaction().set_properties({"write.data.path": "s3://bucket"}).commit_transaction()
    with pytest.raises(SafetyAbort, match="whole store"):
        _run(table)


def test_maint_orphans_the_folders_of_the_properties_are_swept_too(tmp_path: Path) -> None:
    places = {
        "write.data.path": f"{tmp_path}/far/data",
        "write.metadata.path": f"file://{tmp_path}/far/meta/",
    }
    table = builders.table(builders.catalog(tmp_path), properties=places)
    builders.small_files(table, 2)
    strays = [tmp_path / "far" / "data" / "s.parquet", tmp_path / "far" / "meta" / "s.avro"]
    for path in strays:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    rows = looks.rows(table)
    assert _run(table).detail["removed"] == 2
    assert not any(path.exists() for path in strays)
    assert looks.rows(table) == rows


@pytest.mark.parametrize("category", ["data", "manifest", "manifest_list", "metadata"])
def test_maint_orphans_an_empty_category_aborts(
    table: Table, category: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stray = _put(table, "data/stray.parquet")[0]
    real = orphans_run._reached

    def partly(base: Any, reader: Any) -> Any:
        return {key: file for key, file in real(base, reader).items() if file.kind != category}

    monkeypatch.setattr(orphans_run, "_reached", partly)
    with pytest.raises(SafetyAbort, match="points at no"):
        _run(table)
    assert stray.exists()


@pytest.mark.parametrize("other", ["plain", "file:", "file://", "link", "doubled"])
def test_maint_orphans_any_spelling_of_a_place_is_the_same_place(tmp_path: Path, other: str) -> None:
    table = builders.table(builders.catalog(tmp_path))
    plain = str(local_path(table.location()))
    link = tmp_path / "link"
    link.symlink_to(Path(plain).parent, target_is_directory=True)
    spelled = {
        "plain": plain,
        "file:": f"file:{plain}",
        "file://": f"file://{plain}",
        "link": f"{link}/{Path(plain).name}",
        "doubled": f"{Path(plain).parent}//{Path(plain).name}/",
    }[other]
    table.transaction().set_properties({"write.data.path": f"{spelled}/data"}).commit_transaction()
    table.refresh()
    builders.small_files(table, 2)
    stray = _put(table, "data/stray.parquet")[0]
    rows = looks.rows(table)
    assert _run(table).detail["removed"] == 1
    assert not stray.exists()
    assert looks.rows(table) == rows


def test_maint_orphans_files_of_a_run_that_is_at_work_stay(table: Table) -> None:
    base = load_base(table.catalog, ("db", "t"))
    with Stage(base, "a-run") as stage:
        path = Path(local_path(stage.new_file()))
        path.write_bytes(b"half")
        manifest = local_path(stage.manifest)
        meta = _put(table, f"metadata/{stage.commit_uuid}-m0.avro")[0]
        outcome = _run(table, hidden=True, any_name=True)
        assert path.exists()
        assert manifest.exists()
        assert meta.exists()
        assert outcome.detail["left_staged"] == 3


def test_maint_orphans_an_append_while_storage_is_listed_survives(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    stray = _put(table, "data/stray.parquet")[0]
    real = orphans_run.list_files

    def slow(root: str, properties: Any) -> Any:
        builders.append(table, range(100, 105))
        found = real(root, properties)
        builders.append(table, range(105, 110))
        return found

    monkeypatch.setattr(orphans_run, "list_files", slow)
    assert _run(table).detail["removed"] == 1
    assert not stray.exists()
    assert len(looks.rows(table)) == 30
    assert not looks.unreferenced_files(table)


def test_maint_orphans_a_file_that_is_taken_in_right_before_the_deletion_stays(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = next(iter(looks.live_files(table)))
    path = local_path(f"{table.location()}/data/late.parquet")
    path.write_bytes(local_path(source).read_bytes())
    real = orphans_run.sort_out

    def late(*given: Any) -> Any:
        found = real(*given)
        table.refresh()
        table.add_files([str(path)])
        return found

    monkeypatch.setattr(orphans_run, "sort_out", late)
    assert _run(table).detail["removed"] == 0
    assert path.exists()


def test_maint_orphans_refuses_where_garbage_collection_is_off(table: Table) -> None:
    table.transaction().set_properties({"gc.enabled": "false"}).commit_transaction()
    with pytest.raises(Refused, match=r"gc\.enabled"):
        _run(table)


@pytest.mark.parametrize(
    "given",
    [{"s3.signer": "S3V4RestSigner"}, {"s3.remote-signing-enabled": "true"}, {"s3.signer.uri": "http://x"}],
)
def test_maint_orphans_refuses_where_storage_cannot_be_listed(table: Table, given: Any) -> None:
    table.io.properties.update(given)
    table.catalog.properties.update(given)
    with pytest.raises(Refused, match="cannot be listed"):
        _run(table)


def test_maint_orphans_ages_are_not_negative_and_zero_is_written_out(table: Table) -> None:
    stray = _put(table, "data/stray.parquet")[0]
    with pytest.raises(UsageError, match="negative"):
        _run(table, older_than_days=-1, written_out=True)
    with pytest.raises(UsageError, match="is 0"):
        _run(table, older_than_days=0)
    assert stray.exists()
    _run(table, days=0.01, older_than_days=0, written_out=True)
    assert not stray.exists()


def test_maint_orphans_of_version_three_go_and_vectors_stay(tmp_path: Path) -> None:
    from ldp_maintenance.testing.three import v3_table

    table = v3_table(builders.catalog(tmp_path), "three")
    needed = looks.referenced_files(table)
    rest = looks.unreferenced_files(table)
    stray = _put(table, "data/stray.puffin")[0]
    assert _run(table).detail["removed"] == 1 + len(rest)
    assert not stray.exists()
    assert looks.files_on_disk(table) == needed


def test_maint_orphans_of_an_empty_table(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    assert _run(table).status == "nothing"
    stray = _put(table, "data/stray.parquet")[0]
    assert _run(table).detail["removed"] == 1
    assert not stray.exists()
    assert not looks.unreferenced_files(table)
