"""JSON files line by line: lines that hold no object, and where the objects stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ldp_core._duck import streamed
from ldp_core.sources import _files, _rejects

if TYPE_CHECKING:
    from ldp_core.sources.json_input import JsonInput
    from ldp_core.spi import RunContext

TROUBLE = (
    "CASE WHEN json IS NULL THEN 'is not valid JSON' "
    "WHEN json_type(json) <> 'OBJECT' THEN 'is not an object but ' || lower(json_type(json)) "
    "WHEN len(json_keys(json)) <> len(list_distinct(json_keys(json))) THEN 'has a key twice' END"
)
"""Why a line is no row, as SQL over ``json``; NULL for one that is."""

_CHUNK = 2**20
_BLANK = b" \t\r\n"
_GAP = re.compile(rb"[ \t\r\n,\[\]]*")
_BOM = b"\xef\xbb\xbf"


def by_line(source: JsonInput, ctx: RunContext) -> JsonInput | None:
    """The input without the lines that hold no object.

    None where none is broken, and where the files do not look like an object a line: one is an array, or
    fewer than half of its lines hold an object.
    """
    split = replace(source, by_line=True)
    aside = []
    for file in source.readable:
        if _is_array(file, source.compression):
            return None
        numbered = f"(SELECT row_number() OVER () AS row, json FROM {split.lines_sql([file])})"
        total, bad = ctx.con.execute(f"SELECT count(*), count({TROUBLE}) FROM {numbered}").fetchall()[0]
        if 2 * bad > total:
            return None
        if bad:
            sql = (
                f"SELECT row, ['{_rejects.BROKEN}'] AS rules, {TROUBLE} AS reason "
                f"FROM {numbered} WHERE {TROUBLE} IS NOT NULL"
            )
            found = lines(file, source.compression)
            rejects = _rejects.matched(sql, found, int(total), source.shown[file], ctx)
            aside.append(_rejects.write(rejects, ctx))
    return replace(split, aside=tuple(path for path in aside if path)) if aside else None


def lines(file: str, compression: str) -> Iterator[tuple[int | None, str]]:
    """The lines of a file that are not blank, with their numbers from 1."""
    for number, line in enumerate(_lines(file, compression), 1):
        if found := line.strip(_BLANK):
            yield number, found.decode(errors="backslashreplace")


def objects(
    file: str, compression: str, objects_sql: str, ctx: RunContext
) -> Iterator[tuple[int | None, str]]:
    """The objects of a file as the engine reads them, with the lines that they begin at.

    The engine gives the text of an object as it stands in the file, so the file is walked along with them:
    between two objects are only blanks, commas and brackets. The line is None from where that fails.
    """
    found = streamed(ctx.con, f"SELECT json::VARCHAR AS json FROM {objects_sql}", 1000)
    walk: _Walk | None = _Walk(file, compression)
    for batch in found:
        for raw in batch.column(0).to_pylist():
            line = walk.next(raw.encode()) if walk else None
            walk = walk if line else None
            yield line, raw


class _Walk:
    """A place in a file that moves from object to object."""

    def __init__(self, file: str, compression: str) -> None:
        self._chunks = _chunks(file, compression)
        self._held = b""
        self._at = 0
        self._line = 1

    def next(self, wanted: bytes) -> int | None:
        """The line at which an object begins, which is passed over; None when it does not come next."""
        while self._skip() == len(self._held):
            if not self._more():
                return None
        begin = self._line
        while len(self._held) - self._at < len(wanted):
            if not self._more():
                return None
        if not self._held.startswith(wanted, self._at):
            return None
        self._pass(self._at + len(wanted))
        return begin

    def _skip(self) -> int:
        """Pass over what stands between objects; gives the place."""
        gap = _GAP.match(self._held, self._at)
        self._pass(gap.end() if gap else self._at)
        return self._at

    def _pass(self, to: int) -> None:
        self._line += self._held.count(b"\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._held, self._at = self._held[self._at :] + chunk, 0
        return bool(chunk)


def _chunks(file: str, compression: str) -> Iterator[bytes]:
    """The bytes of a file without a byte order mark."""
    with _files.open_stream(file, _files.compression_of(file, compression)) as stream:
        chunk = stream.read(_CHUNK).removeprefix(_BOM)
        while chunk:
            yield chunk
            chunk = stream.read(_CHUNK)


def _lines(file: str, compression: str) -> Iterator[bytes]:
    rest = b""
    for chunk in _chunks(file, compression):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _is_array(file: str, compression: str) -> bool:
    """Whether a file begins with an array that goes on after the first line."""
    start = next(_chunks(file, compression), b"").lstrip(_BLANK)
    line = start.split(b"\n", 1)[0].rstrip(_BLANK)
    return line.startswith(b"[") and not line.endswith(b"]")
