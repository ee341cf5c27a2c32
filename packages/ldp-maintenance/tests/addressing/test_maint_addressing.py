"""From what a person names to the tables that are meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import ConfigError, TableNotFound, UsageError
from ldp_maintenance import Address, find
from ldp_maintenance.addressing import Neighbours, tables
from ldp_maintenance.testing import builders


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A SQLite catalog ``lake`` with ``db.one``, ``db.two`` and ``other.three``; the folder is worked in."""
    catalog = builders.catalog(tmp_path, "lake")
    builders.table(catalog, "one", properties={"ldp.maintenance.min_input_files": "7"})
    builders.table(catalog, "two")
    catalog.create_namespace("other")
    catalog.create_table(("other", "three"), builders.SCHEMA)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PYICEBERG_HOME", "LDP_CATALOG_TOKEN", "LDP_CATALOG_CREDENTIAL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def _spec(lake: Path) -> dict[str, Any]:
    return {
        "type": "sql",
        "name": "lake",
        "uri": f"sqlite:///{lake}/catalog.db",
        "warehouse": f"{lake}/warehouse",
    }


def test_by_a_name_in_ldp_yaml_of_a_folder_above(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {name: value for name, value in _spec(lake).items() if name != "name"}
    (lake / "ldp.yaml").write_text(json.dumps({"catalogs": {"lake": spec}}))
    (lake / "below").mkdir()
    monkeypatch.chdir(lake / "below")
    found = find(Address("db.one", catalog="lake"))
    assert found.identifiers == (("db", "one"),)
    policy = found.target(("db", "one")).policy
    assert (policy.rewrite.min_input_files, policy.origins["rewrite.min_input_files"]) == (7, "properties")


def test_by_a_name_in_the_home_folder_and_in_an_environment(lake: Path) -> None:
    (lake / "home").mkdir()
    wrong = {**_spec(lake), "uri": f"sqlite:///{lake}/nothing.db"}
    text = json.dumps(
        {"catalogs": {"lake": wrong}, "environments": {"prod": {"catalogs": {"lake": _spec(lake)}}}}
    )
    (lake / "home" / "ldp.yaml").write_text(text)
    assert find(Address("db.one", catalog="lake", env="prod")).identifiers
    with pytest.raises(TableNotFound):
        find(Address("db.one", catalog="lake"))
    with pytest.raises(ConfigError, match="unknown environment"):
        find(Address("db.one", catalog="lake", env="tset"))


def test_by_a_name_in_pyicebergs_own_file(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (lake / "ice").mkdir()
    (lake / "ice" / ".pyiceberg.yaml").write_text(
        f"catalog:\n  lake:\n    type: sql\n    uri: sqlite:///{lake}/catalog.db\n"
        f"    warehouse: {lake}/warehouse\n"
    )
    monkeypatch.setenv("PYICEBERG_HOME", str(lake / "ice"))
    assert find(Address("db.one", catalog="lake")).identifiers == (("db", "one"),)


def test_by_a_name_in_pyicebergs_environment(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("type", "uri", "warehouse"):
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{key.upper()}", _spec(lake)[key])
    assert find(Address("db.one", catalog="lake")).identifiers == (("db", "one"),)


def test_by_a_file(lake: Path) -> None:
    (lake / "lake.json").write_text(json.dumps(_spec(lake)))
    assert find(Address("other.three", catalog="lake.json")).identifiers == (("other", "three"),)
    (lake / "wrong.json").write_text(json.dumps({**_spec(lake), "warehous": 1}))
    with pytest.raises(ConfigError, match="warehous"):
        find(Address("other.three", catalog="wrong.json"))


def test_by_address(lake: Path) -> None:
    spec = _spec(lake)
    address = Address("db.one", catalog="lake", uri=spec["uri"], warehouse=spec["warehouse"])
    assert find(address).identifiers == (("db", "one"),)
    with pytest.raises(ConfigError, match="needs its warehouse"):
        find(Address("db.one", uri=spec["uri"]))


def test_the_only_catalog_of_a_database_is_meant_and_several_are_told(lake: Path) -> None:
    spec = _spec(lake)
    place = {"uri": spec["uri"], "warehouse": spec["warehouse"]}
    assert find(Address("db.one", **place)).catalog.name == "lake"
    named = {name: value for name, value in spec.items() if name != "name"}
    (lake / "ldp.yaml").write_text(json.dumps({"catalogs": {"pond": {**named, "namespace": "db"}}}))
    assert find(Address("db.one", catalog="pond")).catalog.name == "lake"
    (lake / "plain.json").write_text(json.dumps(named))
    addresses = [
        Address("db.one", **place),
        Address(every=True, **place),
        Address("db.one", catalog="nolake", **place),
        Address("db.one", catalog="pond"),
        Address("db.one", catalog="plain.json"),
    ]
    builders.table(builders.catalog(lake, "sea"), "one")
    for address in addresses:
        with pytest.raises(ConfigError, match="known: lake, sea"):
            find(address)
    assert find(Address("db.one", catalog="sea", **place)).catalog.name == "sea"


def test_a_catalog_of_which_nobody_knows_the_name_says_where_names_stand(lake: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find(Address("db.one", catalog="nolake"))
    assert "pyiceberg's configuration" in str(caught.value)


def test_a_secret_in_an_address_is_refused(lake: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find(Address("db.one", uri="postgresql://me:hunter2@host/db", warehouse="w"))
    assert "hunter2" not in str(caught.value)


def test_a_name_that_nobody_knows(lake: Path) -> None:
    with pytest.raises(ConfigError, match="lkae"):
        find(Address("db.one", catalog="lkae"))


def test_all_tables_and_those_of_a_namespace(lake: Path) -> None:
    (lake / "lake.json").write_text(json.dumps(_spec(lake)))
    every = find(Address(every=True, catalog="lake.json"))
    assert every.identifiers == (("db", "one"), ("db", "two"), ("other", "three"))
    assert find(Address(every=True, namespace="db", catalog="lake.json")).identifiers == (
        ("db", "one"),
        ("db", "two"),
    )
    with pytest.raises(TableNotFound, match="namespace nosuch"):
        find(Address(every=True, namespace="nosuch", catalog="lake.json"))


def test_a_missing_table_is_one_line_that_names_the_nearest(lake: Path) -> None:
    (lake / "lake.json").write_text(json.dumps(_spec(lake)))
    with pytest.raises(TableNotFound) as caught:
        find(Address("db.oen", catalog="lake.json"))
    assert str(caught.value) == "table db.oen does not exist in catalog lake; did you mean db.one?"


def test_another_warehouse_is_refused_with_both(lake: Path) -> None:
    (lake / "lake.json").write_text(json.dumps(_spec(lake)))
    for address in (
        Address("db.one", catalog="lake.json", warehouse="/elsewhere"),
        Address("db.one", catalog="lake.json", table_config="t.json"),
    ):
        (lake / "t.json").write_text(json.dumps({"version": 2, "warehouse": "/elsewhere"}))
        with pytest.raises(ConfigError) as caught:
            find(address)
        assert "/elsewhere" in str(caught.value)
        assert f"{lake}/warehouse" in str(caught.value)


def test_a_table_config_says_which_tables_and_how(lake: Path) -> None:
    (lake / "lake.json").write_text(json.dumps(_spec(lake)))
    tables_ = {"one": {"min_input_files": 3}, "gone": {}}
    data: dict[str, Any] = {"version": 2, "warehouse": "warehouse", "namespaces": {"db": {"tables": tables_}}}
    (lake / "t.json").write_text(json.dumps(data))
    found = find(Address(catalog="lake.json", table_config="t.json"))
    assert (found.identifiers, found.missing) == ((("db", "one"),), (("db", "gone"),))
    assert found.target(("db", "one")).policy.rewrite.min_input_files == 3
    (lake / "t.json").write_text(json.dumps({**data, "defaults": {"min_input_files": 4}}))
    found = find(Address(catalog="lake.json", table_config="t.json"))
    assert len(found.identifiers) == 3
    assert found.target(("db", "two")).policy.rewrite.min_input_files == 4
    assert found.target(("db", "one")).policy.rewrite.min_input_files == 3


def _config(folder: Path, **metadata: Any) -> str:
    target = {"name": "one", "format": "ICEBERG", "catalog": {**_spec(folder), "namespace": "db"}}
    body = {"source": {"name": "s", "format": "CSV", "path": "s.csv"}, "target": target, **metadata}
    (folder / "c.json").write_text(json.dumps({"identifier": "c", "metadata": body}))
    return "c.json"


def test_a_config_brings_its_section(lake: Path) -> None:
    word = _config(lake, maintenance={"min_input_files": 5})
    found = find(Address(word))
    policy = found.target(("db", "one"), {"expire.keep_last": 2}).policy
    assert (policy.rewrite.min_input_files, policy.origins["rewrite.min_input_files"]) == (5, "config")
    assert (policy.expire.keep_last, policy.origins["expire.keep_last"]) == (2, "command line")
    data = {
        "version": 2,
        "warehouse": "warehouse",
        "namespaces": {"db": {"tables": {"one": {"min_input_files": 6}}}},
    }
    (lake / "t.json").write_text(json.dumps(data))
    policy = find(Address(word, table_config="t.json")).target(("db", "one")).policy
    assert (policy.rewrite.min_input_files, policy.origins["rewrite.min_input_files"]) == (6, "table")


def test_a_config_with_a_wrong_section_is_refused(lake: Path) -> None:
    with pytest.raises(ConfigError, match=r"metadata\.maintenance\.min_input_file"):
        find(Address(_config(lake, maintenance={"min_input_file": 5})))


@pytest.mark.parametrize(
    ("address", "part"),
    [
        (Address(), "not named"),
        (Address("db.one"), "catalog is not named"),
        (Address("one", catalog="lake.json"), "is no table"),
        (Address("db.one", every=True, catalog="lake.json"), "not both"),
        (Address("c.json", catalog="lake.json", every=True), "not both"),
        (Address(catalog="lake.json"), "name a config, a table"),
    ],
)
def test_what_names_nothing_or_too_much(lake: Path, address: Address, part: str) -> None:
    (lake / "lake.json").write_text(json.dumps(_spec(lake)))
    with pytest.raises(UsageError, match=part):
        find(address)


def test_where_the_neighbours_are(lake: Path) -> None:
    catalog = builders.catalog(lake, "lake")
    assert tables(catalog) == [("db", "one"), ("db", "two"), ("other", "three")]
    builders.table(catalog, "four", properties={"write.data.path": f"file://{lake}/apart"})
    around = Neighbours(catalog).of(("db", "one"))
    names = {catalog.load_table(name).location() for name in ("db.two", "db.four", "other.three")}
    assert set(around) == {*names, f"file://{lake}/apart"}


def test_a_broken_neighbour_is_known_by_its_row(lake: Path) -> None:
    catalog = builders.catalog(lake, "lake")
    broken = catalog.load_table("db.two")
    Path(broken.metadata_location.removeprefix("file://")).unlink()
    assert broken.location() in Neighbours(catalog).of(("db", "one"))
