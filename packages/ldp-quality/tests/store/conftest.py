"""A store in a SQLite file, and one in a PostgreSQL database: what is true of one is true of the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A real PostgreSQL is started where services are tested: ``make integration``."""
    if os.environ.get("LDP_SERVICES"):
        return
    for item in items:
        if item.get_closest_marker("service") and not item.get_closest_marker("skip"):
            item.add_marker(pytest.mark.skip(reason="make integration runs it"))


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """``postgresql://ldp@127.0.0.1:PORT``."""
    import services

    with services.postgres() as uri:
        yield uri


@pytest.fixture
def database(server: str) -> str:
    """The URI of a new database."""
    import psycopg

    name = f"t{uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as con:
        con.execute(f"CREATE DATABASE {name}".encode())
    return f"{server}/{name}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.service)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be made; nothing is there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "quality.db")
    return str(request.getfixturevalue("database"))
