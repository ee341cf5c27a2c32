"""``--memory-limit`` of every command that has it: a word that is no size is refused before anything else."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import duckdb
import pytest
from ldp_cli.main import main
from ldp_cli.root import root

BAD = ("x", "400", "", "0MB", "MB", "-1GB", "1PB", "1,5GB", "400MB;", "nanMB", "none")
GOOD = ("400MB", "1GiB", " 2 gb ", "1.5GB", ".5GB", "1e9b", "300000k", "512M", "80%", "500 megabytes")


def _with_it(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    if any("--memory-limit" in option.opts for option in command.params):
        yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _with_it(child, *path, name)


COMMANDS = tuple(_with_it(root))


def test_the_commands_that_have_it() -> None:
    assert {("run",), ("query",), ("backfill",), ("maintain", "expire-snapshots")} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_word_that_is_no_size_is_one_line(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*path, "--memory-limit", "x"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "ldp: error: --memory-limit: 'x' is no size; write one such as 400MB or 2GB\n"


def test_it_is_json_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["maintain", "expire-snapshots", "c.json", "--memory-limit", "x", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["message"] == "--memory-limit: 'x' is no size"


@pytest.mark.parametrize("size", BAD)
def test_what_is_no_size(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--memory-limit", size]) == 1
    assert f"--memory-limit: {size!r} is no size" in capsys.readouterr().err


@pytest.mark.parametrize("size", GOOD)
def test_what_is_a_size_is_one_to_the_engine_too(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--memory-limit", size]) == 1
    assert "is no size" not in capsys.readouterr().err
    with duckdb.connect(config={"memory_limit": size}) as con:
        assert con.execute("SELECT 1").fetchall() == [(1,)]
