"""What every command shares: its options, and how it prints tables, JSON, notes and warnings.

Results go to standard output (``print_table``, ``print_json``, ``say``), everything else to standard
error (``note``, ``warn``). ``-v`` and ``--quiet`` belong to the root command and are found from anywhere
below it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

if TYPE_CHECKING:
    from ldp_core.spi import Progress

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
"""``--json``; the parameter is ``as_json: bool``. The root command prints errors as JSON when it is set."""

env_option = click.option(
    "--env", "env", metavar="NAME", default=None, help="An environment of ldp.yaml, such as prod."
)
"""``--env NAME``; the parameter is ``env: str | None``."""


def memory_limit_option(text: str) -> Callable[[Any], Any]:
    """``--memory-limit SIZE``; the parameter is ``memory_limit: str | None``. What is no size is refused.

    Args:
        text: What the help says.
    """
    return click.option("--memory-limit", metavar="SIZE", default=None, help=text, callback=_size)


def _size(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    del option
    if value is not None and not context.resilient_parsing:
        from ldp_core._duck import refuse_no_size

        refuse_no_size(value)
    return value


memory_option = memory_limit_option("Memory of the engine, such as 400MB (the default).")
"""As most commands have it."""


def say(text: str = "") -> None:
    """Print a line of the result to standard output."""
    click.echo(text)


def note(text: str) -> None:
    """Print a line for a person to standard error; ``--quiet`` hides it."""
    if not is_quiet():
        click.echo(text, err=True)


def warn(text: str) -> None:
    """Print ``ldp: warning: <text>`` to standard error; ``--quiet`` does not hide it."""
    click.echo(f"ldp: warning: {text}", err=True)


def is_quiet() -> bool:
    """Whether ``--quiet`` stands on the command line."""
    return bool(_root("quiet"))


def verbosity() -> int:
    """How many ``-v`` stand on the command line."""
    return int(_root("verbose") or 0)


def progress(*, as_json: bool = False) -> Progress:
    """The progress of a command: a line on a terminal's standard error, silent with ``--quiet``.

    Args:
        as_json: The command's ``--json``; a program that reads JSON watches no bars.
    """
    from ldp_core._progress import terminal_progress

    return terminal_progress(quiet=is_quiet() or as_json)


def print_json(value: Any) -> None:
    """Print a value as indented JSON to standard output.

    Dates and times become ISO 8601, decimals, UUIDs and paths text, bytes hexadecimal, NaN and the
    infinities null, tuples and sets lists. Ids beyond 2**53 are text already: that is the caller's part.
    """
    click.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))


def plain(value: Any) -> Any:
    """A value with only what JSON knows in it (see ``print_json``)."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, Decimal | UUID | PurePath | timedelta):
        return str(value)
    to_dict = getattr(value, "to_dict", None)
    return plain(to_dict()) if callable(to_dict) else str(value)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, total: int | None = None, footer: bool = True
) -> None:
    """Print rows as aligned plain text: a header, a rule, a line a row and ``(n rows)``.

    Columns that hold only numbers stand to the right; None is ``NULL``; line breaks and control characters
    are shown as escapes, so a value can neither break the table nor speak to the terminal.

    Args:
        columns: The header.
        rows: As many values a row as there are columns.
        total: How many rows there are in all, when only the first of them are given.
        footer: Whether ``(n rows)`` is printed.
    """
    data = [list(row) for row in rows]
    numeric = [all(_is_number(row[i]) for row in data) for i in range(len(columns))]
    cells = [[cell(value) for value in row] for row in data]
    header = [cell(name) for name in columns]
    widths = [
        max([_width(header[i]), *(_width(row[i]) for row in cells)], default=0) for i in range(len(columns))
    ]
    lines = [_line(header, widths, numeric), "  ".join("-" * width for width in widths)]
    lines += [_line(row, widths, numeric) for row in cells]
    if footer:
        shown = len(data)
        word = "row" if (total or shown) == 1 else "rows"
        lines.append(f"({shown} of {total} {word})" if total and total > shown else f"({shown} {word})")
    click.echo("\n".join(lines))


def cell(value: Any) -> str:
    """One value as a table shows it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        value = value.isoformat(sep=" ")
    elif isinstance(value, bytes | bytearray | memoryview):
        value = bytes(value).hex()
    elif isinstance(value, dict | list | tuple):
        value = json.dumps(plain(value), ensure_ascii=False)
    text = str(value)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def _line(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = []
    for text, width, to_right in zip(texts, widths, right, strict=True):
        space = " " * (width - _width(text))
        parts.append(space + text if to_right else text + space)
    return "  ".join(parts).rstrip()


def _root(name: str) -> Any:
    """A parameter of the root command of the running one; None outside a command."""
    context = click.get_current_context(silent=True)
    return context.find_root().params.get(name) if context else None
