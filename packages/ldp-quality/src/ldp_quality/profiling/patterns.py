"""What texts may look like: the patterns that a profile looks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ldp_quality.contract._formats import TEXTS

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"


@dataclass(frozen=True)
class Pattern:
    """What every text of a column looks like.

    Attributes:
        words: For a person: ``a UUID``.
        regex: RE2, bound on both sides.
        format: The word of the standard, where it has one.
        telling: Few values are enough to believe it; digits need more of them.
    """

    words: str
    regex: str
    format: str | None = None
    telling: bool = True


UUID = Pattern("a UUID", TEXTS["uuid"], "uuid")
PATTERNS: tuple[Pattern, ...] = (
    UUID,
    Pattern("an ISO date", f"^{_DAY}$"),
    Pattern("an ISO timestamp", f"^{_DAY}[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?$"),
    Pattern("an email address", TEXTS["email"], "email"),
    Pattern("a web address", r"^https?://\S+$", "uri"),
    Pattern("an IPv4 address", TEXTS["ipv4"], "ipv4"),
    Pattern("digits", "^[0-9]+$", telling=False),
    Pattern("a number", r"^[+-]?[0-9]+(?:\.[0-9]+)?$", telling=False),
    Pattern("hexadecimal", "^[0-9a-f]+$", telling=False),
    Pattern("capital letters", "^[A-Z]+$", telling=False),
)
"""From the most telling to the least; the first that all texts match is taken."""

_SIZED: dict[str, Callable[[int], bool]] = {
    "digits": lambda size: True,
    "hexadecimal": lambda size: size in (32, 40, 64, 128),
    "capital letters": lambda size: size <= 8,
}
_ONLY_SIZED = ("hexadecimal", "capital letters")


def sized(pattern: Pattern, shortest: int, longest: int) -> Pattern | None:
    """The pattern with the one length that all texts have; None where it says nothing without one."""
    fits = _SIZED.get(pattern.words)
    if fits is None:
        return pattern
    if shortest != longest or not fits(longest):
        return None if pattern.words in _ONLY_SIZED else pattern
    body = pattern.regex.removesuffix("+$")
    return replace(pattern, words=f"{longest} {_plural(pattern, longest)}", regex=f"{body}{{{longest}}}$")


def _plural(pattern: Pattern, size: int) -> str:
    words = {"hexadecimal": "hexadecimal digits"}.get(pattern.words, pattern.words)
    return words.removesuffix("s") if size == 1 else words
