"""A config that points at a contract: its rules judge the rows, its words describe the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.catalogs import load_table
from ldp_core.config import Config
from ldp_core.errors import ConfigError, DataQualityError
from ldp_core.plan.build import build
from ldp_core.run.runner import run

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: rides
version: 1.0.0
status: active
description: {purpose: Every ride of the city}
team: {name: Mobility}
schema:
  - name: rides
    description: One row a ride
    dataGranularityDescription: a ride
    tags: [city]
    properties:
      - {name: ride_id, logicalType: integer, primaryKey: true, required: true, description: Its number}
      - name: fare
        logicalType: number
        quality:
          - {metric: nullValues, mustBe: 0}
      - {name: city, logicalType: string, quality: [{type: text, description: Cities are written in English}]}
"""
GOOD = "ride_id,fare,city\n1,2.5,NYC\n2,7.5,BKK\n"
BAD = "ride_id,fare,city\n1,2.5,NYC\n1,,BKK\n"


def write(
    folder: Path, csv: str, contract: str | None = CONTRACT, name: str = "rides", **quality: Any
) -> Path:
    (folder / "r.csv").write_text(csv, "utf8")
    if contract is not None:
        (folder / "rides.odcs.yaml").write_text(contract, "utf8")
    target = {
        "name": name,
        "format": "ICEBERG",
        "write_mode": "overwrite",
        "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
    }
    body = {
        "source": {"name": "r", "format": "CSV", "path": "r.csv"},
        "target": target,
        "quality": {"contract": "rides.odcs.yaml", **quality},
        "docs": {
            "description": "of the config",
            "columns": {"fare": "In dollars", "ride_id": "of the config"},
        },
    }
    path = folder / "c.json"
    path.write_text(json.dumps({"identifier": "rides", "metadata": body}, indent=1))
    return path


def load(path: Path, **options: Any) -> Any:
    return run(Config.from_file(path), **options)


def failed(error: pytest.ExceptionInfo[DataQualityError]) -> set[str]:
    return {result.name for result in error.value.report.failures if result.status == "fail"}


def test_the_rules_of_the_contract_hold_bad_rows_back(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError) as caught:
        load(write(tmp_path, BAD))
    names = " ".join(failed(caught))
    assert "ride_id" in names
    assert "fare" in names


def test_contract_and_checks_add_up(tmp_path: Path) -> None:
    checks = [{"check": "range", "column": "fare", "min": 5, "name": "own"}]
    with pytest.raises(DataQualityError) as caught:
        load(write(tmp_path, GOOD, checks=checks))
    assert failed(caught) == {"own"}


def test_a_rule_for_people_is_told_and_does_not_block(tmp_path: Path) -> None:
    result = load(write(tmp_path, GOOD))
    assert result.status == "published"
    assert result.quality.status == "not_run"
    assert not result.quality.passed
    assert any("not run" in line for line in result.warnings)


@pytest.mark.parametrize(
    ("contract", "section", "asked", "blocks"),
    [
        ("warn", None, None, False),
        ("warn", "fail", None, True),
        ("fail", "warn", None, False),
        ("fail", None, "warn", False),
        ("warn", None, "fail", True),
        ("warn", "warn", "fail", True),
    ],
)
def test_the_nearest_to_the_run_says_what_a_failure_does(
    tmp_path: Path, contract: str, section: str | None, asked: str | None, blocks: bool
) -> None:
    said = f"customProperties: [{{property: onFailure, value: {contract}}}]\n"
    quality = {"on_failure": section} if section else {}
    path = write(tmp_path, BAD, CONTRACT + said, **quality)
    if blocks:
        with pytest.raises(DataQualityError):
            load(path, on_failure=asked)
    else:
        assert load(path, on_failure=asked).status == "published"


def test_the_contract_describes_the_table_above_the_config(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    load(path)
    table = load_table(Config.from_file(path).spec("target").sub("catalog"), "rides")
    assert table.properties["comment"] == "One row a ride"
    assert table.properties["owner"] == "Mobility"
    assert table.properties["ldp.docs.grain"] == "a ride"
    assert json.loads(table.properties["ldp.docs.primary-key"]) == ["ride_id"]
    docs = {field.name: field.doc for field in table.schema().fields}
    assert docs == {"ride_id": "Its number", "fare": "In dollars", "city": None}


def test_a_changed_contract_changes_the_hash_of_the_config(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    one = Config.from_file(path).spec_hash()
    assert Config.from_file(path).spec_hash() == one
    write(tmp_path, GOOD, CONTRACT.replace("mustBe: 0", "mustBe: 1"))
    assert Config.from_file(path).spec_hash() != one


@pytest.mark.parametrize(
    ("contract", "name", "text"),
    [
        (None, "rides", r"c.json:\d+: metadata.quality.contract: there is no file rides.odcs.yaml"),
        (
            CONTRACT.replace("required: true", "requird: true"),
            "rides",
            r"rides.odcs.yaml:14: schema\[0\].*requird",
        ),
        (CONTRACT.replace("nullValues", "nulValues"), "rides", r"rides.odcs.yaml:\d+: schema.*nulValues"),
        (CONTRACT + "  - {name: trips}\n", "other", "the contract has no table other; it has: rides, trips"),
        ("a: [", "rides", "rides.odcs.yaml:1"),
    ],
)
def test_a_wrong_contract_is_found_before_anything_is_read(
    tmp_path: Path, contract: str | None, name: str, text: str
) -> None:
    path = write(tmp_path, GOOD, contract, name)
    with pytest.raises(ConfigError, match=text):
        build(Config.from_file(path))
