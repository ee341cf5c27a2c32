"""Named catalogs and environments of ldp.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ldp_core.config import Config
from ldp_core.config.catalogs import find_catalog
from ldp_core.errors import ConfigError

PROJECT = """\
catalogs:
  lake: {identifier: nyc, warehouse_path: warehouse}
  team:
    type: sqlite
    uri: sqlite:///cat.db
    warehouse: wh
    namespace: nyc
environments:
  prod:
    catalogs:
      lake:
        type: REST
        uri: https://catalog.example
        namespace: nyc
        token_env: LAKE_TOKEN
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "config" / "deep").mkdir(parents=True)
    (folder / "ldp.yaml").write_text(PROJECT)
    return folder


def config_in(folder: Path, catalog: Any, env: str | None = None) -> Config:
    data = {
        "identifier": "rides",
        "metadata": {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {"name": "rides", "format": "ICEBERG", "catalog": catalog},
        },
    }
    return Config.from_dict(data, folder, env)


def errors(config: Config) -> list[str]:
    return [str(problem) for problem in config.problems() if problem.severity == "error"]


def test_a_name_is_the_full_object_with_paths_from_the_projects_folder(project: Path) -> None:
    deep = project / "config" / "deep"
    expected = {"type": "local", "identifier": "nyc", "warehouse_path": str(project / "warehouse")}
    assert find_catalog("lake", deep) == expected
    config = config_in(deep, "lake")
    assert errors(config) == []
    assert config.spec("target").values["catalog"] == expected
    team = find_catalog("team", deep)
    assert team["type"] == "sql"
    assert team["uri"] == f"sqlite:///{project}/cat.db"
    assert team["warehouse"] == str(project / "wh")


def test_an_environment_swaps_a_catalog_and_keeps_the_others(project: Path) -> None:
    assert find_catalog("lake", project, "prod")["type"] == "rest"
    assert find_catalog("team", project, "prod")["type"] == "sql"
    config = config_in(project, "lake", "prod")
    assert config.spec("target").values["catalog"]["token_env"] == "LAKE_TOKEN"


def test_names_are_not_hashed_and_namespace_and_table_are(project: Path) -> None:
    here = config_in(project, "lake").spec_hash()
    assert config_in(project, "lake", "prod").spec_hash() == here
    assert config_in(project, "team").spec_hash() == here
    inline = config_in(project, {"identifier": "nyc", "warehouse_path": "warehouse"})
    assert inline.spec_hash() != here
    text = PROJECT.replace("identifier: nyc", "identifier: sf")
    (project / "ldp.yaml").write_text(text)
    assert config_in(project, "lake").spec_hash() != here


def test_the_nearest_file_wins_and_the_farther_ones_still_count(project: Path, home: Path) -> None:
    (project / "config" / "ldp.yaml").write_text("catalogs: {lake: {identifier: near, warehouse_path: w}}\n")
    (home / "ldp.yaml").write_text("catalogs: {mine: {identifier: home, warehouse_path: w}}\n")
    deep = project / "config" / "deep"
    assert find_catalog("lake", deep)["identifier"] == "near"
    assert find_catalog("team", deep)["namespace"] == "nyc"
    assert find_catalog("mine", deep)["warehouse_path"] == str(home / "w")


def test_unknown_names_and_environments(project: Path, tmp_path: Path) -> None:
    [text] = errors(config_in(project, "laek"))
    assert text.startswith("metadata.target.catalog: no catalog is called 'laek' in ")
    assert "known: lake, team; did you mean lake?" in text
    [text] = errors(config_in(project, "lake", "prd"))
    assert "unknown environment 'prd'; known in ldp.yaml: prod; did you mean prod?" in text
    [text] = errors(config_in(project, {"identifier": "n", "warehouse_path": "w"}, "prd"))
    assert "unknown environment 'prd'" in text
    [text] = errors(config_in(tmp_path, "lake"))
    assert "catalog 'lake' is a name, and there is no ldp.yaml; name it under catalogs:" in text


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "catalogs:\n  lake:\n    identifier: n\n    warehous: w\n",
            4,
            "catalogs.lake.warehous: unknown key",
        ),
        (
            "catalogs:\n  lake:\n    type: rest\n    uri: x\n    namespace: n\n    token: abc\n",
            6,
            "catalogs.lake.token: looks like an inline secret",
        ),
        ("catalogs:\n  lake: {identifier: n, warehouse_path: w}\ncatalog: 1\n", 3, "catalog: unknown key"),
        ("catalogs:\n  lake: {identifier: n\n", 3, "not YAML"),
        ("catalogs: [lake]\n", 1, "catalogs: must be an object"),
        ("catalogs:\n  lake: {type: nope}\n", 2, "catalogs.lake.type: unknown type"),
    ],
)
def test_what_is_wrong_in_the_project_file_says_so_there(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    (tmp_path / "ldp.yaml").write_text(text)
    found = errors(config_in(tmp_path, "lake"))
    assert any(item.startswith(f"{tmp_path / 'ldp.yaml'}:{line}: {message}") for item in found), found
    assert "abc" not in "".join(found)
    with pytest.raises(ConfigError):
        find_catalog("lake", tmp_path)


def test_a_lone_name_with_dots_and_an_empty_name(tmp_path: Path) -> None:
    (tmp_path / "ldp.yaml").write_text("catalogs:\n  eu.lake: {identifier: n, warehouse_path: w}\n")
    assert errors(config_in(tmp_path, "eu.lake")) == []
    assert errors(config_in(tmp_path, "  "))
