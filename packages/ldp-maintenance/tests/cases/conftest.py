"""Tables that a command is told of by a file, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_maintenance.testing import builders

Go = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def cat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A catalog that ``spec.json`` of the working directory tells."""
    monkeypatch.chdir(tmp_path)
    spec = {
        "type": "sql",
        "name": "test",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"file://{tmp_path}/warehouse",
    }
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    return builders.catalog(tmp_path)


@pytest.fixture
def go(cat: Any, capsys: pytest.CaptureFixture[str]) -> Go:
    """Runs an operation on ``db.t``: exit code, JSON, standard error."""

    from ldp_cli.main import main

    def run(verb: str, *args: str, table: str | None = "db.t") -> tuple[int, dict[str, Any], str]:
        named = (table,) if table else ()
        code = main(["maintain", verb, *named, "--catalog", "spec.json", "--json", *args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert len(err.splitlines()) == (1 if code else 0)
        return code, json.loads(out), err

    return run
