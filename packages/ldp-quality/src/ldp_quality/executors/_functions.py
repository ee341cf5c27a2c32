"""Functions that DuckDB and PostgreSQL agree about, each as PostgreSQL writes it.

What is not here, or has arguments of types that are not named here, is refused: never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ldp_quality.executors import _re2
from ldp_quality.executors._typed import (
    BOOL,
    DATE,
    DEC,
    FLOAT,
    INT,
    MOMENTS,
    NULL,
    NUMBERS,
    SPAN,
    TEXT,
    TS,
    TSTZ,
    Typed,
    alike,
    as_float,
    as_moment,
    in_ascii,
    refused,
    text,
)

_DATE_PARTS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "weekofyear": "week",
    "day": "day",
    "dayofmonth": "day",
    "dayofyear": "doy",
    "doy": "doy",
    "dayofweek": "dow",
    "dow": "dow",
    "weekday": "dow",
    "isodow": "isodow",
    "isoyear": "isoyear",
}
_TIME_PARTS = {"hour": "hour", "minute": "minute", "second": "second"}
_UNITS = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second"})
_SECONDS = {"hour": 3600, "minute": 60, "second": 1}


def text_call(name: str, arguments: Sequence[Typed]) -> Typed:
    """A function of texts alone."""
    writer, result, count = _TEXTS[name]
    if len(arguments) not in count or any(item.type not in (TEXT, NULL) for item in arguments):
        raise refused(f"{name}({', '.join(item.type for item in arguments)})")
    return Typed(writer(*[item.sql for item in arguments]), result)


_TEXTS: dict[str, tuple[Callable[..., str], str, tuple[int, ...]]] = {
    "length": (lambda x: f"length({x})", INT, (1,)),
    "strlen": (lambda x: f"octet_length({x})", INT, (1,)),
    "md5": (lambda x: f"md5({x})", TEXT, (1,)),
    "starts_with": (lambda x, y: f"starts_with({x}, {y})", BOOL, (2,)),
    "ends_with": (lambda x, y: f"(right({x}, length({y})) = {y})", BOOL, (2,)),
    "contains": (lambda x, y: f"(strpos({x}, {y}) > 0)", BOOL, (2,)),
    "strpos": (lambda x, y: f"strpos({x}, {y})", INT, (2,)),
    "replace": (lambda x, y, z: f"replace({x}, {y}, {z})", TEXT, (3,)),
    "concat": (lambda *all_: f"concat({', '.join(all_)})", TEXT, tuple(range(1, 50))),
    "||": (lambda x, y: f"({x} || {y})", TEXT, (2,)),
}


def ascii_call(name: str, item: Typed) -> Typed:
    """``lower``, ``upper`` and ``reverse``, which go by tables of letters beyond ASCII."""
    if item.type not in (TEXT, NULL):
        raise refused(f"{name}({item.type})")
    return in_ascii(item, f"{name}({item.sql})", name)


def trim(item: Typed, characters: Typed | None, side: str) -> Typed:
    """Spaces, or the characters of a text, off one end or both."""
    name = {"": "btrim", "both": "btrim", "leading": "ltrim", "trailing": "rtrim"}[side]
    if item.type not in (TEXT, NULL) or (characters is not None and characters.type != TEXT):
        raise refused("trim of what is no text")
    if characters is None:
        return in_ascii(item, f"{name}({item.sql}, ' ')", "trim")
    return Typed(f"{name}({item.sql}, {characters.sql})", TEXT)


def part(name: str, item: Typed, *numbers: Typed | None) -> Typed:
    """``left``, ``right``, ``substr``, whose numbers are written out: negative ones mean different things."""
    known = [number for number in numbers if number is not None]
    least = 1 if name == "substr" else 0
    wholes = [number.whole for number in known]
    if item.type != TEXT or not wholes or any(whole is None for whole in wholes):
        raise refused(f"{name} but of a text and written numbers")
    first, rest = wholes[0] or 0, wholes[1:]
    if first < least or any((whole or 0) < 0 for whole in rest):
        raise refused(f"{name} with {', '.join(map(str, wholes))}")
    return Typed(f"{name}({item.sql}, {', '.join(map(str, wholes))})", TEXT)


def split_part(item: Typed, separator: Typed, number: Typed) -> Typed:
    """The n-th part of a text."""
    if item.type != TEXT or not separator.text or number.whole is None or number.whole < 1:
        raise refused("split_part without a written separator and a number from 1")
    return Typed(f"split_part({item.sql}, {separator.sql}, {number.whole})", TEXT)


def matches(item: Typed, pattern: Typed, *, whole: bool) -> Typed:
    """Whether a text, or some part of it, matches a pattern."""
    if item.type not in (TEXT, NULL) or pattern.text is None:
        raise refused("a pattern that is not written out")
    written = _re2.to_postgres(pattern.text)
    return Typed(f"({item.sql} ~ {text(f'^(?:{written})$' if whole else written)})", BOOL)


def like(item: Typed, pattern: Typed, *, ignore_case: bool) -> Typed:
    """``LIKE``; DuckDB's has no escape character."""
    if {item.type, pattern.type} - {TEXT, NULL}:
        raise refused(f"LIKE of {item.type}")
    if not ignore_case:
        return Typed(f"({item.sql} LIKE {pattern.sql} ESCAPE '')", BOOL)
    if pattern.text is None or not pattern.text.isascii():
        raise refused("ILIKE beyond ASCII")
    lowered = in_ascii(item, f"lower({item.sql})", "ilike")
    return Typed(f"({lowered.sql} LIKE {text(pattern.text.lower())} ESCAPE '')", BOOL)


