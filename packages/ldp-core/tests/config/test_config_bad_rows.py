"""``on_bad_rows``: what a config may say of rows that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
from ldp_core.config import Config

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
TABLE = {"name": "rides", "format": "ICEBERG", "catalog": CATALOG}
FILE = {"name": "rides", "format": "CSV", "path": "out.csv"}
APART = "quarantine"


def errors(source: dict[str, Any], target: dict[str, Any]) -> list[str]:
    given = {"name": "rides", "format": "CSV", "path": "r.csv", **source}
    config = Config.from_dict({"identifier": "r", "metadata": {"source": given, "target": target}})
    return [str(problem) for problem in config.problems() if problem.severity == "error"]


@pytest.mark.parametrize("kind", ["CSV", "JSONL"])
def test_text_sources_put_bad_rows_aside_beside_a_table(kind: str) -> None:
    assert errors({"format": kind, "on_bad_rows": APART}, TABLE) == []
    assert errors({"format": kind, "on_bad_rows": "error"}, FILE) == []


def test_a_file_target_cannot_put_rows_aside() -> None:
    assert errors({"on_bad_rows": APART}, FILE) == [
        "metadata.source.on_bad_rows: quarantine needs a target with format ICEBERG: rows of a CSV file "
        "cannot be put aside; leave it out"
    ]


@pytest.mark.parametrize("kind", ["PARQUET", "XLSX"])
def test_sources_with_types_of_their_own_do_not_know_the_key(kind: str) -> None:
    assert "on_bad_rows" in errors({"format": kind, "on_bad_rows": APART}, TABLE)[0]


def test_another_word_is_an_error() -> None:
    assert "must be one of error, quarantine" in errors({"on_bad_rows": "skip"}, TABLE)[0]
