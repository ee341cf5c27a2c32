"""Staged files: findable before they exist, renewed, swept when their run is dead, never when published."""

from __future__ import annotations

import errno
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit import stage as stage_module
from ldp_core.commit._store import Store
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.publish import publish
from ldp_core.commit.recover import sweep
from ldp_core.commit.stage import Stage
from ldp_core.errors import CommitConflict
from ldp_core.fs import local_path
from ldp_core.ids import run_hex
from ldp_core.testing.builders import append, data_files, new_table, orphans, write_parquet

NAME = ("nyc", "rides")


def base_of(tmp_path: Path) -> Base:
    return load_base(LocalIcebergCatalog("nyc", tmp_path / "wh"), NAME, new_table())


def manifest_of(base: Base, run_id: str, attempt: int = 1) -> Path:
    return local_path(base.metadata.location) / "_ldp" / "staged" / f"{run_hex(run_id)}_a{attempt}.json"


def left_by_a_dead_run(base: Base, run_id: str, **changes: object) -> tuple[Path, Path]:
    """A staged manifest and a data file, as a killed process leaves them."""
    stage = Stage(base, run_id)
    stage.__enter__()
    data = local_path(write_parquet(base, stage.new_file(), {"id": [1], "city": ["x"]}))
    stage._close()
    manifest = manifest_of(base, run_id)
    body = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**body, **changes}))
    return manifest, data


def test_the_manifest_stands_before_the_first_file(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    with Stage(base, "r1", 3) as stage:
        body = json.loads(manifest_of(base, "r1", 3).read_text())
        assert body["version"] == 1
        assert body["run_id"] == "r1"
        assert body["attempt"] == 3
        assert body["pid"] == os.getpid()
        assert isinstance(body["snapshot_id"], str)
        assert local_path(stage.folder).is_dir()
        assert stage.folder.startswith(f"{base.metadata.location}/data/ldp_{run_hex('r1')}_a3_")
        assert stage.folder.endswith(body["folder"])
        names = {stage.new_file(".parquet") for _ in range(100)}
        assert len(names) == 100


def test_a_full_disk_is_told_with_the_place_and_leaves_no_part_of_a_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    place = tmp_path / "staged" / "r1.json"
    with pytest.raises(OSError, match="No space left on device") as caught:
        Store().write(str(place), b"{}")
    assert caught.value.filename == str(place)
    assert list(place.parent.iterdir()) == []


def test_leaving_without_publishing_removes_all(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    with Stage(base, "r1") as stage:
        write_parquet(base, stage.new_file(), {"id": [1], "city": ["x"]})
    stage.discard()
    assert not local_path(base.metadata.location).exists()
    append(base, "r2", [1])
    base = base_of(tmp_path)
    with Stage(base, "r3") as stage:
        write_parquet(base, stage.new_file(), {"id": [1], "city": ["x"]})
    assert not orphans(base)
    assert not list(local_path(base.metadata.location).rglob("_ldp"))


def test_files_that_were_not_published_are_removed_with_the_publish(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    with Stage(base, "r1") as stage:
        paths = [write_parquet(base, stage.new_file(), {"id": [n], "city": ["x"]}) for n in (1, 2)]
        publish(base, lambda b: Change("append", added=data_files(b, paths[:1])), stage=stage)
    assert local_path(paths[0]).exists()
    assert not local_path(paths[1]).exists()
    assert not manifest_of(base, "r1").exists()


def test_a_live_run_is_left_alone(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    with Stage(base, "r1") as stage:
        path = write_parquet(base, stage.new_file(), {"id": [1], "city": ["x"]})
        assert sweep(base) == 0
        assert local_path(path).exists()


def test_a_dead_process_of_this_host_is_swept_at_once(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    for changes in ({"pid": 2**22 + 1}, {"started": "12345"}):
        manifest, data = left_by_a_dead_run(base, "r1", **changes)
        assert sweep(base) == 1
        assert not data.exists()
        assert not manifest.exists()
        assert not local_path(base.metadata.location).exists()


def test_a_run_of_another_host_is_dead_after_15_minutes_by_the_stores_clock(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    manifest, data = left_by_a_dead_run(base, "r1", host="elsewhere")
    assert sweep(base) == 0
    now = time.time()
    os.utime(manifest, (now - 14 * 60, now - 14 * 60))
    assert sweep(base) == 0
    assert data.exists()
    os.utime(manifest, (now - 16 * 60, now - 16 * 60))
    assert sweep(base) == 1
    assert not data.exists()


class Served:
    """A catalog that a server keeps: it goes on with a request whose sender is dead."""

    def __init__(self, catalog: Any) -> None:
        self.load_table = catalog.load_table
        self.name, self.properties = catalog.name, catalog.properties


def test_a_commit_that_a_server_may_still_make_is_waited_for(tmp_path: Path) -> None:
    append(base_of(tmp_path), "r0", [0])
    base = base_of(tmp_path)
    served = replace(base, catalog=cast("Any", Served(base.catalog)))
    manifest, data = left_by_a_dead_run(base, "r1", pid=2**22 + 1, state="publishing")
    assert sweep(served) == 0
    assert data.exists()
    now = time.time()
    os.utime(manifest, (now - 16 * 60, now - 16 * 60))
    assert sweep(served) == 1
    assert not data.exists()


@pytest.mark.parametrize("reads", [False, True], ids=["knows its files", "reads them again"])
def test_a_run_that_stood_still_too_long_does_not_publish(tmp_path: Path, reads: bool) -> None:
    append(base_of(tmp_path), "r0", [0])
    base = base_of(tmp_path)
    with Stage(base, "r1") as stage:
        path = write_parquet(base, stage.new_file(), {"id": [1], "city": ["x"]})
        files = data_files(base, [path])
        manifest = manifest_of(base, "r1")
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "host": "elsewhere"}))
        old = time.time() - 3600
        os.utime(manifest, (old, old))
        assert sweep(base) == 1
        with pytest.raises(CommitConflict, match="stood still"):
            publish(
                base,
                lambda b: Change("append", added=data_files(b, [path]) if reads else files),
                stage=stage,
            )
    base = base_of(tmp_path)
    assert len(base.metadata.snapshots) == 1
    assert not orphans(base)


def test_the_manifest_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_module, "RENEW_SECONDS", 0.02)
    base = base_of(tmp_path)
    with Stage(base, "r1"):
        manifest = manifest_of(base, "r1")
        os.utime(manifest, (1, 1))
        deadline = time.monotonic() + 10
        while manifest.stat().st_mtime < 10 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert time.time() - manifest.stat().st_mtime < 60


def test_a_kill_between_publish_and_clean_up_costs_no_row(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    stage = Stage(base, "r1")
    stage.__enter__()
    paths = [write_parquet(base, stage.new_file(), {"id": [n], "city": ["x"]}) for n in (1, 2)]
    stage._close()
    publish(base, lambda b: Change("append", added=data_files(b, paths[:1])))
    manifest = manifest_of(base, "r1")
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "pid": 2**22 + 1}))
    base = base_of(tmp_path)
    assert sweep(base) == 1
    assert local_path(paths[0]).exists()
    assert not local_path(paths[1]).exists()
    assert base.catalog.load_table(NAME).scan().to_arrow()["id"].to_pylist() == [1]


