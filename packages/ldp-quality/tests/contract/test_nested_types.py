"""The types inside of columns: fields of objects, items of arrays, keys and values of maps."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from ldp_quality import Contract, run_checks
from ldp_quality.contract.rules import ContractRule

HEAD = """version: 1.0.0
apiVersion: v3.2.0
kind: DataContract
id: orders
schema:
  - name: orders
"""
NESTED = """\
    properties:
      - name: lines
        logicalType: array
        items:
          logicalType: object
          properties:
            - {name: sku, logicalType: string}
            - {name: pieces, physicalName: n, logicalType: integer}
      - name: tags
        logicalType: map
        map:
          key: {logicalType: string}
          value: {logicalType: number}
"""


def rules_of(tmp_path: Path, text: str) -> tuple[ContractRule, ...]:
    path = tmp_path / "orders.odcs.yaml"
    path.write_text(HEAD + text, encoding="utf-8")
    return Contract.from_file(path).rules()


def nested(line: pa.DataType, tags: pa.DataType, lines: pa.DataType | None = None) -> pa.Table:
    return pa.table({"lines": pa.array([], lines or pa.list_(line)), "tags": pa.array([], tags)})


def test_the_types_inside_a_column_are_looked_at(tmp_path: Path) -> None:
    line = pa.struct([("sku", pa.string()), ("n", pa.int32()), ("more", pa.null())])
    tags = pa.map_(pa.string(), pa.float64())
    rules = rules_of(tmp_path, NESTED)
    assert [rule.reason for rule in rules] == [None]

    def said(rows: pa.Table) -> str:
        (result,) = run_checks(rows, [rule.rule for rule in rules]).results
        return result.details

    fine = "all 2 column(s) are as expected"
    assert said(nested(line, tags)) == fine
    assert said(nested(line, tags, pa.large_list(line))) == fine
    assert said(nested(pa.null(), tags)) == fine
    wrong = nested(pa.struct([("sku", pa.int8())]), pa.map_(pa.int64(), pa.string()))
    assert said(wrong) == (
        "missing column(s) ['lines.items.n']; the table has ['lines', 'tags']; "
        "lines.items.sku is int8, expected string; tags.key is int64, expected string; "
        "tags.value is string, expected number"
    )
    assert said(nested(pa.string(), tags)) == "lines.items is string, expected object"
    assert said(nested(line, pa.list_(pa.string()))).startswith("tags is list<")


def test_what_is_inside_a_text_is_not_run(tmp_path: Path) -> None:
    text = "    properties: [{name: s, logicalType: object, physicalType: json, properties: [{name: x}]}]\n"
    schema, inside = rules_of(tmp_path, text)
    assert (schema.reason, inside.reason) == (None, "s may be a text, and what is in it is not looked at")
    assert inside.name == "s: parts"
    assert run_checks(pa.table({"s": ["{}"]}), [schema.rule]).status == "pass"
