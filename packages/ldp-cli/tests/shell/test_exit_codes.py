"""Whatever a command does, there is one line, one exit code, and a JSON object where it was asked for."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMANDS = '''
import sys, time, click
from pathlib import Path
from ldp_core._output import json_option, is_quiet, note, verbosity
from ldp_core.errors import ConfigError, DataQualityError, Problem, SourceNotFound

@click.command()
@click.argument("kind")
@json_option
@click.pass_context
def fail(ctx, kind, as_json):
    """Fail in one way or another."""
    if kind == "config":
        raise ConfigError("unknown key", file="c.json", line=3, key="metadata.x", hint="did you mean y?")
    if kind == "many":
        raise ConfigError.from_problems((Problem("one", "a", "c.json", 1), Problem("two", "b", "c.json", 2)))
    if kind == "gate":
        raise DataQualityError("2 of 3 checks failed; nothing was published")
    if kind == "source":
        raise SourceNotFound("no such file: x.csv")
    if kind == "os":
        open("/no/such/file")
    if kind == "full":
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")
    if kind == "readonly":
        raise OSError(30, "Read-only file system", "wh/nyc")
    if kind == "library":
        raise ValueError("what it is\\nand more")
    if kind == "escape":
        raise DataQualityError("1 failed:\\n  - \\x1b]0;x\\x07: bad")
    if kind == "secret":
        raise RuntimeError("cannot reach postgresql://me:hunter2@db/lake")
    if kind == "sla":
        ctx.exit(2)
    if kind == "abort":
        raise click.Abort
    if kind == "interrupt":
        raise KeyboardInterrupt

@click.command()
def hang():
    """Hang until a signal comes."""
    try:
        print("ready", flush=True)
        while True:  # a signal that comes just before a sleep begins is heard when it ends
            time.sleep(0.05)
    finally:
        Path("cleaned").touch()

@click.command()
def flood():
    """Print without end."""
    for number in range(10_000_000):
        click.echo(number)

@click.command()
def tell():
    """Tell what the root knows."""
    note("a note")
    click.echo(f"quiet={is_quiet()} verbosity={verbosity()}")

@click.group()
def many():
    """Several things."""

@many.command()
def deep():
    """Down here."""
    note("a deep note")
'''


@pytest.fixture
def fake(site: Any) -> Any:
    site.add("fake", COMMANDS, "fail", "hang", "flood", "tell", "many")
    return site


@pytest.mark.parametrize(
    ("kind", "code", "err"),
    [
        ("fine", 0, ""),
        ("config", 1, "ldp: error: c.json:3: metadata.x: unknown key; did you mean y?\n"),
        ("many", 1, "ldp: error: c.json:1: a: one\nldp: error: c.json:2: b: two\n"),
        ("escape", 3, "ldp: error: 1 failed:\n  - \\x1b]0;x\\x07: bad\n"),
        ("gate", 3, "ldp: error: 2 of 3 checks failed; nothing was published\n"),
        ("source", 1, "ldp: error: no such file: x.csv\n"),
        (
            "os",
            1,
            "ldp: error: FileNotFoundError: [Errno 2] No such file or directory: '/no/such/file'"
            " (run with -v for the traceback)\n",
        ),
        ("full", 1, "ldp: error: no space left on device; make room and run it again\n"),
        (
            "readonly",
            1,
            "ldp: error: read-only file system: wh/nyc; write to another place, or make this one writable\n",
        ),
        ("library", 1, "ldp: error: ValueError: what it is (run with -v for the traceback)\n"),
        ("sla", 2, ""),
        ("abort", 130, "ldp: interrupted\n"),
        ("interrupt", 130, "\nldp: interrupted\n"),
    ],
)
def test_exit_table(fake: Any, ldp: Callable[..., Any], kind: str, code: int, err: str) -> None:
    assert ldp("fail", kind) == (code, "", err)


def test_a_file_of_pyiceberg_that_it_cannot_read_is_named() -> None:
    import strictyaml
    from ldp_cli import shell

    with pytest.raises(strictyaml.YAMLError) as caught:
        strictyaml.load("catalog:\n  lake: {type: sql}\n")
    found = shell._as_ldp_error(caught.value)
    assert str(found).startswith(".pyiceberg.yaml:2: not the YAML that pyiceberg reads: ")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (
            ["fail", "config"],
            {"code": "config", "file": "c.json", "line": 3, "key": "metadata.x", "retriable": False},
        ),
        (["fail", "source"], {"code": "source_not_found", "retriable": True}),
        (["fail", "gate"], {"code": "data_quality"}),
        (["fail", "os"], {"code": "error", "hint": "run with -v for the traceback", "retriable": True}),
        (["fail", "full"], {"code": "error", "hint": "make room and run it again", "retriable": True}),
        (["fail", "interrupt"], {"code": "interrupted", "message": "interrupted", "retriable": True}),
        (["fail", "abort"], {"code": "interrupted", "retriable": True}),
        (["fail", "fine", "extra"], {"code": "usage"}),
        (["nope"], {"code": "usage", "message": "no command is called 'nope'"}),
    ],
)
def test_an_error_is_json_on_standard_output_too(
    fake: Any, ldp: Callable[..., Any], args: list[str], expected: dict[str, object]
) -> None:
    ended = ldp(*args, "--json")
    body = json.loads(ended.out)["error"]
    assert {"code", "message", "file", "line", "key", "hint", "retriable"} <= set(body)
    assert {**body, **expected} == body
    start = "ldp: interrupted" if body["code"] == "interrupted" else "ldp: error: "
    assert ended.err.lstrip().startswith(start)
    assert ended.code == {"data_quality": 3, "interrupted": 130}.get(body["code"], 1)


def test_json_carries_every_problem(fake: Any, ldp: Callable[..., Any]) -> None:
    body = json.loads(ldp("fail", "many", "--json").out)["error"]
    assert [(problem["key"], problem["line"]) for problem in body["problems"]] == [("a", 1), ("b", 2)]


@pytest.mark.parametrize(
    ("args", "err"),
    [
        (["tel"], "ldp: error: no command is called 'tel'; did you mean tell?\n"),
        (["zzzzzz"], "ldp: error: no command is called 'zzzzzz'; ldp --help lists the commands\n"),
        (["fail"], "ldp: error: missing argument 'KIND'; see ldp fail --help\n"),
        (["fail", "x", "y"], "ldp: error: got unexpected extra argument (y); see ldp fail --help\n"),
    ],
)
def test_usage_errors_exit_with_1(fake: Any, ldp: Callable[..., Any], args: list[str], err: str) -> None:
    assert ldp(*args) == (1, "", err)


@pytest.mark.parametrize("args", [[], ["-v"], ["many"]])
def test_no_command_prints_help_and_exits_with_1(fake: Any, ldp: Callable[..., Any], args: list[str]) -> None:
    ended = ldp(*args)
    assert ended.code == 1
    assert ended.out.startswith("Usage: ldp")
    assert ended.err == ""


@pytest.mark.parametrize(
    "args", [["-v", "fail", "library"], ["fail", "library", "-v"], ["-qv", "fail", "library"]]
)
def test_a_traceback_only_with_v(fake: Any, ldp: Callable[..., Any], args: list[str]) -> None:
    ended = ldp(*args)
    assert ended.code == 1
    assert "Traceback (most recent call last)" in ended.err
    assert "ldp: error: ValueError: what it is" in ended.err


@pytest.mark.parametrize("args", [["fail", "secret"], ["fail", "secret", "--json"], ["-v", "fail", "secret"]])
def test_secrets_are_masked(fake: Any, ldp: Callable[..., Any], args: list[str]) -> None:
    ended = ldp(*args)
    assert ended.code == 1
    assert "cannot reach postgresql://me:***@db/lake" in ended.err
    assert "hunter2" not in ended.err.replace('raise RuntimeError("cannot reach postgresql://me:hunter2', "")
    assert "hunter2" not in ended.out


@pytest.mark.parametrize(
    ("args", "out", "err"),
    [
        (["tell"], "quiet=False verbosity=0\n", "a note\n"),
        (["--quiet", "tell"], "quiet=True verbosity=0\n", ""),
        (["tell", "-q"], "quiet=True verbosity=0\n", ""),
        (["many", "deep", "--quiet"], "", ""),
        (["many", "deep"], "", "a deep note\n"),
    ],
)
def test_quiet_stands_anywhere(
    fake: Any, ldp: Callable[..., Any], args: list[str], out: str, err: str
) -> None:
    assert ldp(*args) == (0, out, err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_cleanup_run_and_exits_with_130(fake: Any, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ldp_cli", "hang"],
        env=fake.environment(),
        cwd=fake.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    try:
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.strip() == "ldp: interrupted"
    assert (fake.folder / "cleaned").exists()


def test_a_reader_that_goes_away_is_no_news(fake: Any) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ldp_cli", "flood"],
        env=fake.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(30) == 1


def test_completion_is_offered(fake: Any, ldp: Callable[..., Any]) -> None:
    ended = ldp(_LDP_COMPLETE="zsh_source")
    assert "ldp" in ended.out
    words = ldp(_LDP_COMPLETE="bash_complete", COMP_WORDS="ldp te", COMP_CWORD="1")
    assert words.out == "plain,tell\n"


def test_time_is_not_lost_before_the_command(fake: Any, ldp: Callable[..., Any]) -> None:
    begin = time.monotonic()
    assert ldp("tell").code == 0
    assert time.monotonic() - begin < 10, "a light command takes about 0.2 s; 10 s is not the machine"
    assert Path(fake.folder).is_dir()


def test_a_missing_option_with_choices_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from ldp_cli.main import main

    pytest.importorskip("ldp_orchestration")
    assert main(["schedule", "install", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told == (
        "ldp: error: missing option '--print'; choose from cron, launchd, systemd, windows; "
        "see ldp schedule install --help\n"
    )