def rounded(name: str, item: Typed, digits: Typed | None = None) -> Typed:
    """``ceil``, ``floor`` and ``round``; floats are rounded half to even by one engine alone."""
    if digits is not None:
        if item.type != DEC or digits.whole is None or digits.whole < 0:
            raise refused(f"{name}({item.type}, {digits.type})")
        return Typed(f"round({item.sql}, {digits.whole})", DEC)
    if item.type == DEC or (item.type == FLOAT and name != "round"):
        return Typed(f"{name}({item.sql})", item.type)
    raise refused(f"{name} of {item.type}")


def number(name: str, item: Typed) -> Typed:
    """``abs``, ``sign``, ``sqrt``, ``isnan``, ``isinf`` and ``isfinite``."""
    if name == "isfinite" and item.type in MOMENTS:
        return Typed(f"isfinite({item.sql})", BOOL)
    if name in ("isnan", "isinf", "isfinite"):
        value = as_float(item).sql
        odd = {"isnan": "'NaN'", "isinf": "'Infinity', '-Infinity'"}.get(
            name, "'NaN', 'Infinity', '-Infinity'"
        )
        listed = ", ".join(f"{one}::float8" for one in odd.split(", "))
        return Typed(f"({value} {'NOT IN' if name == 'isfinite' else 'IN'} ({listed}))", BOOL)
    if name == "sqrt":
        return Typed(f"sqrt({as_float(item).sql})", FLOAT)
    if item.type not in NUMBERS or (name == "sign" and item.type == FLOAT):
        raise refused(f"{name} of {item.type}")
    if name == "sign":
        return Typed(f"(sign({item.sql})::int)", INT)
    return Typed(f"abs({item.sql})", item.type, digits=item.digits)


def one_of(name: str, items: Sequence[Typed]) -> Typed:
    """``coalesce``, ``greatest``, ``least`` and ``nullif``."""
    same, type_ = alike(items, name)
    if type_ == SPAN:
        raise refused(f"{name} of intervals")
    return Typed(f"{name}({', '.join(item.sql for item in same)})", type_)


def extract(name: str, item: Typed) -> Typed:
    """A part of a date or a timestamp, as a whole number."""
    found = _DATE_PARTS.get(name) or (_TIME_PARTS.get(name) if item.type in (TS, TSTZ) else None)
    if found is None or item.type not in MOMENTS:
        raise refused(f"{name} of {item.type}")
    taken = f"extract({found} FROM {item.sql})"
    if found in ("year", "isoyear"):
        # The year before 1 is 0 for DuckDB and -1 for PostgreSQL.
        taken = f"({taken} + ({taken} < 0)::int)"
    return Typed(f"(floor({taken})::bigint)", INT)


def date_trunc(unit: str, item: Typed) -> Typed:
    """A timestamp cut to a unit."""
    if unit not in _UNITS or item.type not in MOMENTS:
        raise refused(f"date_trunc({unit!r}, {item.type})")
    moment = as_moment(item, TS) if item.type == DATE else item
    return Typed(f"date_trunc('{unit}', {moment.sql})", moment.type)


def date_diff(unit: str, start: Typed, end: Typed) -> Typed:
    """How many bounds of a unit lie between two dates or timestamps."""
    if {start.type, end.type} - {DATE, TS}:
        raise refused(f"date_diff of {start.type} and {end.type}")
    if unit == "day":
        return Typed(f"(({end.sql})::date - ({start.sql})::date)", INT)
    if unit in _SECONDS:
        ends = [
            f"floor(extract(epoch FROM ({item.sql})::timestamp) / {_SECONDS[unit]})" for item in (end, start)
        ]
        return Typed(f"(({ends[0]} - {ends[1]})::bigint)", INT)
    months = [f"({extract('year', item).sql} * 12 + {extract('month', item).sql})" for item in (end, start)]
    if unit == "month":
        return Typed(f"({months[0]} - {months[1]})", INT)
    if unit == "year":
        return Typed(f"({extract('year', end).sql} - {extract('year', start).sql})", INT)
    raise refused(f"date_diff by {unit}")


def moved(item: Typed, span: Typed, sign: str) -> Typed:
    """A date or a timestamp, and an interval on top or taken away."""
    moment = as_moment(item, TS) if item.type == DATE else item
    return Typed(f"({moment.sql} {sign} {span.sql})", moment.type)
