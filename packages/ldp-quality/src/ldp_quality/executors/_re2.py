"""RE2 patterns in PostgreSQL's words, where both mean the same.

Only whether some part of a text matches is asked, so greediness does not matter and neither does which match
is found first. PostgreSQL reads the pattern under the collation ``C``: its classes are ASCII, as RE2's are.
Source: https://github.com/google/re2/wiki/Syntax and PostgreSQL's manual, "POSIX Regular Expressions".
"""

from __future__ import annotations

import re

from ldp_quality.plan import CannotEvaluate

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\t ",
    "digit": "0-9",
    "lower": "a-z",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROLS = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_REPEAT = re.compile(r"(?:[*+?]|\{(\d+)(?:,(\d*))?\})")
_GROUP = re.compile(r"\((?:\?(?::|P?<\w+>))?")
_HEX = re.compile(r"x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))")
_MOST = 255
"""PostgreSQL repeats nothing more often."""


def to_postgres(pattern: str) -> str:
    """The same pattern as an advanced regular expression of PostgreSQL.

    Raises:
        CannotEvaluate: It holds something that is not the same there.
    """
    return _Reader(pattern).read()


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def read(self) -> str:
        written = []
        while self._at < len(self._pattern):
            atom, repeatable = self._atom()
            written.append(atom + self._repeat(repeatable))
        return "".join(written)

    def _refuse(self, what: str) -> CannotEvaluate:
        return CannotEvaluate(f"PostgreSQL has no same meaning for {what} in the pattern {self._pattern!r}")

    def _take(self) -> str:
        self._at += 1
        if self._at > len(self._pattern):
            raise self._refuse("its end")
        return self._pattern[self._at - 1]

    def _rest(self) -> str:
        return self._pattern[self._at :]

    def _atom(self) -> tuple[str, bool]:
        """One atom and whether it may be repeated."""
        char = self._pattern[self._at]
        if char == "(":
            return self._group(), False
        self._at += 1
        match char:
            case "\\":
                return self._escape()
            case "[":
                return self._brackets(), True
            case ".":
                return r"[^\n]", True
            case "^" | "$" | "|":
                return char, False
            case ")":
                return ")", True
            case "*" | "+" | "?" | "{":
                raise self._refuse(repr(char))
        return _literal(ord(char)), True

    def _group(self) -> str:
        found = _GROUP.match(self._pattern, self._at)
        if found is None or self._pattern.startswith("(?", found.end() - 1):
            raise self._refuse(repr(self._rest()[:4]))
        self._at = found.end()
        return "(?:"

    def _repeat(self, repeatable: bool) -> str:
        found = _REPEAT.match(self._pattern, self._at)
        if found is None:
            return ""
        if not repeatable:
            raise self._refuse(repr(found[0]))
        if any(number and int(number) > _MOST for number in found.groups()):
            raise self._refuse(f"{found[0]!r}, more than {_MOST} times")
        self._at = found.end()
        if self._rest().startswith("?"):
            self._at += 1
        return found[0]

    def _escape(self) -> tuple[str, bool]:
        code = self._code()
        if code is not None:
            return _literal(code), True
        char = self._take()
        if char in _CLASSES:
            return f"[{_CLASSES[char]}]", True
        if char in ("D", "W", "S"):
            return f"[^{_CLASSES[char.lower()]}]", True
        anchors = {"A": "^", "z": "$", "b": r"\y", "B": r"\Y"}
        if char in anchors:
            return anchors[char], False
        raise self._refuse(f"'\\{char}'")

    def _code(self) -> int | None:
        r"""The character of an escape such as ``\.``, ``\n`` or ``\x{1F600}``; None for other escapes."""
        found = _HEX.match(self._pattern, self._at)
        if found:
            self._at = found.end()
            return int(found[1] or found[2], 16)
        char = self._rest()[:1]
        if char in _CONTROLS and char:
            self._at += 1
            return _CONTROLS[char]
        if char and char.isascii() and not char.isalnum():
            self._at += 1
            return ord(char)
        return None

    def _brackets(self) -> str:
        negated = self._rest().startswith("^")
        self._at += negated
        written: list[str] = []
        while not written or not self._rest().startswith("]"):
            written.append(self._member())
        self._at += 1
        return f"[{'^' if negated else ''}{''.join(written)}]"

    def _member(self) -> str:
        posix = re.match(r"\[:(\w+):\]", self._rest())
        if posix:
            self._at += posix.end()
            if posix[1] not in _POSIX:
                raise self._refuse(repr(posix[0]))
            return _POSIX[posix[1]]
        first = self._one()
        if isinstance(first, str):
            return first
        rest = self._rest()
        if not rest.startswith("-") or rest.startswith("-]"):
            return _inside(first)
        self._at += 1
        last = self._one()
        if isinstance(last, str) or last < first:
            raise self._refuse("a range of characters")
        return f"{_inside(first)}-{_inside(last)}"

    def _one(self) -> int | str:
        """One character of a class, or the text of a class inside it."""
        char = self._take()
        if char != "\\":
            return ord(char)
        code = self._code()
        if code is not None:
            return code
        char = self._take()
        if char in _CLASSES:
            return _CLASSES[char]
        raise self._refuse(f"'\\{char}' in brackets")


def _literal(code: int) -> str:
    """A character that stands for itself outside brackets."""
    char = chr(code)
    return char if char.isascii() and char.isalnum() else _inside(code)


def _inside(code: int) -> str:
    r"""A character by its number, which means the same everywhere: ``\u0041``."""
    if code == 0:
        raise CannotEvaluate("PostgreSQL has no texts with a NUL")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
