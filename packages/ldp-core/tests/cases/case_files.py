"""Files of a case: texts, JSON objects, and Parquet given as schema and rows."""

from __future__ import annotations

import base64
import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def write_files(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_bytes(content.encode())
        elif "parquet" in content:
            _parquet(path, content["parquet"])
        else:
            path.write_text(json.dumps(content))


def _parquet(path: Path, content: dict[str, Any]) -> None:
    schema = pa.schema([(name, arrow_type(text)) for name, text in content["schema"]])
    columns = [
        pa.array([_value(row[at], field.type) for row in content["rows"]], type=_plain(field.type))
        for at, field in enumerate(schema)
    ]
    arrays = [
        column.dictionary_encode() if pa.types.is_dictionary(field.type) else column
        for column, field in zip(columns, schema, strict=True)
    ]
    pq.write_table(pa.table(arrays, schema=schema), path)


def arrow_type(text: str) -> pa.DataType:
    """A type by the words that Arrow prints."""
    if text == "dict":
        return pa.dictionary(pa.int32(), pa.string())
    if text.startswith("decimal128("):
        precision, scale = text[len("decimal128(") : -1].split(",")
        return pa.decimal128(int(precision), int(scale))
    if text.startswith("timestamp["):
        unit, _, zone = text[len("timestamp[") : -1].partition(", tz=")
        return pa.timestamp(unit, tz=zone or None)
    if text.startswith(("struct<", "list<")):
        return _nested(text)
    simple = {"date32[day]": "date32", "bool": "bool_", "double": "float64", "float": "float32"}
    return getattr(pa, simple.get(text, text))()


def _nested(text: str) -> pa.DataType:
    kind, _, inside = text[:-1].partition("<")
    if kind == "list":
        return pa.list_(arrow_type(inside.removeprefix("item:").removeprefix("element:").strip()))
    fields, depth, start = [], 0, 0
    for at, char in enumerate(f"{inside},"):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(char, 0)
        if char == "," and not depth:
            name, _, kind = inside[start:at].partition(":")
            fields.append((name.strip(), arrow_type(kind.strip())))
            start = at + 1
    return pa.struct(fields)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _value(value: Any, kind: pa.DataType) -> Any:
    """A JSON value as the Python value of an Arrow type."""
    if value is None or not isinstance(value, str):
        return value
    if pa.types.is_timestamp(kind):
        if kind.unit == "ns":
            return pa.scalar(value).cast(pa.timestamp("ns", tz=kind.tz))
        return datetime.fromisoformat(value)
    if pa.types.is_date(kind):
        return date.fromisoformat(value)
    if pa.types.is_decimal(kind):
        return Decimal(value)
    if pa.types.is_floating(kind):
        return float(value)
    if pa.types.is_binary(kind):
        return base64.b64decode(value)
    return value
