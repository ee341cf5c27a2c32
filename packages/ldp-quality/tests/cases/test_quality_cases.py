"""Behaviour of checks that must hold, one case a line of checks.jsonl."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.errors import ConfigError
from ldp_quality import checks_from_config, run_checks

CASES = [json.loads(line) for line in Path(__file__).with_name("checks.jsonl").read_text("utf8").splitlines()]

RIGHT: dict[str, dict[str, Any]] = {
    "chk-029": {
        "passed": False,
        "failing_rows": 2,
        "metrics": {
            "row_count": 2,
            "null_key_rows": 0,
            "distinct_keys": 1,
            "duplicate_keys": 1,
            "duplicate_rows": 2,
            "sample": [{"key": [1], "count": 2}],
        },
    },
    "chk-047": {
        "passed": False,
        "failing_rows": 1,
        "metrics": {
            "row_count": 1,
            "null_count": 0,
            "invalid_count": 1,
            "accepted_values": [1.5],
            "invalid_values": [1],
        },
    },
}
"""What is right where a case says that the recorded behaviour is wrong."""

TYPES = {
    "double": pa.float64(),
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "null": pa.null(),
    "dict": pa.dictionary(pa.int32(), pa.string()),
    "list<int64>": pa.list_(pa.int64()),
    "list<string>": pa.list_(pa.string()),
    "struct<a:int64>": pa.struct([("a", pa.int64())]),
    "timestamp[us]": pa.timestamp("us"),
    "timestamp[ns]": pa.timestamp("ns"),
}


def _type(text: str) -> pa.DataType:
    found = re.fullmatch(r"decimal128\((\d+), (\d+)\)", text)
    return pa.decimal128(int(found[1]), int(found[2])) if found else TYPES[text]


def _value(value: Any, type_: pa.DataType) -> Any:
    if value == "NaN":
        return float("nan")
    if pa.types.is_decimal(type_):
        return Decimal(value)
    if pa.types.is_timestamp(type_) and isinstance(value, str):
        return pa.scalar(value).cast(type_)
    return value


def _table(data: dict[str, Any]) -> pa.Table:
    columns = {}
    for at, (name, text) in enumerate(data["schema"]):
        type_ = _type(text)
        values = [_value(row[at], type_) for row in data["rows"]]
        if pa.types.is_dictionary(type_):
            columns[name] = pa.array(values, pa.string()).dictionary_encode()
        else:
            columns[name] = pa.array(values, type_)
    return pa.table(columns)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        expected = RIGHT.get(case["id"], step["expect"])
        if "raises" in expected:
            with pytest.raises(ConfigError) as caught:
                checks_from_config([step["check"]])
            prefix = expected["message"].partition(": ")[0]
            assert str(caught.value).startswith(prefix)
            continue
        report = run_checks(_table(step["data"]), checks_from_config([step["check"]]), step.get("context"))
        result = report.results[0]
        assert result.passed is expected["passed"], result.details
        assert result.failing_rows == expected["failing_rows"]
        found, wanted = dict(result.metrics), dict(expected["metrics"])
        assert (found.pop("error", None) is None) == (wanted.pop("error", None) is None)
        assert found == wanted
        json.dumps(report.to_dict(), allow_nan=False)


def test_each_known_wrong_case_says_what_is_right() -> None:
    assert {case["id"] for case in CASES if "known_wrong" in case} == set(RIGHT)
