"""The age of a file is told by the clock of its storage: what that calls young stays, whatever ours says."""

from __future__ import annotations

import datetime as dt
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.fs import local_path
from ldp_maintenance import Doing, Orphans, Policy, Target, remove_orphans
from ldp_maintenance.errors import Refused, SafetyAbort
from ldp_maintenance.orphans import safety
from ldp_maintenance.testing import builders, looks
from pyiceberg.table import Table

HOUR = 3600.0


def _run(table: Table, *, ours: float = 0.0, hours: float = 1.0, commit: bool = True) -> Any:
    """Remove orphans older than so many hours, with a clock that is so many seconds ahead of the real one."""
    clock = lambda: dt.datetime.now(dt.UTC) + dt.timedelta(seconds=ours)  # noqa: E731
    policy = Policy(orphans=Orphans(older_than_days=hours / 24))
    return remove_orphans(Target(table.catalog, ("db", "t"), policy), Doing(commit, clock=clock))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets this machine's clock so many seconds ahead of the one that dates files."""

    def ahead(seconds: float) -> None:
        monkeypatch.setattr(safety, "time", SimpleNamespace(time=lambda: time.time() + seconds))

    return ahead


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made = builders.table(builders.catalog(tmp_path))
    builders.small_files(made, 2)
    return made


def _stray(table: Table, age: float) -> Path:
    """A stray file that is so many seconds old by the clock of its storage."""
    path = local_path(f"{table.location()}/data/stray-{age:.0f}.parquet")
    path.write_bytes(b"stray")
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_maint_orphans_dated_in_the_future_stay(table: Table) -> None:
    paths = [_stray(table, age) for age in (-5 * HOUR, -1000 * HOUR)]
    old = _stray(table, 2 * HOUR)
    outcome = _run(table)
    assert all(path.exists() for path in paths)
    assert not old.exists()
    assert outcome.detail["left_young"] == 2


@pytest.mark.parametrize("ahead", [-540.0, -60.0, 60.0, 540.0])
def test_maint_orphans_younger_than_the_guard_by_the_clock_of_storage_stay(
    table: Table, machine: Any, ahead: float
) -> None:
    machine(ahead)
    young, old = _stray(table, HOUR - 20), _stray(table, HOUR + 1200)
    outcome = _run(table, ours=ahead)
    assert young.exists()
    assert not old.exists()
    assert (outcome.detail["removed"], outcome.detail["left_young"]) == (1, 1)


@pytest.mark.parametrize("ahead", [-5 * HOUR, 5 * HOUR])
def test_maint_orphans_stay_where_the_clocks_are_far_apart(table: Table, machine: Any, ahead: float) -> None:
    machine(ahead)
    old = _stray(table, 100 * HOUR)
    before = looks.files_on_disk(table)
    assert _run(table, ours=ahead, commit=False).status == "preview"
    with pytest.raises(SafetyAbort, match="seconds apart") as caught:
        _run(table, ours=ahead)
    assert "set the one that is wrong" in str(caught.value.hint)
    assert old.exists()
    assert looks.files_on_disk(table) == before


def test_maint_orphans_nothing_is_left_of_the_look_at_the_clock(table: Table) -> None:
    _stray(table, 2 * HOUR)
    folders = {path for path in local_path(table.location()).rglob("*") if path.is_dir()}
    assert _run(table).detail["removed"] == 1
    assert {path for path in local_path(table.location()).rglob("*") if path.is_dir()} == folders
    assert not looks.unreferenced_files(table)


def test_maint_orphans_stay_where_the_clock_cannot_be_asked(table: Table) -> None:
    old = _stray(table, 2 * HOUR)
    local_path(f"{table.location()}/_ldp").write_bytes(b"no folder")
    with pytest.raises(Refused, match="cannot be asked"):
        _run(table)
    assert old.exists()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, dict[str, str], Any]]:
    """A bucket of an S3 server whose clock can be set, how to reach it, and what sets its clock."""
    import boto3
    from moto.s3 import models
    from moto.server import ThreadedMotoServer

    bucket = f"t{uuid.uuid4().hex}"  # servers of one process share what they hold
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=url, **keys).create_bucket(Bucket=bucket)
    reach = {"s3.endpoint": url, "s3.access-key-id": "a", "s3.secret-access-key": "b"}
    real = models.utcnow

    def ahead(seconds: float) -> None:
        monkeypatch.setattr(models, "utcnow", lambda: real() + dt.timedelta(seconds=seconds))

    yield f"s3://{bucket}", {**reach, "s3.region": "us-east-1"}, ahead
    server.stop()


@pytest.mark.service
def test_maint_orphans_of_a_store_are_dated_by_its_clock(tmp_path: Path, store: Any) -> None:
    bucket, reach, ahead = store
    catalog = ClosingCatalog("test", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"{bucket}/wh", **reach)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", builders.SCHEMA)
    table.append(table.schema().as_arrow().empty_table())
    for age in (HOUR - 20, HOUR + 1200):
        ahead(-age - 300)
        with table.io.new_output(f"{table.location()}/data/{age:.0f}.parquet").create() as stream:
            stream.write(b"x")
    ahead(-300)  # five minutes behind ours
    outcome = _run(table)
    assert (outcome.detail["removed"], outcome.detail["left_young"]) == (1, 1)
    for seconds in (5 * HOUR, -5 * HOUR):
        ahead(seconds)
        with pytest.raises(SafetyAbort, match=f"files of {bucket}/.* seconds apart"):
            _run(table, ours=30 * HOUR)
    assert table.io.new_input(f"{table.location()}/data/{HOUR - 20:.0f}.parquet").exists()


@pytest.mark.service
def test_maint_orphans_each_storage_of_a_table_is_asked(tmp_path: Path, store: Any) -> None:
    bucket, reach, ahead = store
    catalog = ClosingCatalog(
        "test", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}", **reach
    )
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", builders.SCHEMA, properties={"write.data.path": f"{bucket}/far"})
    table.append(table.schema().as_arrow().empty_table())
    ahead(-5 * HOUR)
    with table.io.new_output(f"{bucket}/far/stray.parquet").create() as stream:
        stream.write(b"x")
    with pytest.raises(SafetyAbort, match=f"files of {bucket}/.* seconds apart"):
        _run(table)
    assert table.io.new_input(f"{bucket}/far/stray.parquet").exists()
