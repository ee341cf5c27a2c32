"""A contract file is judged as its version of the standard says: a line a finding, with line and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ldp_quality.commands.contract import contract
from ldp_quality.contract.lint import lint

HEAD = """version: 1.0.0
apiVersion: {version}
kind: DataContract
id: orders
status: active
schema:
  - name: orders
"""


def written(tmp_path: Path, text: str, version: str = "v3.2.0", head: str = HEAD) -> str:
    path = tmp_path / "orders.odcs.yaml"
    path.write_text(head.format(version=version) + text, encoding="utf-8")
    return str(path)


def found(tmp_path: Path, text: str, version: str = "v3.2.0", head: str = HEAD) -> list[str]:
    path = written(tmp_path, text, version, head)
    return [str(problem).removeprefix(f"{path}:") for problem in lint(path).problems]


def test_all_findings_come_at_once_each_with_its_line_and_key(tmp_path: Path) -> None:
    text = """\
    properties:
      - name: id
        requird: true
        logicalType: strin
      - logicalType: string
        logicalTypeOptions: {minLength: x}
    quality:
      - metric: rowCont
        mustBe: 1
"""
    assert found(tmp_path, text) == [
        "10: schema[0].properties[0].requird: unknown key; did you mean required?",
        "11: schema[0].properties[0].logicalType: must be one of string, date, timestamp, time, number, "
        'integer, object, array, boolean, map, vector, not "strin"; did you mean string?',
        "12: schema[0].properties[1].name: is required",
        "13: schema[0].properties[1].logicalTypeOptions.minLength: must be a whole number, not text",
        "15: schema[0].quality[0].metric: must be one of nullValues, missingValues, invalidValues, "
        'duplicateValues, rowCount, not "rowCont"; did you mean rowCount?',
    ]


@pytest.mark.parametrize(
    ("item", "finding"),
    [
        ("{metric: rowCount}", "needs an operator such as mustBe"),
        ("{metric: rowCount, mustBe: 1, mustNotBe: 2}", "only one of mustBe and mustNotBe may be given"),
        ("{metric: rowCount, mustBeLessThan: '3'}", ".mustBeLessThan: must be a number, not text"),
        ("{metric: rowCount, mustBeBetween: [1]}", ".mustBeBetween: needs at least 2 items, has 1"),
        ("{type: sql, mustBe: 1}", ".query: is required"),
        ("{type: custom, engine: soda}", ".implementation: is required"),
        (
            "{type: text, mustBe: 3}",
            ".mustBe: does not go with the other keys of this object; it needs a metric",
        ),
        (
            "{metric: rowCount, mustBe: 1, colour: red}",
            ".colour: unknown key; the standard has no such key here",
        ),
        ("{metric: rowCount, mustBe: 1, dimension: speed}", ".dimension: must be one of accuracy, "),
    ],
)
def test_a_quality_item_is_judged(tmp_path: Path, item: str, finding: str) -> None:
    lines = found(tmp_path, f"    quality:\n      - {item}\n")
    joint = "" if finding.startswith(".") else ": "
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"9: schema[0].quality[0]{joint}{finding}")


@pytest.mark.parametrize(
    ("version", "text", "findings"),
    [
        ("v3.2.0", "    properties: [{name: a, enum: [{value: 1}]}]\n", []),
        ("v3.1.0", "    properties: [{name: a, enum: [{value: 1}]}]\n", ["it came with apiVersion v3.2.0"]),
        ("v3.1.0", "    properties: [{name: a, logicalType: timestamp}]\n", []),
        (
            "v3.0.2",
            "    properties: [{name: a, logicalType: timestamp}]\n",
            ["it came with apiVersion v3.1.0"],
        ),
        ("v3.0.2", "    quality: [{rule: countCheck}]\n", []),
        ("v3.1.0", "    quality: [{rule: countCheck, type: library}]\n", ["metric: is required"]),
        ("v3.0.2", "    quality: [{metric: rowCount, mustBe: 1, weight: 2}]\n", []),
        ("v3.0.2", "    quality: [{description: nothing}]\n", ["needs metric or rule"]),
        (
            "v3.0.2",
            "    properties: [{name: a, logicalType: integer, "
            "logicalTypeOptions: {exclusiveMinimum: true, minimum: 1}}]\n",
            [],
        ),
        (
            "v3.1.0",
            "    properties: [{name: a, logicalType: integer, "
            "logicalTypeOptions: {exclusiveMaximum: true}}]\n",
            ["must be a number, not true or false"],
        ),
    ],
)
def test_each_version_has_its_own_keys(tmp_path: Path, version: str, text: str, findings: list[str]) -> None:
    lines = [line for line in found(tmp_path, text, version) if "operator" not in line]
    assert len(lines) == len(findings), lines
    for line, finding in zip(lines, findings, strict=True):
        assert finding in line


@pytest.mark.parametrize("version", ["v3.0.2", "v3.1.0", "v3.2.0"])
def test_a_property_without_a_logical_type_needs_no_map(tmp_path: Path, version: str) -> None:
    assert found(tmp_path, "    properties: [{name: a, physicalType: int}]\n", version) == []


def test_status_may_be_absent_since_3_2(tmp_path: Path) -> None:
    head = HEAD.replace("status: active\n", "")
    assert found(tmp_path, "", "v3.2.0", head) == []
    assert found(tmp_path, "", "v3.1.0", head) == ["1: status: is required"]


@pytest.mark.parametrize(
    ("version", "finding"),
    [
        ("v2.2.2", '"v2.2.2" is not a version of the standard that is read; '),
        (
            "v4.0.0",
            '"v4.0.0" is not a version of the standard that is read; LDP reads v3.0.2, v3.1.0 and v3.2.0',
        ),
        ("3.1.0", 'must be written v3.1.0, not "3.1.0"'),
    ],
)
def test_another_version_is_one_line(tmp_path: Path, version: str, finding: str) -> None:
    lines = found(tmp_path, "    properties: [{nam: a}]\n", version)
    assert len(lines) == 1
    assert lines[0].startswith(f"2: apiVersion: {finding}")


def test_secrets_are_refused_and_never_shown(tmp_path: Path) -> None:
    text = """\
