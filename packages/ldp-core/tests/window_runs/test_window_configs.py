"""What a config may say of windows: plan and run refuse alike, with file, line and key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes ``c.json``; ``source`` and ``target`` are merged into it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("id,ts\n1,2026-08-01 10:00:00\n")

    def config(
        source: dict[str, Any] | None = None,
        target: dict[str, Any] | None = None,
        when: str | None = None,
        **more: Any,
    ) -> None:
        body: dict[str, Any] = {
            "identifier": "rides",
            **({"when": when} if when else {}),
            "metadata": {
                "source": {"name": "rides", "format": "CSV", "path": "r.csv", **(source or {})},
                "target": {
                    "name": "rides",
                    "format": "ICEBERG",
                    "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
                    **(target or {}),
                },
                **more,
            },
        }
        (tmp_path / "c.json").write_text(json.dumps(body, indent=2))

    return config


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, Any]]:
    """The problems of the config; ``run`` has the very same and creates nothing."""
    assert main(["plan", "c.json", "--json", *args]) == 1
    problems: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["problems"]
    errors = [problem for problem in problems if problem["severity"] == "error"]
    assert main(["run", "c.json", *args]) == 1
    told = capsys.readouterr().err
    assert all(problem["message"] in told for problem in errors), told
    assert not Path("wh").exists()
    return errors


def line_of(word: str) -> int:
    lines = Path("c.json").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if word in line)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("d/{window_start}.csv", "{window_start} needs a strftime format"),
        ("d/{window_end:}.csv", "{window_end} needs a strftime format"),
        ("d/{window_start:%Y.csv", "has a placeholder that is not closed"),
    ],
)
def test_a_broken_placeholder(write: Write, capsys: Any, path: str, message: str) -> None:
    write({"path": path})
    (found,) = refused(capsys)
    assert message in found["message"]
    assert (found["file"], found["line"], found["key"]) == (
        "c.json",
        line_of('"path"'),
        "metadata.source.path",
    )


@pytest.mark.parametrize(
    ("parts", "key"),
    [
        ({"source": {"name": "r_{window_start:%Y}"}}, "metadata.source.name"),
        ({"target": {"name": "r_{window_end:%Y}"}}, "metadata.target.name"),
        (
            {"target": {"catalog": {"identifier": "nyc", "warehouse_path": "w_{window_start"}}},
            "metadata.target.catalog.warehouse_path",
        ),
        (
            {"transforms": [{"sql": "SELECT '{window_start:%Y}' AS y FROM source"}]},
            "metadata.transforms[0].sql",
        ),
    ],
)
def test_a_placeholder_in_any_other_key(write: Write, capsys: Any, parts: dict[str, Any], key: str) -> None:
    write(**parts)
    found = {problem["key"]: problem["message"] for problem in refused(capsys)}
    assert "works in metadata.source.path alone" in found[key]


def test_a_placeholder_that_no_window_can_fill(write: Write, capsys: Any) -> None:
    write({"path": "d/{window_start:%Y}.csv"}, window="none")
    [found] = refused(capsys)
    assert "metadata.window is none" in found["message"]


def test_a_placeholder_in_a_description_is_text(write: Write, capsys: Any) -> None:
    write(docs={"description": "of {window_start:%Y-%m-%d}"}, **{"x-note": "{window_start:%Y}"})
    assert main(["plan", "c.json"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("own", [True, False])
def test_a_schedule_of_appends_that_all_load_the_same_rows(write: Write, capsys: Any, own: bool) -> None:
    said: dict[str, Any] = {"schedule": "5 2 * * *"} if own else {"when": "Daily"}
    write(**said)
    (found,) = refused(capsys)
    text = "5 2 * * *" if own else "@daily"
    assert f"the schedule {text!r} would append the same rows in every window" in found["message"]
    assert found["key"] == ("metadata.schedule" if own else "when")
    assert found["line"] == line_of('"schedule"' if own else '"when"')

    for right in (
        {"source": {"path": "d/{window_start:%Y-%m-%d}.csv"}},
        {"window": {"size": "day", "column": "ts"}},
        {"target": {"write_mode": "overwrite"}},
        {"target": {"write_mode": "upsert", "join_cols": ["id"]}},
    ):
        write(**said, **right)
        assert main(["plan", "c.json"]) == 0, capsys.readouterr()
    write(when="fortnightly")
    assert main(["plan", "c.json"]) == 0
    capsys.readouterr()


def test_the_mode_of_the_command_line_counts(write: Write, capsys: Any) -> None:
    write(schedule="@daily", target={"write_mode": "overwrite"})
    (found,) = refused(capsys, "--mode", "append")
    assert "(with --mode append)" in found["message"]


def test_a_config_without_windows_takes_none(write: Write, capsys: Any) -> None:
    write(window="none")
    (found,) = refused(capsys, "--window", "2026-08-01/2026-08-02")
    assert found["message"] == "metadata.window is none: the config has no windows"
    assert (found["key"], found["line"]) == ("metadata.window", line_of('"window"'))
    assert main(["run", "c.json"]) == 0
    capsys.readouterr()


def test_a_window_has_a_size(write: Write, capsys: Any) -> None:
    write(window={"column": "ts"})
    (found,) = refused(capsys)
    assert found["key"] == "metadata.window.size"


def test_an_overwrite_of_one_file_a_window_gets_a_note(write: Write, capsys: Any) -> None:
    path = {"path": "d/{window_start:%Y-%m-%d}.csv"}
    write(path, {"write_mode": "overwrite"})
    assert main(["plan", "c.json", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert any(
        "overwrite replaces the whole table, although {window_start:%Y-%m-%d}" in note for note in notes
    )
    write(path, {"write_mode": "overwrite"}, window={"size": "day", "column": "ts"})
    assert main(["plan", "c.json", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert not any("overwrite replaces" in note for note in notes)
