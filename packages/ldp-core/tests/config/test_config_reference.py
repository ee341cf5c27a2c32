"""``ldp schema`` and the reference page."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from ldp_core import registry
from ldp_core.commands.schema import schema
from ldp_core.config import Config
from ldp_core.config.pipeline import pipeline_shape
from ldp_core.config.reference import render
from ldp_core.config.validate import check
from ldp_core.errors import UsageError

SOURCE = {"name": "rides", "format": "CSV", "path": "r.csv"}
TARGET = {"name": "rides", "format": "ICEBERG", "catalog": {"identifier": "nyc", "warehouse_path": "wh"}}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    result = CliRunner().invoke(schema, [])
    assert result.exit_code == 0
    body = json.loads(result.output)
    jsonschema.Draft202012Validator.check_schema(body)
    return jsonschema.Draft202012Validator(body)


def data(**metadata: Any) -> dict[str, Any]:
    return {"identifier": "r", "metadata": {"source": SOURCE, "target": TARGET, **metadata}}


@pytest.mark.parametrize(
    ("body", "right"),
    [
        (data(), True),
        ({**data(), "$schema": "ldp.json", "x-a": 1}, True),
        (data(target={**TARGET, "catalog": "lake"}), True),
        (data(target={**TARGET, "catalog": {"type": "LOCALICEBERG", **TARGET["catalog"]}}), True),
        (data(source={**SOURCE, "format": "Csv"}), True),
        (data(window="none", schedule="@daily", docs={"layer": "gold"}), True),
        (data(source={**SOURCE, "format": "CVS"}), False),
        (data(source={**SOURCE, "pat": "x"}), False),
        (data(target={**TARGET, "write_mode": "replace"}), False),
        (data(target={**TARGET, "catalog": {"type": "rest", "token": "x"}}), False),
        (data(window={"size": "week"}), False),
        (data(nothing=1), False),
        ({"identifier": "r"}, False),
    ],
)
def test_the_schema_and_the_check_agree(
    validator: jsonschema.Draft202012Validator, body: dict[str, Any], right: bool
) -> None:
    assert validator.is_valid(body) is right
    assert (not check(pipeline_shape(), body)) is right


def test_every_key_of_the_shape_is_in_the_page() -> None:
    page = render()
    assert page.startswith("# Configuration\n")
    for word in (
        "identifier",
        "metadata",
        "write_mode",
        "join_cols",
        "warehouse_path",
        "timezone",
        "primary_key",
    ):
        assert f"{word}`" in page
    assert render() == page
    assert all(
        line.count("|") - line.count("\\|") == 5 for line in page.splitlines() if line.startswith("| ")
    )


def test_unknown_kinds_and_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"unknown kind 'Nope'; the kinds are Pipeline, Workflow"):
        CliRunner().invoke(schema, ["--kind", "Nope"], catch_exceptions=False, standalone_mode=False)
    monkeypatch.setattr(registry, "find", lambda *_, **__: None)
    with pytest.raises(UsageError, match="ldp-orchestration"):
        CliRunner().invoke(schema, ["--kind", "Workflow"], catch_exceptions=False, standalone_mode=False)


def test_the_command_imports_nothing_heavy() -> None:
    code = (
        "import sys, ldp_core.commands.schema\n"
        "heavy = {'pyarrow', 'duckdb', 'pyiceberg', 'sqlalchemy', 'yaml', 'jsonschema', 'ldp_core.config'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_config_that_the_schema_accepts_has_no_structural_error(
    validator: jsonschema.Draft202012Validator,
) -> None:
    body = data(source={"name": "a", "format": "JSON", "path": "a.jsonl"})
    assert validator.is_valid(body) == (not check(pipeline_shape(), body))
    assert Config.from_dict(body).identifier == "r"
