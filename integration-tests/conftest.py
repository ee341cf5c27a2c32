"""Services as fixtures: started once a session, with a database or a bucket of its own for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import services
from places import Place


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave service tests out unless ``make integration`` runs them; there a missing service is a failure."""
    if os.environ.get("LDP_SERVICES"):
        return
    for item in items:
        if item.get_closest_marker("service"):
            item.add_marker(pytest.mark.skip(reason="make integration runs it"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with services.postgres() as uri:
        yield uri


@pytest.fixture
def postgres_uri(postgres_server: str) -> str:
    """``postgresql+psycopg://ldp@127.0.0.1:PORT/<new database>``."""
    import psycopg

    name = f"t{uuid4().hex}"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as con:
        con.execute(f"CREATE DATABASE {name}")
    return f"{postgres_server.replace('postgresql:', 'postgresql+psycopg:')}/{name}"


@pytest.fixture(scope="session")
def s3() -> Iterator[services.S3]:
    """moto's S3."""
    with services.moto() as store:
        yield store


@pytest.fixture
def bucket(s3: services.S3) -> str:
    """The name of a new bucket of ``s3``."""
    name = f"t{uuid4().hex}"
    s3.client().create_bucket(Bucket=name)
    return name


@pytest.fixture(scope="session")
def rest_catalog() -> Iterator[services.RestCatalog]:
    """SeaweedFS's Iceberg REST catalog."""
    with services.seaweed() as catalog:
        yield catalog


@pytest.fixture(scope="session")
def google() -> Iterator[dict[str, str]]:
    with services.google() as environment:
        yield environment


@pytest.fixture(scope="session")
def azure() -> Iterator[str]:
    with services.azure() as connection:
        yield connection


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The place that the test is parametrised with (``indirect``), its environment set."""
    made: Place = PLACES[request.param](request.getfixturevalue, tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return made


def _local(fixture: Any, root: Path) -> Place:
    return Place(root, {"identifier": "nyc", "warehouse_path": "wh"}, str(root / "files"))


def _sqlite_s3(fixture: Any, root: Path) -> Place:
    bucket = fixture("bucket")
    catalog = {
        "type": "sql",
        "uri": "sqlite:///lake.db",
        "warehouse": f"s3://{bucket}/wh",
        "namespace": "nyc",
    }
    return Place(root, catalog, f"s3://{bucket}/files", fixture("s3").environment)


def _postgres(fixture: Any, root: Path) -> Place:
    catalog = {"type": "sql", "uri": fixture("postgres_uri"), "warehouse": "wh", "namespace": "nyc"}
    return Place(root, catalog, str(root / "files"))


def _rest(fixture: Any, root: Path) -> Place:
    server = fixture("rest_catalog")
    catalog = {
        "type": "rest",
        "uri": server.uri,
        "warehouse": server.warehouse,
        "namespace": f"t{uuid4().hex}",
        "credential_env": "LAKE_CREDENTIAL",
        "properties": {"oauth2-server-uri": server.token_uri},
    }
    bucket = f"f{uuid4().hex}"
    server.s3.client().create_bucket(Bucket=bucket)
    environment = {**server.s3.environment, "LAKE_CREDENTIAL": server.credential}
    return Place(root, catalog, f"s3://{bucket}/files", environment, keeps_files=False)


def _glue(fixture: Any, root: Path) -> Place:
    bucket = fixture("bucket")
    catalog = {
        "type": "glue",
        "warehouse": f"s3://{bucket}/wh",
        "namespace": f"t{uuid4().hex}",
        "properties": {"glue.endpoint": fixture("s3").endpoint, "glue.region": "us-east-1"},
    }
    return Place(root, catalog, f"s3://{bucket}/files", fixture("s3").environment)


def _google(fixture: Any, root: Path) -> Place:
    name = uuid4().hex
    catalog = {
        "type": "sql",
        "uri": "sqlite:///lake.db",
        "warehouse": f"gs://lake/{name}/wh",
        "namespace": "nyc",
    }
    return Place(root, catalog, f"gs://lake/{name}/files", fixture("google"))


def _azure(fixture: Any, root: Path) -> Place:
    connection = fixture("azure")
    host = "devstoreaccount1.dfs.core.windows.net"
    name = uuid4().hex
    warehouse = f"abfss://lake@{host}/{name}/wh"
    catalog = {"type": "sql", "uri": "sqlite:///lake.db", "warehouse": warehouse, "namespace": "nyc"}
    environment = {"AZURE_STORAGE_CONNECTION_STRING": connection}
    return Place(root, catalog, f"abfss://lake@{host}/{name}/files", environment)


PLACES = {
    "local": _local,
    "sqlite-s3": _sqlite_s3,
    "postgres": _postgres,
    "rest": _rest,
    "glue": _glue,
    "gs": _google,
    "abfss": _azure,
}
