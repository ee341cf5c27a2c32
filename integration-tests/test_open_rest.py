"""A REST catalog that vends credentials, opened in Python: all that is due is done by what it hands out."""

from __future__ import annotations

import datetime as dt
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
import services
from ldp_core.errors import CatalogError
from ldp_maintenance import Doing, Expire, Maintenance, Policy, Rewrite, open_rest
from ldp_maintenance.testing import builders, looks
from pyiceberg.table import Table

pytestmark = [
    pytest.mark.service,
    pytest.mark.filterwarnings("ignore:.*utcnow:DeprecationWarning"),  # botocore signs with it
]
POLICY = Policy(rewrite=Rewrite(skip_newest=None), expire=Expire(max_snapshot_age_days=1))
DUE = ("rewrite-data-files", "rewrite-manifests", "expire-snapshots", "remove-orphans")


@dataclass
class Vendor:
    """SeaweedFS's catalog vends nothing; this one stands before it and does.

    Attributes:
        uri: Where it answers.
        vended: What it hands out with each table.
        asked: The kinds of access that it was asked for.
    """

    uri: str
    vended: Mapping[str, str]
    asked: set[str | None] = field(default_factory=set)


@contextmanager
def _vendor(server: services.RestCatalog) -> Iterator[Vendor]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            """Nobody reads it."""

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            passed = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "accept-encoding")}
            request = urllib.request.Request(
                f"{server.uri}{self.path}",
                self.rfile.read(length) if length else None,
                passed,
                method=self.command,
            )
            try:
                with urllib.request.urlopen(request) as answer:
                    status, body = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, body = error.code, error.read()
            found = json.loads(body) if body else None
            if isinstance(found, dict) and "metadata" in found and "metadata-location" in found:
                made.asked.add(self.headers.get("X-Iceberg-Access-Delegation"))
                body = json.dumps({**found, "config": {**found.get("config", {}), **made.vended}}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_POST = do_DELETE = do_HEAD = handle_any

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Vendor(f"http://127.0.0.1:{http.server_port}", server.s3.properties)
    thread = Thread(target=http.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


@pytest.fixture
def vendor(rest_catalog: services.RestCatalog, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    """The vending catalog; nothing in the environment opens its store."""
    for name in rest_catalog.s3.environment:
        monkeypatch.delenv(name, raising=False)
    with _vendor(rest_catalog) as made:
        yield made


@pytest.fixture
def lake(vendor: Vendor, rest_catalog: services.RestCatalog, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same, opened with a secret that stands in the environment."""
    monkeypatch.setenv("LDP_CATALOG_CREDENTIAL", rest_catalog.credential)
    return open_rest(
        vendor.uri,
        rest_catalog.warehouse,
        oauth2_server_uri=f"{vendor.uri}/v1/oauth/tokens",
        properties={"header.X-Iceberg-Access-Delegation": "remote-signing"},  # never asked for
    )


@pytest.fixture
def table(lake: Any) -> Table:
    """Four appends of ten rows, of which the first was replaced."""
    import pyarrow as pa

    space = f"t{uuid4().hex}"
    lake.create_namespace(space)
    made: Table = lake.create_table((space, "rides"), builders.SCHEMA)
    for number in range(4):
        rows = [{"id": number * 10 + n, "city": "NYC"} for n in range(10)]
        made.append(pa.Table.from_pylist(rows, schema=made.schema().as_arrow()))
    made.delete("id < 5")
    return made


def _later() -> Doing:
    moment = dt.datetime.now(dt.UTC) + dt.timedelta(days=20)
    return Doing(clock=lambda: moment)


def _put(table: Table, name: str) -> Callable[[], bool]:
    """A stray file in the table's folder; the answer says whether it is there."""
    with table.io.new_output(f"{table.location()}/data/{name}").create() as stream:
        stream.write(b"x")
    return lambda: table.io.new_input(f"{table.location()}/data/{name}").exists()


def test_a_table_is_looked_after_with_what_its_catalog_vends(table: Table, vendor: Vendor) -> None:
    there = _put(table, "stray.parquet")
    before = looks.rows(table)
    rides = Maintenance(table, POLICY)
    planned = rides.plan(doing=_later())
    assert {planned.of(name).status for name in DUE} == {"preview"}, planned.lines()
    assert there()
    done = rides.run(commit=True, doing=_later())
    assert {done.of(name).status for name in DUE} == {"done"}, done.lines()
    assert not there()
    assert looks.rows(table) == before
    assert len(before) == 35
    assert (done.after["data_files"], done.after["manifests"], done.after["snapshots"]) == (1, 1, 1)
    again = rides.run(commit=True, doing=_later())
    assert {one.status for one in again.outcomes} == {"nothing", "skipped"}, again.lines()
    assert vendor.asked == {"vended-credentials"}


@pytest.mark.parametrize("vends", ["signs", "signs and vends"])
def test_where_requests_are_signed_no_orphan_is_removed(
    table: Table, lake: Any, vendor: Vendor, vends: str
) -> None:
    there = _put(table, "stray.parquet")
    right = vendor.vended
    keys = {k: v for k, v in right.items() if vends == "signs and vends" or "access-key" not in k}
    vendor.vended = {**keys, "s3.remote-signing-enabled": "true", "s3.signer.uri": vendor.uri}
    for commit in (False, True):
        found = Maintenance(table, POLICY).run(["remove-orphans"], commit=commit, doing=_later())
        (outcome,) = found.outcomes
        assert outcome.status == "refused"
        assert "remote signing" in outcome.reason
        assert "vends credentials" in outcome.hint
    assert there()


def test_credentials_that_the_store_does_not_take_change_nothing(table: Table, vendor: Vendor) -> None:
    there = _put(table, "stray.parquet")
    right, before = vendor.vended, table.metadata_location
    vendor.vended = {**right, "s3.secret-access-key": "wrong"}
    found = Maintenance(table, POLICY).run(commit=True, doing=_later())
    assert {found.of(name).status for name in DUE} <= {"failed", "refused"}, found.lines()
    assert not any("\n" in line for line in found.lines())
    vendor.vended = right
    table.refresh()
    assert table.metadata_location == before
    assert there()


def test_a_wrong_secret_and_a_wrong_address_are_one_line(vendor: Vendor) -> None:
    for uri, secret in ((vendor.uri, "admin:wrong"), ("http://127.0.0.1:9", "admin:wrong")):
        with pytest.raises(CatalogError) as caught:
            open_rest(uri, "s3://lake", credential=secret, oauth2_server_uri=f"{uri}/v1/oauth/tokens")
        assert "\n" not in str(caught.value)
        assert "wrong" not in str(caught.value)
        assert str(caught.value).startswith(f"catalog rest at {uri} does not answer")
        assert "LDP_CATALOG_CREDENTIAL" in caught.value.hint
