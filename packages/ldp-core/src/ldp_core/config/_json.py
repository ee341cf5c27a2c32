"""JSON (RFC 8259) with the line of every key; duplicate keys, NaN and Infinity are refused."""

from __future__ import annotations

import re
from bisect import bisect_right
from json import JSONDecodeError, JSONDecoder
from math import isinf
from typing import Any

from ldp_core.config.load import child
from ldp_core.errors import ConfigError

MAX_DEPTH = 100
_STRINGS = JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z_]\w*")
_WORDS = {"true": True, "false": False, "null": None}


def parse_json(text: str, name: str) -> tuple[Any, dict[str, int]]:
    """Parse JSON text.

    Returns:
        The value, and the line (from 1) of every key and list item by dotted key; ``""`` is the top.

    Raises:
        ConfigError: It is not JSON; names the line.
    """
    reader = _Reader(text, name)
    value, end = reader.value(reader.skip(0), "", 0)
    end = reader.skip(end)
    if end < len(text):
        raise reader.error(end, "nothing may follow the object at the top")
    return value, reader.lines


class _Reader:
    """One pass over a text; ``lines`` fills up as keys are met."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.lines: dict[str, int] = {}
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def line(self, at: int) -> int:
        return bisect_right(self._breaks, at - 1) + 1

    def error(self, at: int, message: str, key: str | None = None) -> ConfigError:
        return ConfigError(message, file=self.name, line=self.line(at), key=key)

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, key: str, depth: int) -> tuple[Any, int]:
        self.lines.setdefault(key, self.line(at))
        if depth > MAX_DEPTH:
            raise self.error(at, f"nested deeper than {MAX_DEPTH} levels")
        first = self.text[at : at + 1]
        if first == "{":
            return self.object(at, key, depth)
        if first == "[":
            return self.array(at, key, depth)
        if first == '"':
            return self.string(at)
        return self.literal(at)

    def object(self, at: int, key: str, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        at = self.skip(at + 1)
        if self.text.startswith("}", at):
            return found, at + 1
        while True:
            if not self.text.startswith('"', at):
                raise self.error(at, self._expected(at, "a key in double quotes"))
            start = at
            name, at = self.string(at)
            here = child(key, name)
            if name in found:
                raise self.error(start, f"the key stands twice, first on line {self.line(first[name])}", here)
            first[name] = start
            self.lines[here] = self.line(start)
            at = self.skip(at)
            if not self.text.startswith(":", at):
                raise self.error(at, self._expected(at, f"':' after {name!r}"))
            found[name], at = self.value(self.skip(at + 1), here, depth + 1)
            at, more = self._next(at, "}")
            if not more:
                return found, at

    def array(self, at: int, key: str, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        at = self.skip(at + 1)
        if self.text.startswith("]", at):
            return found, at + 1
        while True:
            item, at = self.value(at, f"{key}[{len(found)}]", depth + 1)
            found.append(item)
            at, more = self._next(at, "]")
            if not more:
                return found, at

    def _next(self, at: int, close: str) -> tuple[int, bool]:
        """Past a comma (more follows) or past the closing bracket."""
        at = self.skip(at)
        if self.text.startswith(close, at):
            return at + 1, False
        if not self.text.startswith(",", at):
            raise self.error(at, self._expected(at, f"',' or '{close}'"))
        comma, at = at, self.skip(at + 1)
        if self.text.startswith(close, at):
            raise self.error(comma, f"a comma before '{close}'")
        return at, True

    def string(self, at: int) -> tuple[str, int]:
        try:
            value, end = _STRINGS.raw_decode(self.text, at)
        except JSONDecodeError as error:
            raise self.error(error.pos, f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}") from None
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise self.error(at, "half of a surrogate pair in a text")
        return str(value), end

    def literal(self, at: int) -> tuple[Any, int]:
        word = _WORD.match(self.text, at)
        if word:
            if word.group() in _WORDS:
                return _WORDS[word.group()], word.end()
            raise self.error(at, f"{word.group()!r} is not JSON")
        number = _NUMBER.match(self.text, at)
        if not number:
            raise self.error(at, self._expected(at, "a value"))
        if re.match(r"[\w.+-]", self.text[number.end() : number.end() + 1]):
            raise self.error(at, f"{self.text[at : number.end() + 1]!r} begins no JSON number")
        digits = number.group()
        if number.group(1) is None and number.group(2) is None:
            if len(digits) > 1000:
                raise self.error(at, "a number of more than 1000 digits")
            return int(digits), number.end()
        value = float(digits)
        if isinf(value):
            raise self.error(at, f"{digits} is out of range")
        return value, number.end()

    def _expected(self, at: int, what: str) -> str:
        if at >= len(self.text):
            return f"expected {what}, found the end of the file"
        return f"expected {what}, found {self.text[at]!r}"
