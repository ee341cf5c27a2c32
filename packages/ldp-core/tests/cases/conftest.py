"""Where the cases come from."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", help="A JSONL file of cases, in place of those in the repository.")
