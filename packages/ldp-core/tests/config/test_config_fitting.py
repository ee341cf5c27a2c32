"""One malformed part of a config hides nothing that is wrong with the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_core import registry
from ldp_core.config import Config

HEAD = """\
identifier: rides
metadata:
"""
SOURCE = "  source: {name: r, format: CSV, path: r.csv}\n"
TARGET = "  target: {name: rides, format: ICEBERG, catalog: {identifier: nyc, warehouse_path: wh}}\n"


def found(folder: Path, body: str, env: str | None = None) -> dict[str, str]:
    (folder / "c.yaml").write_text(HEAD + body)
    config = Config.from_file(folder / "c.yaml", env)
    return {
        f"{item.line}: {item.key}": item.message for item in config.problems() if item.severity == "error"
    }


@pytest.mark.skipif(registry.find("ldp.sections", "quality") is None, reason="needs ldp-quality")
@pytest.mark.parametrize(
    ("open", "place"), [("  quality:\n", "["), ("  quality:\n    checks:\n", ".checks[")]
)
def test_a_malformed_check_leaves_the_others_judged_at_their_own_lines(
    tmp_path: Path, open: str, place: str
) -> None:
    checks = (
        "      - {check: nosuch}\n"
        "      - {check: range, column: a, min: 3, max: 1}\n"
        "      - {check: not_null, columns: 7}\n"
        '      - {check: regex, column: a, pattern: "("}\n'
        "      - {check: range, column: a, mn: 3}\n"
    )
    problems = found(tmp_path, SOURCE + TARGET + open + checks)
    first = 5 + open.count("\n")
    places = {key.partition("metadata.quality")[2] for key in problems}
    assert {text.split("]")[0] for text in places} == {f"{place}{at}" for at in range(5)}
    for key in problems:
        at = int(key.partition("metadata.quality")[2].removeprefix(place)[0])
        assert int(key.split(":")[0]) == first + at
    assert sum("[4]" in key for key in problems) == 1


def test_a_malformed_key_of_an_endpoint_leaves_its_other_keys_judged(tmp_path: Path) -> None:
    source = '  source: {name: r, format: CSV, path: 7, delimiter: "ab", encoding: nope, files: x}\n'
    target = (
        "  target:\n"
        "    format: ICEBERG\n"
        "    write_mode: append\n"
        "    keep_staged: perhaps\n"
        "    order_by: [a]\n"
        "    partition_by: [{transform: nosuch, column: x}]\n"
        "    catalog: {identifier: a/b, warehouse_path: wh, warehous: 1}\n"
    )
    problems = found(tmp_path, source + target)
    assert {key.split(": ")[1].removeprefix("metadata.") for key in problems} >= {
        "source.path",
        "source.delimiter",
        "source.encoding",
        "source.files",
        "target.name",
        "target.keep_staged",
        "target.order_by",
        "target.catalog.identifier",
        "target.catalog.warehous",
    }
    assert any("partition_by" in key for key in problems)


def test_nothing_is_said_that_only_the_broken_key_has_caused(tmp_path: Path) -> None:
    target = TARGET.replace("catalog:", "write_mode: upsert, join_cols: {a: 1}, dedupe: first, catalog:")
    assert [key.split(": ")[1] for key in found(tmp_path, SOURCE + target)] == ["metadata.target.join_cols"]


def test_a_broken_catalog_hides_nothing_of_the_table(tmp_path: Path) -> None:
    asked = "order_by: [a], catalog:"
    for catalog in ("{type: nope}", "{identifier: 7, warehouse_path: wh}", "{password: abc}", "nowhere", "7"):
        target = f"  target: {{name: rides, format: ICEBERG, {asked} {catalog}}}\n"
        keys = {key.split(": ")[1].split(".", 2)[2] for key in found(tmp_path, SOURCE + target)}
        assert "order_by" in keys, catalog
        assert any(key.startswith("catalog") for key in keys), catalog


def test_an_unknown_environment_hides_nothing_else(tmp_path: Path) -> None:
    problems = found(tmp_path, SOURCE + TARGET.replace("catalog:", "order_by: [a], catalog:"), "prd")
    assert any("unknown environment 'prd'" in text for text in problems.values())
    assert any(key.endswith("target.order_by") for key in problems)


def test_an_unknown_key_of_a_section_hides_nothing_else(tmp_path: Path) -> None:
    problems = found(
        tmp_path,
        SOURCE + TARGET + "  window: {size: week, timezone: Mars/One, colum: a}\n"
        "  docs: {layer: gold, owner: 7, primary_key: [b], columns: {a: x}}\n",
    )
    keys = {key.split(": ")[1].removeprefix("metadata.") for key in problems}
    assert {"window.size", "window.timezone", "window.colum", "docs.owner", "docs.primary_key[0]"} <= keys
