"""The records of a CSV file one by one, with their lines, for rows that the engine's parser refuses.

A record is right when it has the fields of the header, its quotes are closed and nothing follows them
(RFC 4180; spaces around quotes and one empty field at the end are let pass, as the engine does), it is
UTF-8 and ends as the first line does. A record that is not is one line: reading goes on with the next.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from ldp_core.errors import SourceError
from ldp_core.sources.csv_dialect import MAX_LINE, Dialect

_CHUNK = 2**20
_BOM = b"\xef\xbb\xbf"
_END = re.compile(rb"\r\n|\n|\r")

MIXED = "its line end is not that of the first line"


class Piece(NamedTuple):
    """A part of a file; all parts in order are the file.

    Attributes:
        line: Where it begins, from 1.
        data: Its bytes, with the line end.
        kind: ``head`` (skipped lines and the header), ``blank``, ``row`` or ``broken``.
        trouble: Why it is broken.
    """

    line: int
    data: bytes
    kind: str
    trouble: str = ""


def pieces(stream: Any, dialect: Dialect, width: int, *, name: str) -> Iterator[Piece]:
    """Take a file apart.

    Args:
        stream: Gives its bytes, decompressed.
        dialect: How it is written.
        width: Fields of a record.
        name: The file, for messages.

    Raises:
        SourceError: A line is longer than the engine reads.
    """
    grammar = _Grammar(dialect, width)
    first = stream.read(_CHUNK)
    if first.startswith(_BOM):
        yield Piece(1, _BOM, "head")
        first = first[len(_BOM) :]
    end = _line_end(first, grammar, dialect.skip_rows)
    lines = _Lines(_split(first, stream, end[-1:], name))
    for _ in range(dialect.skip_rows):
        for line in lines:
            yield Piece(lines.number, line, "head")
            break
    header = dialect.header
    for line in lines:
        start, bare = lines.number, line.removesuffix(end)
        if not header and grammar.right(bare):
            odd = grammar.encoded(bare)
            yield Piece(start, line, "broken" if odd else "row", odd)
            continue
        data, body, closed = _gather(line, lines, grammar, end)
        if header:
            header = False
            yield Piece(start, data, "head")
        elif not body and closed and width > 1:
            yield Piece(start, data, "blank")
        else:
            trouble = grammar.trouble(body, closed=closed)
            yield Piece(start, data, "broken" if trouble else "row", trouble)


def raw(piece: Piece) -> str:
    """The text of a piece without its line end; bytes that are no UTF-8 as ``\\xff``."""
    data = piece.data
    for end in (b"\r\n", b"\n", b"\r"):
        if data.endswith(end):
            data = data[: -len(end)]
            break
    return data.decode(errors="backslashreplace")


class _Grammar:
    """What a record looks like, as patterns of bytes. None of them goes back over what it has read."""

    def __init__(self, dialect: Dialect, width: int) -> None:
        self.width = width
        self.quote = dialect.quote.encode()
        self.delimiter = dialect.delimiter.encode()
        comma = re.escape(self.delimiter)
        plain = rb"(?:(?!" + comma + rb")[^\r\n])*+"
        if len(self.delimiter) == 1:
            plain = rb"[^\r\n" + comma + rb"]*+"
        field, opened = plain, b""
        if self.quote:
            spaces = b"" if self.delimiter == b" " else b" *+"
            mark = re.escape(self.quote)
            other = rb"[^" + mark + rb"]++" if len(self.quote) == 1 else rb"(?!" + mark + rb")."
            inner = rb"(?:" + other + rb"|" + mark * 2 + rb")*+"
            if dialect.escape not in ("", dialect.quote):
                escape = re.escape(dialect.escape.encode())
                inner = rb"(?:" + escape + rb".|(?!" + mark + rb"|" + escape + rb").)*+"
            opened = spaces + mark + inner
            field = rb"(?>" + opened + mark + spaces + rb"|(?!" + spaces + mark + rb")" + plain + rb")"
        self.record = re.compile(field + rb"(?:" + comma + field + rb")*+", re.DOTALL)
        more = b"{%d}" % (width - 1)
        self.row = re.compile(
            field + rb"(?:" + comma + field + rb")" + more + rb"(?:" + comma + rb")?+", re.DOTALL
        )
        self.field = re.compile(field, re.DOTALL)
        self.open = re.compile(rb"(?:" + field + comma + rb")*+" + opened, re.DOTALL) if opened else None

    def right(self, body: bytes) -> bool:
        """Whether a record has its fields, its quotes and no line end of another kind."""
        if self.quote and self.quote in body:
            return self.row.fullmatch(body) is not None
        if b"\r" in body or b"\n" in body:
            return False
        found = body.count(self.delimiter) + 1
        return found == self.width or (found == self.width + 1 and body.endswith(self.delimiter))

    def encoded(self, body: bytes) -> str:
        """That a record is not UTF-8; empty where it is."""
        try:
            body.decode()
        except UnicodeDecodeError:
            return "is not UTF-8"
        return ""

    def whole(self, body: bytes) -> bool:
        """Whether the bytes are no record that goes on in the next line."""
        return self.open is None or self.quote not in body or self.open.fullmatch(body) is None

    def trouble(self, body: bytes, *, closed: bool) -> str:
        """Why a record is not right; empty when it is."""
        if closed and self.right(body):
            return self.encoded(body)
        if self.quote and self.quote in body:
            if not closed or not self.record.fullmatch(body):
                rest = body.rstrip(b"\r\n")
                mixed = rest != body and self.record.fullmatch(rest)
                return MIXED if mixed else "a quote is not closed, or text follows a closing quote"
        elif b"\r" in body or b"\n" in body:
            return MIXED
        found = self._fields(body)
        fields = "1 field" if found == 1 else f"{found} fields"
        return f"the row has {fields} where {self.width} {'is' if self.width == 1 else 'are'} expected"

    def _fields(self, body: bytes) -> int:
        """How many fields a record has."""
        at, found = 0, 0
        while at <= len(body):
            match = self.field.match(body, at)
            assert match is not None
            found += 1
            at = match.end() + len(self.delimiter)
        return found


class _Lines:
    """Lines with their numbers; some may be given back.

    Attributes:
        number: Of the line given last, from 1.
    """

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._back: deque[bytes] = deque()
        self.number = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        line = self._back.popleft() if self._back else next(self._source)
        self.number += 1
        return line

    def give_back(self, lines: list[bytes]) -> None:
        """Put lines before those that are still to come."""
        self._back.extendleft(reversed(lines))
        self.number -= len(lines)


def _gather(line: bytes, lines: _Lines, grammar: _Grammar, end: bytes) -> tuple[bytes, bytes, bool]:
    """A record that begins with a line: its bytes, the same without line end, and whether it is whole.

    One whose quote is not closed, or wrongly, is its first line; the others are given back.
    """
    first = body = line.removesuffix(end)
    if grammar.whole(first):
        return line, first, True
    taken, size, data = [line], len(line), line
    for more in lines:
        taken.append(more)
        size += len(more)
        if size > MAX_LINE:
            break
        if grammar.quote in more:
            data = b"".join(taken)
            body = data.removesuffix(end)
            if grammar.whole(body):
                if grammar.record.fullmatch(body):
                    return data, body, True
                break
    lines.give_back(taken[1:])
    return line, first, False


def _line_end(first: bytes, grammar: _Grammar, skip: int) -> bytes:
    """The line end of the first line, which every other one must have, too."""
    found = None
    if not skip and (record := grammar.record.match(first)):
        found = _END.match(first, record.end())
    found = found or _END.search(first)
    return found[0] if found else b"\n"


def _split(first: bytes, stream: Any, mark: bytes, name: str) -> Iterator[bytes]:
    """The lines of a stream, each with its end."""
    rest, chunk = b"", first
    while chunk:
        *whole, rest = (rest + chunk).split(mark)
        for line in whole:
            yield line + mark
        if len(rest) > MAX_LINE:
            raise SourceError(
                f"a line is longer than {MAX_LINE // 2**20} MB", file=name, hint="is a quote not closed?"
            )
        chunk = stream.read(_CHUNK)
    if rest:
        yield rest
