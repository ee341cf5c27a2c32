"""The page about contracts names every construct of the standard."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ldp_quality.checks.metric import METRICS
from ldp_quality.checks.operators import OPERATORS
from ldp_quality.contract._extras import NAMES
from ldp_quality.contract._schema import NEWEST, VERSIONS, schema_of

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "contracts.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"[A-Za-z_0-9.]+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
PARTS = (
    "SchemaElement",
    "SchemaObject",
    "SchemaBaseProperty",
    "DataQuality",
    "DataQualityLibrary",
    "DataQualitySql",
    "DataQualityCustom",
    "ServiceLevelAgreementProperty",
)


def keys(part: Any) -> Iterator[str]:
    """The keys that a part of the schema knows, its conditions and options with them."""
    if isinstance(part, Mapping):
        for name, item in part.get("properties", {}).items():
            yield name
            if name == "logicalTypeOptions":
                yield from keys(item)
        for word in ("allOf", "oneOf"):
            for item in part.get(word, ()):
                yield from keys(item)
        yield from keys(part.get("then"))


@pytest.mark.parametrize("part", ["", *PARTS])
def test_every_key_is_on_the_page(part: str) -> None:
    schema = schema_of(NEWEST)
    known = set(keys(schema["$defs"][part] if part else schema))
    assert known
    assert not known - NAMED


def test_every_word_is_on_the_page() -> None:
    assert not {*METRICS, *OPERATORS} - NAMED
    assert not set(NAMES) - NAMED
    assert not set(VERSIONS) - set(re.findall(r"v\d\.\d\.\d", PAGE))
