"""Expiry and orphan removal on S3 (a server in this process's care)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_maintenance import Maintenance
from ldp_maintenance.expire import expire_snapshots
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.orphans.run import remove_orphans

pytestmark = pytest.mark.service


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[ClosingCatalog]:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=url, **keys).create_bucket(Bucket="lake")
    reach = {
        "s3.endpoint": url,
        "s3.access-key-id": "a",
        "s3.secret-access-key": "b",
        "s3.region": "us-east-1",
    }
    made = ClosingCatalog("test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse="s3a://lake/wh", **reach)
    made.create_namespace("db")
    yield made
    server.stop()


def test_maint_object_store_expiry_and_orphans(catalog: ClosingCatalog) -> None:
    rows = pa.table({"id": [1, 2, 3]})
    table = catalog.create_table(
        ("db", "t"), rows.schema, properties={"write.data.path": "s3://lake/wh/db/t/data"}
    )
    for _ in range(3):
        table.append(rows)
    table.overwrite(rows)
    for name in ("stray%20 x.parquet", "stray.parquet"):
        with table.io.new_output(f"{table.location()}/data/{name}").create() as stream:
            stream.write(b"x")
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=30)
    told: list[Any] = []
    doing = Doing(commit=True, clock=lambda: later, audit=told.append)
    expired = expire_snapshots(Target(catalog, ("db", "t")), doing)
    assert expired.detail["files"]["data"] == 3
    assert expired.detail["deleted_files"] == len(told)
    assert remove_orphans(Target(catalog, ("db", "t")), doing).detail["removed"] == 2
    table.refresh()
    assert table.scan().to_arrow().num_rows == 3
    assert remove_orphans(Target(catalog, ("db", "t")), doing).status == "nothing"


def test_maint_object_store_a_table_of_two_names_is_found_without_loading_any(
    catalog: ClosingCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"id": [1, 2, 3]})
    for name in ("t", "other"):
        table = catalog.create_table(("db", name), rows.schema)
        table.append(rows)
    table = catalog.load_table("db.t")
    copy = table.metadata_location.replace(".metadata.json", "-copy.metadata.json")
    text = table.io.new_input(table.metadata_location).open().read()
    with table.io.new_output(copy).create() as stream:
        stream.write(text.replace(b"s3a://lake/wh/db/t", b"s3://lake/wh/db/t/"))
    catalog.register_table("db.again", copy)
    loaded: list[str] = []
    load = catalog.load_table
    monkeypatch.setattr(catalog, "load_table", lambda name: (loaded.append(".".join(name)), load(name))[1])
    outcome = Maintenance(Target(catalog, ("db", "t"))).plan(["expire-snapshots"]).outcomes[0]
    assert outcome.code == "safety_abort"
    assert "db.again" in str(outcome.reason)
    assert set(loaded) == {"db.t"}
