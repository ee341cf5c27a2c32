"""DuckDB's messages about CSV, turned into one clear line with file and line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ldp_core.errors import LDPError, SourceError
from ldp_core.sources.csv_dialect import MAX_LINE, not_encoded
from ldp_core.sources.csv_guard import MARK

if TYPE_CHECKING:
    from ldp_core.sources.csv_input import CsvInput

_LINE = re.compile(r"CSV Error on Line: (\d+)")
_ORIGINAL = re.compile(r"^Original Line: (.*)$", re.MULTILINE)
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_FILE = re.compile(r"^\s*file = (.*)$", re.MULTILINE)


def violated_column(error: Exception) -> int | None:
    """The position of the column whose guard raised this error, or None."""
    match = re.search(re.escape(MARK) + r"(\d+)", str(error))
    return int(match[1]) if match else None


def parser_error(error: Exception, source: CsvInput) -> LDPError | None:
    """The error of a broken file, or None when the error is about something else."""
    message = str(error)
    if "CSV Error" not in message and "CSV Parser" not in message:
        return _broken_archive(message, source)
    found = _FILE.search(message)
    file = source.shown.get(found[1].strip()) if found else None
    if file is None and len(source.shown) == 1:
        file = next(iter(source.shown.values()))
    line_match = _LINE.search(message)
    line = int(line_match[1]) if line_match else None
    if "nvalid unicode" in message or "not utf-8" in message:
        return not_encoded("utf-8", file or "", line)
    text, hint = _what(message)
    return SourceError(text, file=file, line=line, hint=hint)


def _what(message: str) -> tuple[str, str | None]:
    original = _ORIGINAL.search(message)
    shown = f": {original[1][:80]}" if original else ""
    width = _WIDTH.search(message)
    if width:
        fields = "1 field" if width[2] == "1" else f"{width[2]} fields"
        hint = "set skip_rows where lines stand before the header" if width[1] == "1" else None
        return f"the row has {fields} where {width[1]} {'is' if hint else 'are'} expected{shown}", hint
    if "unterminated quote" in message:
        return f"a quote is not closed, or text follows a closing quote{shown}", None
    if "aximum line size" in message or "max_line_size" in message:
        return f"the line is longer than {MAX_LINE // 2**20} MB", "is a quote not closed?"
    if "invalid state" in message:
        return (
            "line ends are mixed (CR LF and LF) or quotes do not match",
            "write the file with one kind of line end",
        )
    return message.splitlines()[0], None


def _broken_archive(message: str, source: CsvInput) -> SourceError | None:
    if not re.search(r"gzip|zstd|GZIP|ZSTD|[Dd]ecompress", message):
        return None
    file = next(iter(source.shown.values())) if len(source.shown) == 1 else None
    return SourceError(f"cannot be decompressed: {message.splitlines()[0]}", file=file)