servers:
  - {server: a, type: postgres, host: h, port: 1, database: d, schema: s, password: hunter2}
  - {server: b, type: postgres, host: h, port: 1, database: d, schema: s, password: "${DB_PASSWORD}"}
customProperties:
  - property: apiKey
    value: hunter2
"""
    lines = found(tmp_path, text)
    assert [line.partition(";")[0] for line in lines if "secret" in line] == [
        "9: servers[0].password: looks like an inline secret",
        "13: customProperties[0].value: looks like an inline secret",
    ]
    assert "hunter2" not in "".join(lines)


def test_the_command_prints_findings_and_exits_1(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_text(HEAD.format(version="v3.2.0"), encoding="utf-8")
    bad = written(tmp_path, "    propertes: []\n")
    run = CliRunner().invoke(contract, ["lint", str(good), bad, str(tmp_path / "absent.yaml")])
    assert run.exit_code == 1
    lines = run.output.splitlines()
    assert lines[0].startswith(f"{good}: ok")
    assert lines[1] == f"{bad}:8: schema[0].propertes: unknown key; did you mean properties?"
    assert "not found" in lines[-1]
    assert CliRunner().invoke(contract, ["lint", str(good)]).exit_code == 0


def test_json_holds_every_finding(tmp_path: Path) -> None:
    import json

    bad = written(tmp_path, "    propertes: []\n")
    run = CliRunner().invoke(contract, ["lint", bad, "--json"])
    body: dict[str, Any] = json.loads(run.output)
    assert body["ok"] is False
    assert body["files"][0]["problems"][0]["line"] == 8


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        (
            "    properties: [{name: a, logicalType: string}, {name: b}, {name: a, logicalType: integer}]\n",
            [
                "8: schema[0].properties[2].name: the property a stands twice, "
                "first as schema[0].properties[0]"
            ],
        ),
        (
            "    properties: [{name: a}, {name: b, physicalName: a}, {name: c, physicalName: a}]\n",
            [
                "8: schema[0].properties[1].physicalName: the column a stands twice, "
                "first as schema[0].properties[0]",
                "8: schema[0].properties[2].physicalName: the column a stands twice, "
                "first as schema[0].properties[0]",
            ],
        ),
        (
            "    properties:\n      - name: s\n        logicalType: object\n"
            "        properties: [{name: x}, {name: x}]\n",
            [
                "11: schema[0].properties[0].properties[1].name: the property x stands twice, "
                "first as schema[0].properties[0].properties[0]"
            ],
        ),
        (
            "  - name: orders\n    physicalName: other\n",
            ["8: schema[1].name: the table orders stands twice, first as schema[0]"],
        ),
        ("    properties: [{name: a}, {name: A}, {name: b, semanticType: measure, physicalName: a}]\n", []),
    ],
)
def test_of_two_columns_or_tables_of_one_name_none_is_passed_over(
    tmp_path: Path, text: str, findings: list[str]
) -> None:
    assert found(tmp_path, text) == findings
