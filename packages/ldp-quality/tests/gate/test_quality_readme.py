"""The package's README is run, not only read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ldp_core.config.load import load_document
from ldp_core.spi import Spec
from ldp_quality import checks_from_config
from ldp_quality.config import GROUP
from ldp_quality.section import SECTION, items_of

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README.read_text("utf8"), re.MULTILINE | re.DOTALL)
PYTHON = [body for language, body in BLOCKS if language == "python"]
YAML = [body for language, body in BLOCKS if language == "yaml"]


@pytest.mark.parametrize("body", PYTHON)
def test_python(body: str) -> None:
    exec(compile(body, str(README), "exec", dont_inherit=True), {"__name__": "__main__"})


def test_configs(tmp_path: Path) -> None:
    seen = set()
    for at, body in enumerate(YAML):
        path = tmp_path / f"{at}.yaml"
        path.write_text(body, "utf8")
        quality = load_document(path).data["quality"]
        assert SECTION.problems(quality, Spec({}, tmp_path)) == []
        checks = checks_from_config(items_of(quality))
        seen |= {check.kind for check in checks}
    from ldp_core import registry

    assert seen == set(registry.names(GROUP))
