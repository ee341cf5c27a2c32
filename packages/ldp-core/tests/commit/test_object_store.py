"""Publishing, staging and sweeping on S3 (a server in this process's care)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from ldp_core.catalogs import load_table, open_catalog
from ldp_core.commit import recover
from ldp_core.commit._store import Store
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base
from ldp_core.commit.locks import table_lock
from ldp_core.commit.recover import sweep
from ldp_core.commit.retry import RetryPolicy
from ldp_core.commit.stage import Stage
from ldp_core.spi import Spec
from ldp_core.testing.builders import append, new_table, write_parquet

pytestmark = pytest.mark.service
NAME = ("nyc", "rides")
QUICK = RetryPolicy(deadline=20, sleep=lambda _: None)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=url, **keys).create_bucket(Bucket="lake")
    yield url
    server.stop()


@pytest.fixture
def spec(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spec:
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LDP_S3_ENDPOINT", endpoint)
    values = {
        "type": "sql",
        "uri": "sqlite:///lake.db",
        "warehouse": f"s3://lake/{tmp_path.name}",
        "namespace": "nyc",
    }
    return Spec(values, tmp_path)


def base_of(spec: Spec) -> Base:
    return load_base(open_catalog(spec, create=True), NAME, new_table())


def files(base: Base) -> set[str]:
    return {item.uri for item in Store(dict(base.io.properties)).list(base.metadata.location)}


def test_append_race_and_sweep(spec: Spec) -> None:
    append(base_of(spec), "r1", [1])
    stale = base_of(spec)
    append(base_of(spec), "r2", [2])
    assert append(stale, "r3", [3], policy=QUICK).attempts == 2
    assert sorted(load_table(spec, "rides").scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]
    base = base_of(spec)
    before = files(base)
    assert len([name for name in before if name.endswith(".parquet")]) == 3
    assert len([name for name in before if name.endswith(".avro")]) == 6
    assert len([name for name in before if name.endswith(".metadata.json")]) == 3
    assert not [name for name in before if "_ldp" in name]
    stage = Stage(base, "dead")
    stage.__enter__()
    write_parquet(base, stage.new_file(), {"id": [9], "city": ["x"]})
    stage._close()
    assert sweep(base) == 0
    store = Store(dict(base.io.properties))
    body = json.loads(store.read(stage.manifest) or b"")
    store.write(stage.manifest, json.dumps({**body, "pid": 2**22 + 1}).encode())
    assert sweep(base) == 1
    assert files(base) == before


def test_a_foreign_run_is_dead_by_the_stores_clock(spec: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    base = base_of(spec)
    stage = Stage(base, "far")
    stage.__enter__()
    stage._close()
    store = Store(dict(base.io.properties))
    body = json.loads(store.read(stage.manifest) or b"")
    store.write(stage.manifest, json.dumps({**body, "host": "elsewhere"}).encode())
    assert sweep(base) == 0
    assert store.read(stage.manifest) is not None
    monkeypatch.setattr(recover, "DEAD_SECONDS", -5.0)
    sweep(base)
    assert files(base) == set()
    assert not store.touch(stage.manifest, b"")


def test_discard_and_lock(spec: Spec) -> None:
    base = base_of(spec)
    with table_lock(base), Stage(base, "r") as stage:
        write_parquet(base, stage.new_file(), {"id": [9], "city": ["x"]})
        assert len(files(base)) == 2
    assert files(base) == set()
