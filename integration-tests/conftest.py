"""Services as fixtures: started once a session, with a database or a bucket of its own for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest
import services


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
