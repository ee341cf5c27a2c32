"""Commands come from entry points, and one package's fault stays its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

GOOD = '''
import click

@click.command()
def greet():
    """Say hello."""
    click.echo("hello")

@click.command(hidden=True)
def secret():
    """Not listed."""

number = 3
'''


def test_a_plugin_adds_a_command(site: Any, ldp: Callable[..., Any]) -> None:
    site.add("good", GOOD, "greet", "secret")
    assert ldp("greet") == (0, "hello\n", "")
    listed = ldp("--help").out
    assert "Say hello." in listed
    assert "secret" not in listed
    assert ldp("secret").code == 0


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1", "AttributeError"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("greet = 3", "is no click command"),
        ("def (", "SyntaxError"),
    ],
)
def test_a_broken_plugin_is_listed_with_its_reason(
    site: Any, ldp: Callable[..., Any], code: str, reason: str
) -> None:
    site.add("bad", code, "greet")
    site.add("good", GOOD.replace("def greet", "def hello"), "hello")
    ended = ldp("--help", COLUMNS="200")
    assert ended.code == 0
    line = next(line for line in ended.out.splitlines() if line.strip().startswith("greet "))
    assert "(broken) of bad" in line
    assert reason in " ".join(ended.out.split())
    assert ldp("hello").out == "hello\n"
    used = ldp("greet")
    assert (used.code, used.out) == (1, "")
    assert "command 'greet' of bad" in used.err
    assert reason in used.err


def test_two_providers_of_one_name(site: Any, ldp: Callable[..., Any]) -> None:
    site.add("first", GOOD, "greet")
    site.add("second", GOOD, "greet")
    assert ldp("greet") == (
        1,
        "",
        "ldp: error: command 'greet' is offered by first and second; uninstall one of them\n",
    )
    assert "is offered by first and second" in ldp("--help", COLUMNS="200").out


def test_commands_are_found_where_packages_are_zipped(site: Any, ldp: Callable[..., Any]) -> None:
    site.add("good", GOOD, "greet")
    ended = ldp(
        "greet",
        code="import sys, zipfile; zipfile.ZipFile('a.zip', 'w').close(); sys.path.append('a.zip')\n"
        "from ldp_cli.main import main; sys.exit(main())",
    )
    assert ended == (0, "hello\n", "")
