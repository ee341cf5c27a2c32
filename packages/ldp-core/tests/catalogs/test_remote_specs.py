"""SQL, REST and Glue catalogs: what their specs may say, and SQLite ones for real."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_core.catalogs import load_table, look, namespace, open_catalog, peek
from ldp_core.catalogs.access import provider_of
from ldp_core.commit.base import load_base
from ldp_core.config.validate import check
from ldp_core.errors import CatalogError, ConfigError, EngineNotFound, TableNotFound
from ldp_core.shape import Named
from ldp_core.spi import Spec
from ldp_core.testing.builders import append, new_table

SQLITE = {"type": "sql", "uri": "sqlite:///db/lake.db", "warehouse": "wh", "namespace": "nyc"}


def spec(folder: Path, **values: object) -> Spec:
    return Spec(values, folder, "metadata.target.catalog", "c.json")


def test_sqlite_by_sql(tmp_path: Path) -> None:
    one = spec(tmp_path, **SQLITE)
    with pytest.raises(TableNotFound):
        load_table(one, "rides")
    assert look(one, "nyc", "rides") is None
    assert not list(tmp_path.iterdir())
    catalog = open_catalog(one, create=True)
    append(load_base(catalog, (namespace(one), "rides"), new_table()), "r", [1, 2])
    assert (tmp_path / "db/lake.db").is_file()
    assert (tmp_path / "wh/nyc/rides").is_dir()
    assert load_table(one, "rides").scan().to_arrow().num_rows == 2
    peeked = peek(one)
    assert peeked is not None
    assert peeked.tables() == [("nyc", "rides")]


def test_without_a_name_the_only_catalog_of_the_database_is_meant(tmp_path: Path) -> None:
    named = spec(tmp_path, **SQLITE, name="lake")
    append(load_base(open_catalog(named, create=True), ("nyc", "rides"), new_table()), "r", [1])
    one = spec(tmp_path, **SQLITE)
    assert load_table(one, "rides").scan().to_arrow().num_rows == 1
    assert look(one, "nyc", "rides") is not None
    other = spec(tmp_path, **{**SQLITE, "namespace": "bkk"})
    append(load_base(open_catalog(other, create=True), ("bkk", "rides"), new_table()), "r", [1])
    assert {pair[0] for pair in peek(one).tables()} == {"nyc", "bkk"}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "a#b.db"])
def test_sqlite_files_of_every_name(tmp_path: Path, name: str) -> None:
    from urllib.parse import quote

    one = spec(tmp_path, **{**SQLITE, "uri": f"sqlite:///{tmp_path}/{quote(name)}"})
    append(load_base(open_catalog(one, create=True), ("nyc", "rides"), new_table()), "r", [1])
    assert (tmp_path / name).is_file()
    assert peek(one).tables() == [("nyc", "rides")]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({**SQLITE, "uri": "postgresql://u:secret@h/db"}, "uri"),
        ({**SQLITE, "uri": "mysql://h/db"}, "uri"),
        ({**SQLITE, "uri": "sqlite://"}, "uri"),
        ({**SQLITE, "uri": "sqlite:///:memory:"}, "uri"),
        ({"type": "sql", "uri": "sqlite:///a.db", "warehouse": "wh"}, "namespace"),
        ({**SQLITE, "namespace": "a..b"}, "namespace"),
        ({**SQLITE, "properties": {"s3.secret-access-key": "secret"}}, "properties.s3.secret-access-key"),
        ({"type": "rest", "uri": "ftp://x", "namespace": "n"}, "uri"),
        ({"type": "rest", "uri": "https://u:secret@x", "namespace": "n"}, "uri"),
        ({"type": "glue", "namespace": "a.b"}, "namespace"),
    ],
)
def test_specs_that_are_refused(tmp_path: Path, values: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_catalog(spec(tmp_path, **values), create=True)
    assert f"metadata.target.catalog.{key}" in str(caught.value)
    assert "secret@" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_environment_is_asked_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKE_PASSWORD", raising=False)
    one = spec(
        tmp_path,
        type="sql",
        uri="postgresql://u@127.0.0.1:1/db",
        warehouse="wh",
        namespace="n",
        password_env="LAKE_PASSWORD",
    )
    with pytest.raises(ConfigError, match="LAKE_PASSWORD is not set"):
        open_catalog(one)
    monkeypatch.setenv("LAKE_PASSWORD", "hush-hush")
    with pytest.raises((CatalogError, EngineNotFound)) as caught:
        open_catalog(one)
    assert "hush-hush" not in str(caught.value)


def test_properties_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "value")
    one = spec(
        tmp_path, **SQLITE, properties={"echo": False}, properties_env={"s3.secret-access-key": "MY_KEY"}
    )
    catalog = open_catalog(one, create=True)
    assert catalog.properties["s3.secret-access-key"] == "value"
    assert catalog.properties["echo"] == "false"


def test_a_rest_catalog_that_is_not_there(tmp_path: Path) -> None:
    one = spec(tmp_path, type="rest", uri="http://127.0.0.1:1", namespace="n")
    with pytest.raises(CatalogError, match="does not answer"):
        open_catalog(one)
    assert peek(one) is None


def test_the_shapes_accept_every_key_of_existing_files() -> None:
    catalog = Named("ldp.catalogs", "type", "local", {"LocalIceberg": "local", "sqlite": "sql"})
    good = [
        {"identifier": "nyc", "warehouse_path": "wh"},
        {"type": "LocalIceberg", "identifier": "nyc", "warehouse_path": "wh"},
        {"type": "sqlite", "uri": "sqlite:///a.db", "warehouse": "wh", "name": "n", "identifier": "i"},
        {"type": "sql", "uri": "u", "warehouse": "w", "namespace": "n", "password_env": "P"},
        {"type": "rest", "uri": "u", "warehouse": "w", "name": "n", "token_env": "T", "namespace": "n"},
        {"type": "rest", "uri": "u", "credential_env": "C", "identifier": "n", "properties_env": {"a": "B"}},
        {"type": "glue", "name": "n", "warehouse": "w", "namespace": "n", "properties": {"a": True, "b": 1}},
    ]
    for values in good:
        assert check(catalog, values) == [], values
    for values in (
        {"identifier": "nyc"},
        {"type": "local", "identifier": "n", "warehouse_path": "w", "uri": "x"},
    ):
        assert check(catalog, values), values


def test_every_provider_documents_its_keys() -> None:
    for kind in ("local", "sql", "rest", "glue"):
        provider = provider_of(Spec({"type": kind}, Path()))
        assert provider.shape.doc
        assert all(key.doc.endswith((".", "none.")) for key in provider.shape.keys)