def test_the_same_attempt_cannot_run_twice_at_once(tmp_path: Path) -> None:
    base = base_of(tmp_path)
    with Stage(base, "r1"), pytest.raises(CommitConflict, match="already"), Stage(base, "r1"):
        pass


def test_a_manifest_that_names_a_foreign_folder_deletes_nothing(tmp_path: Path) -> None:
    append(base_of(tmp_path), "r0", [0])
    base = base_of(tmp_path)
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious.txt").write_text("x")
    relative = os.path.relpath(victim, local_path(base.metadata.location) / "data")
    left_by_a_dead_run(base, "r1", pid=2**22 + 1, folder=relative)
    sweep(base)
    left_by_a_dead_run(base, "r2", pid=2**22 + 1, folder="..")
    sweep(base)
    assert (victim / "precious.txt").exists()
    assert base.catalog.load_table(NAME).scan().to_arrow()["id"].to_pylist() == [0]


def test_what_is_no_manifest_is_left(tmp_path: Path) -> None:
    append(base_of(tmp_path), "r0", [0])
    base = base_of(tmp_path)
    folder = local_path(base.metadata.location) / "_ldp" / "staged"
    folder.mkdir(parents=True)
    name = folder / f"{'0' * 32}_a1.json"
    for text in ("", "[]", "{", '{"version": 99}', "null"):
        name.write_text(text)
        (folder / "notes.txt").write_text("x")
        assert sweep(base) == 0
        assert name.exists()


def test_write_data_path_is_respected(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/elsewhere"
    cat = LocalIcebergCatalog("nyc", tmp_path / "wh")
    base = load_base(cat, NAME, new_table(**{"write.data.path": place}))
    append(base, "r1", [1])
    assert len(list((tmp_path / "elsewhere").rglob("*.parquet"))) == 1
    base = base_of(tmp_path)
    left_by_a_dead_run(base, "r2", pid=2**22 + 1)
    assert sweep(base) == 1
    assert len(list((tmp_path / "elsewhere").rglob("*.parquet"))) == 1
