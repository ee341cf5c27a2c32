"""One place turns what a command raises into a line, a JSON object and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

import click
from ldp_core._output import cell, print_json
from ldp_core._signals import remember
from ldp_core._trouble import REMEDIES, file_error, trouble, words
from ldp_core.errors import ConfigError, Interrupted, LDPError, UsageError

from ldp_cli.root import root

TRACEBACK = "run with -v for the traceback"


class _Signals:
    """SIGINT and SIGTERM as KeyboardInterrupt, so that ``finally`` blocks run; remembers that one came."""

    def __init__(self) -> None:
        self.came = False

    def listen(self) -> None:
        """Take both signals over, when this is the main thread."""
        remember(False)
        try:
            signal.signal(signal.SIGINT, self._handle)
            signal.signal(signal.SIGTERM, self._handle)
        except ValueError:
            return

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.came = True
        remember(True)
        raise KeyboardInterrupt


def run(args: list[str]) -> int:
    """Run a command line.

    Args:
        args: The words after ``ldp``.

    Returns:
        The exit code; see ``ldp_cli.main.main``.
    """
    signals = _Signals()
    signals.listen()
    _hush_warnings(args)
    try:
        code = root.main(args, prog_name="ldp", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(args)
    except BrokenPipeError:
        return _nobody_reads()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else error.format_message())
        return 1
    except Exception as error:
        if signals.came:
            return _interrupted(args)
        return _report(_as_ldp_error(error), error, args)
    finally:
        remember(False)


def _as_ldp_error(error: Exception) -> LDPError:
    """Any error as one of the tree; one that nobody meant says its class."""
    if isinstance(error, LDPError):
        return error
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "ldp"
        return UsageError(_in_a_line(error.format_message()), hint=f"see {command} --help")
    if isinstance(error, click.ClickException):
        return LDPError(error.format_message())
    if isinstance(error, OSError) and error.errno in REMEDIES:
        return file_error(error.errno, str(error.filename or ""))
    if type(error).__module__.startswith("strictyaml."):
        return _of_pyiceberg(error)
    of_engine = type(error).__module__ == "_duckdb"
    if of_engine and (found := trouble(error)) is not None:
        return found
    first = words(error) if of_engine else (str(error).strip().splitlines() or [""])[0]
    name = type(error).__name__
    text = f"{name}: {first}" if first else name
    return LDPError(text, hint=TRACEBACK, retriable=isinstance(error, OSError))


def _of_pyiceberg(error: Exception) -> LDPError:
    """pyiceberg reads its own file as soon as it is imported, whatever the command is about."""
    mark = getattr(error, "problem_mark", None)
    return ConfigError(
        f"not the YAML that pyiceberg reads: {getattr(error, 'problem', None) or type(error).__name__}",
        file=".pyiceberg.yaml",
        line=None if mark is None else mark.line + 1,
        hint="mend it, in this folder or in your home; pyiceberg takes neither {...} nor [...] there",
    )


def _report(error: LDPError, cause: Exception, args: list[str]) -> int:
    """Print an error for people and, with ``--json``, for programs; return its exit code."""
    problems = [problem for problem in getattr(error, "problems", ()) if problem.severity == "error"]
    texts = [str(problem) for problem in problems] if len(problems) > 1 else [_line_of(error)]
    if _wants_traceback(args):
        import traceback

        click.echo(_masked("".join(traceback.format_exception(cause))), err=True, nl=False)
    for text in texts:
        click.echo(f"ldp: error: {_shown(_masked(text))}", err=True)
    if _wants_json(args):
        body = error.to_dict()
        if len(problems) > 1:
            body["problems"] = [problem.to_dict() for problem in problems]
        print_json({"error": _masked(body)})
    return error.exit_code


def _shown(text: str) -> str:
    """A text of one line or several; names out of files and tables say nothing to the terminal."""
    return "\n".join(cell(line) for line in text.split("\n"))


def _line_of(error: LDPError) -> str:
    """The text of an error; the way to a traceback in parentheses, not as a remedy."""
    if error.hint == TRACEBACK:
        return f"{error.message} ({error.hint})"
    return str(error)


def _wants_json(args: list[str]) -> bool:
    return "--json" in args[: args.index("--")] if "--" in args else "--json" in args


def _wants_traceback(args: list[str]) -> bool:
    return any(
        word == "--verbose" or (word[:1] == "-" and "v" in word and set(word[1:]) <= set("vq"))
        for word in args
    )


def _masked(value: Any) -> Any:
    """A text or plain data without secrets."""
    try:
        from ldp_core.config.secrets import masked
    except ImportError:  # a broken installation must still be able to say so
        return value
    return masked(value)


def _in_a_line(text: str) -> str:
    """A message of click as ours are: one line; the choices of a missing option stand a line each there."""
    first, *choices = (line.strip() for line in _uncapitalised(text).splitlines() if line.strip())
    return " ".join([first, *choices]).replace(". Choose from: ", "; choose from ")


def _uncapitalised(text: str) -> str:
    """``No such option: -x.`` as the middle of a line."""
    text = text.strip().removesuffix(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _interrupted(args: list[str]) -> int:
    error = Interrupted("interrupted")
    click.echo(f"ldp: {error}", err=True)
    if _wants_json(args):
        print_json({"error": error.to_dict()})
    return error.exit_code


def _nobody_reads() -> int:
    """The reader of a pipe went away: end without a word, and keep Python from flushing into it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _hush_warnings(args: list[str]) -> None:
    """Keep the warnings of libraries from a user who did not ask for them."""
    if not sys.warnoptions and not _wants_traceback(args):
        import warnings

        warnings.simplefilter("ignore")
