"""The local catalog: reading creates nothing, names and folders of every kind, folders that were moved."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from ldp_core import Iceberg
from ldp_core.catalogs import (
    LocalIcebergCatalog,
    catalogs_below,
    load_table,
    look,
    namespace,
    open_catalog,
    peek,
)
from ldp_core.commit.base import load_base
from ldp_core.errors import CatalogError, ConfigError, TableNotFound
from ldp_core.spi import Spec
from ldp_core.targets._base import Place
from ldp_core.testing.builders import append, new_table


def spec(folder: Path, **values: str) -> Spec:
    return Spec({"identifier": "nyc", "warehouse_path": "wh", **values}, folder, "metadata.target.catalog")


def loaded(folder: Path, **values: str) -> Spec:
    one = spec(folder, **values)
    catalog = open_catalog(one, create=True)
    append(load_base(catalog, (namespace(one), "rides"), new_table()), "r1", [1, 2])
    return one


def test_the_class_of_contract_a(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path / "a" / "wh")
    assert (tmp_path / "a/wh/nyc_catalog.db").is_file()
    assert catalog.name == "nyc"
    assert catalog.properties["warehouse"] == f"file://{tmp_path}/a/wh"
    assert catalog.get_dbs() == []
    append(load_base(catalog, ("nyc", "rides"), new_table()), "r1", [1])
    assert catalog.get_dbs() == ["nyc"]
    assert catalog.get_tables("nyc") == ["nyc.rides"]


def test_errors_keep_their_type(tmp_path: Path) -> None:
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

    catalog = LocalIcebergCatalog("nyc", tmp_path)
    with pytest.raises(NoSuchNamespaceError):
        catalog.get_tables("none")
    with pytest.raises(NoSuchTableError):
        catalog.load_table("nyc.none")


def test_reading_creates_nothing(tmp_path: Path) -> None:
    one = spec(tmp_path)
    with pytest.raises(TableNotFound, match="there is no catalog"):
        open_catalog(one)
    with pytest.raises(TableNotFound):
        load_table(one, "rides")
    peeked = peek(one)
    assert peeked is not None
    with pytest.raises(TableNotFound):
        peeked.tables()
    assert look(one, "nyc", "rides") is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("made", [(), ("iceberg_tables",)])
@pytest.mark.parametrize("kind", ["local", "sql"])
def test_a_catalog_that_is_being_made_is_not_there_yet(
    tmp_path: Path, made: tuple[str, ...], kind: str
) -> None:
    file = tmp_path / "wh" / "nyc_catalog.db"
    file.parent.mkdir()
    file.touch()
    with closing(sqlite3.connect(file)) as database:
        for table in made:
            columns = "catalog_name TEXT, table_namespace TEXT, table_name TEXT, metadata_location TEXT"
            database.execute(f"CREATE TABLE {table} ({columns})")
    before = file.read_bytes()
    if kind == "local":
        one = spec(tmp_path)
    else:
        values = {"type": "sql", "name": "nyc", "namespace": "nyc", "uri": f"sqlite:///{file}"}
        one = Spec({**values, "warehouse": str(file.parent)}, tmp_path, "metadata.target.catalog")
    with pytest.raises(TableNotFound, match="there is no catalog"):
        load_table(one, "rides")
    peeked = peek(one)
    assert peeked is not None
    assert peeked.tables() == []
    assert file.read_bytes() == before
    place = Place(one, "rides", tmp_path)
    assert place.existing() is None
    assert not place.staged(new_table()).exists


def test_a_load_goes_on_with_a_catalog_whose_maker_was_killed(tmp_path: Path) -> None:
    (tmp_path / "wh").mkdir()
    (tmp_path / "wh" / "nyc_catalog.db").touch()
    catalog = {"identifier": "nyc", "warehouse_path": str(tmp_path / "wh")}
    Iceberg("rides", catalog).put(pa.table({"id": [1]}))
    assert load_table(spec(tmp_path), "rides").scan().to_arrow().num_rows == 1


def test_a_missing_table_is_one_clear_line(tmp_path: Path) -> None:
    one = loaded(tmp_path)
    with pytest.raises(TableNotFound, match=r"table nyc\.none does not exist in catalog nyc"):
        load_table(one, "none")


@pytest.mark.parametrize(
    "folder", ["with space", "a#b", "what?", "100% sure", "a%20b", "Zürich 中", "it's", 'say "hi"', "a&b;c=d"]
)
def test_folders_of_every_name(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    place.mkdir()
    one = loaded(place)
    assert load_table(one, "rides").scan().to_arrow().num_rows == 2
    peeked = peek(one)
    assert peeked is not None
    assert peeked.tables() == [("nyc", "rides")]
    assert len(peeked.metadata("nyc", "rides").data["snapshots"]) == 1  # type: ignore[union-attr]
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder]
    assert len(list((place / "wh").rglob("*.parquet"))) == 1


@pytest.mark.parametrize(
    "identifier", ["nyc", "a.b", "new york", "it's", "select", "Zürich", "_", "a%b", "a_b"]
)
def test_identifiers_of_every_name(tmp_path: Path, identifier: str) -> None:
    one = loaded(tmp_path, identifier=identifier)
    assert namespace(one) == identifier
    assert load_table(one, "rides").scan().to_arrow().num_rows == 2
    peeked = peek(one)
    assert peeked is not None
    assert peeked.tables() == [(identifier, "rides")]
    assert identifier in peeked.namespaces()


@pytest.mark.parametrize("identifier", ["", " ", "a..b", "a/b", "../up"])
def test_identifiers_that_cannot_be(tmp_path: Path, identifier: str) -> None:
    with pytest.raises(ConfigError):
        open_catalog(spec(tmp_path, identifier=identifier), create=True)
    assert not list(tmp_path.iterdir())


def test_a_moved_folder_is_told_and_a_link_mends_it(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    loaded(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")
    one = spec(tmp_path / "new")
    for read in (lambda: load_table(one, "rides"), lambda: look(one, "nyc", "rides")):
        with pytest.raises(CatalogError, match="moved") as caught:
            read()
        assert str(tmp_path / "old" / "wh") in str(caught.value)
        assert "ln -s" in str(caught.value)
    with pytest.raises(CatalogError, match="moved"):
        load_base(open_catalog(one, create=True), ("nyc", "rides"), new_table())
    assert not (tmp_path / "old").exists()
    (tmp_path / "old").symlink_to(tmp_path / "new")
    base = load_base(open_catalog(one, create=True), ("nyc", "rides"))
    append(base, "r2", [3])
    assert load_table(one, "rides").scan().to_arrow().num_rows == 3
    assert len(list((tmp_path / "new").rglob("*.parquet"))) == 2


def test_a_copied_folder_does_not_write_into_the_original(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    loaded(tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "copy")
    one = spec(tmp_path / "copy")
    with pytest.raises(CatalogError, match="copied"):
        load_base(open_catalog(one), ("nyc", "rides"))
    with pytest.raises(CatalogError, match="copied"):
        look(one, "nyc", "rides")
    assert load_table(spec(tmp_path / "old"), "rides").scan().to_arrow().num_rows == 2


def test_a_warehouse_reached_by_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    loaded(tmp_path / "link")
    assert load_table(spec(tmp_path / "real"), "rides").scan().to_arrow().num_rows == 2
    assert look(spec(tmp_path / "real"), "nyc", "rides") is not None


def test_a_table_registered_from_elsewhere_is_fine(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    location = load_table(loaded(tmp_path / "a"), "rides").metadata_location
    other = open_catalog(spec(tmp_path / "b"), create=True)
    other.create_namespace("nyc")
    other.register_table("nyc.rides", location)
    assert load_table(spec(tmp_path / "b"), "rides").scan().to_arrow().num_rows == 2
    assert look(spec(tmp_path / "b"), "nyc", "rides") is not None


def test_a_missing_metadata_file_is_told(tmp_path: Path) -> None:
    one = loaded(tmp_path)
    for path in tmp_path.rglob("*.metadata.json"):
        path.unlink()
    with pytest.raises(CatalogError, match="missing"):
        load_table(one, "rides")
    with pytest.raises(CatalogError, match="missing"):
        look(one, "nyc", "rides")


def test_catalogs_below_a_folder(tmp_path: Path) -> None:
    for place in ("a", "b/c", ".hidden", "d/e/f/g"):
        (tmp_path / place).mkdir(parents=True)
        LocalIcebergCatalog("nyc", tmp_path / place / "wh")
    found = [str(Path(item.get("warehouse_path")).relative_to(tmp_path)) for item in catalogs_below(tmp_path)]
    assert found == ["a/wh", "b/c/wh"]


def test_aliases_of_the_type(tmp_path: Path) -> None:
    one = loaded(tmp_path, type="LocalIceberg")
    assert load_table(one, "rides").scan().to_arrow().num_rows == 2


def test_a_relative_folder_is_not_doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(tmp_path)
    monkeypatch.chdir(tmp_path)
    [one] = catalogs_below(Path("wh"))
    found = peek(one)
    assert found is not None
    assert found.tables() == [("nyc", "rides")]


@pytest.mark.parametrize("name", ["a b", "a%20b", "a%b", "a#b?c", "ü 'x\" [1]*"])
@pytest.mark.parametrize("kind", ["local", "sql"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_any_folder_by_path_and_by_uri(tmp_path: Path, kind: str, scheme: str, name: str) -> None:
    place = f"{scheme}{tmp_path / name}"
    values = {"type": "local", "identifier": "nyc", "warehouse_path": place}
    if kind == "sql":
        values = {"type": "sql", "uri": "sqlite:///cat.db", "warehouse": place, "namespace": "nyc"}
    one = Spec(values, tmp_path, "metadata.target.catalog")
    catalog = open_catalog(one, create=True)
    append(load_base(catalog, ("nyc", "rides"), new_table()), "r1", [1, 2])
    assert look(one, "nyc", "rides") is not None
    assert load_table(one, "rides").scan().to_arrow().num_rows == 2
    assert {path.name for path in tmp_path.iterdir()} <= {name, "cat.db"}


def test_a_local_catalog_in_an_object_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="s3://b/wh is no local folder"):
        open_catalog(spec(tmp_path, warehouse_path="s3://b/wh"), create=True)
