"""Schema updates for a commit of our own, and what a plan needs to import."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from ldp_core.catalogs.sqlite import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.tables.docs import changed, columns, properties
from ldp_core.tables.fit import Op
from ldp_core.tables.schema import evolve, new_schema


def base_of(tmp_path, schema: pa.Schema):
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    catalog.create_namespace("nyc")
    catalog.create_table("nyc.t", new_schema(schema))
    return load_base(catalog, ("nyc", "t"))


def test_updates_of_upstream_are_what_a_commit_takes(tmp_path):
    inner = pa.struct([("x", pa.int32())])
    base = base_of(tmp_path, pa.schema([("a", pa.int32()), ("s", inner), ("l", pa.list_(inner))]))
    ops = [
        Op(("a",), pa.int64(), widen=True),
        Op(("s", "y"), pa.list_(pa.string()), widen=False),
        Op(("l", "element", "z"), pa.date32(), widen=False),
        Op(("l", "element", "x"), pa.int64(), widen=True),
        Op(("b",), pa.string(), widen=False),
    ]
    schema, updates = evolve(base, ops, {"b": "new", "a": "first"})
    assert [type(update).__name__ for update in updates] == ["AddSchemaUpdate", "SetCurrentSchemaUpdate"]
    assert [field.name for field in schema.fields] == ["a", "s", "l", "b"]
    assert str(schema.find_type("a")) == "long"
    assert str(schema.find_type("s.y.element")) == "string"
    assert str(schema.find_type("l.element.z")) == "date"
    assert str(schema.find_type("l.element.x")) == "long"
    assert (schema.find_field("b").doc, schema.find_field("a").doc) == ("new", "first")
    old = base.metadata.schema()
    assert schema.find_field("s.x").field_id == old.find_field("s.x").field_id
    assert schema.highest_field_id > old.highest_field_id
    assert evolve(base, [], {"gone": "text"}) == (old, ())


def test_docs_become_properties():
    docs = {"description": "d", "tags": ["x", "é"], "columns": {"a": "text"}}
    assert properties(docs) == {"comment": "d", "ldp.docs.tags": '["x", "é"]'}
    assert columns(docs) == {"a": "text"}
    assert changed({"comment": "d"}, docs) == {"ldp.docs.tags": '["x", "é"]'}
    assert (properties(None), columns(None)) == ({}, {})


@pytest.mark.parametrize("module", ["iceberg", "csv", "parquet", "jsonl", "formats"])
def test_looking_at_a_target_loads_nothing_heavy(module):
    code = (
        f"import sys, ldp_core.targets.{module}\n"
        "print([m for m in ('pyarrow', 'duckdb', 'pyiceberg', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
