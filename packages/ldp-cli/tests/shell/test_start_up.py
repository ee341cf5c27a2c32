"""Asking for the version or for help stays light."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import ldp_cli
import pytest

HEAVY = (
    "pyarrow",
    "pyiceberg",
    "duckdb",
    "sqlalchemy",
    "rich",
    "yaml",
    "jsonschema",
    "fsspec",
    "importlib.metadata",
)


def modules_after(*args: str, cwd: Path | None = None) -> tuple[set[str], str]:
    """What a process imported to answer, and what it answered."""
    code = (
        "import sys; from ldp_cli.main import main\n"
        "main(sys.argv[1:])\n"
        "print('\\n=modules=', *sys.modules, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=True, cwd=cwd
    )
    out, _, modules = done.stdout.partition("\n=modules=\n")
    return set(modules.split()), out


def test_version_imports_nothing() -> None:
    modules, out = modules_after("--version")
    assert out == f"ldp {ldp_cli.__version__}\n"
    assert not modules & {*HEAVY, "click", "ldp_core", "json"}


@pytest.mark.parametrize("args", [["--help"], [], ["run", "--help"], ["query", "--help"], ["frob"]])
def test_help_imports_nothing_heavy(args: list[str]) -> None:
    modules, _ = modules_after(*args)
    assert not modules & set(HEAVY)


def test_a_local_load_imports_no_client_of_a_service(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    catalog = {"identifier": "n", "warehouse_path": "wh"}
    target = {"name": "a", "format": "ICEBERG", "write_mode": "append", "catalog": catalog}
    source = {"name": "a", "format": "CSV", "path": "a.csv"}
    config = {"identifier": "a", "metadata": {"source": source, "target": target}}
    (tmp_path / "a.json").write_text(json.dumps(config))
    for _ in range(2):
        modules, out = modules_after("run", "a.json", cwd=tmp_path)
        assert "wrote 1 rows" in out
        assert not modules & {"pyiceberg.catalog.rest", "requests", "boto3", "fsspec"}


def test_a_window_that_is_published_imports_no_engine(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    catalog = {"identifier": "n", "warehouse_path": "wh"}
    target = {"name": "a", "format": "ICEBERG", "write_mode": "append", "catalog": catalog}
    source = {"name": "a", "format": "CSV", "path": "a.csv"}
    body = {"source": source, "target": target, "window": {"size": "day"}}
    (tmp_path / "a.json").write_text(json.dumps({"identifier": "a", "metadata": body}))
    args = ("run", "a.json", "--window", "2026-08-01/2026-08-02")
    modules_after(*args, cwd=tmp_path)
    modules, out = modules_after(*args, cwd=tmp_path)
    assert "skipped_duplicate" in out
    assert not modules & {*set(HEAVY) - {"importlib.metadata"}, "numpy", "tenacity", "pydantic"}


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["version"] == ldp_cli.__version__


def test_every_command_of_the_workspace_loads_and_has_help() -> None:
    _, out = modules_after("--help")
    assert "(broken)" not in out
    listed = [line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line.startswith("  ")]
    assert {"run", "plan", "query", "demo", "doctor"} <= set(listed)
