"""Parts of a condition with their types, and when two engines agree about comparing them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from ldp_quality import kinds
from ldp_quality.kinds import Kind
from ldp_quality.plan import CannotEvaluate

BOOL, INT, DEC, FLOAT, TEXT = "boolean", "integer", "decimal", "float", "text"
DATE, TS, TSTZ, TIME, SPAN, NULL = "date", "timestamp", "timestamp with time zone", "time", "interval", "null"
NUMBERS = frozenset({INT, DEC, FLOAT})
MOMENTS = frozenset({DATE, TS, TSTZ})

_COMPARABLE = NUMBERS | MOMENTS | {BOOL, TEXT, TIME, SPAN}
_FAMILIES = {
    kinds.INTEGER: INT,
    kinds.DECIMAL: DEC,
    kinds.BOOLEAN: BOOL,
    kinds.TEXT: TEXT,
    kinds.DATE: DATE,
    kinds.TIME: TIME,
}
_EXACT_DIGITS = 15
"""So many digits of a decimal become the same float everywhere."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?)?")


@dataclass(frozen=True)
class Typed:
    """SQL of PostgreSQL with its type.

    Attributes:
        sql: In parentheses where it needs them.
        type: One of the names above.
        text: What it says, where it is a literal text.
        whole: What it says, where it is a literal whole number.
        digits: Of a decimal, at most; None where nobody counted.
    """

    sql: str
    type: str
    text: str | None = None
    whole: int | None = None
    digits: int | None = None


def refused(what: str) -> CannotEvaluate:
    """PostgreSQL lacks it, or means something else by it."""
    return CannotEvaluate(f"PostgreSQL has no same meaning for {what}")


def of_column(name: str, place: str, kind: Kind) -> Typed:
    """A column; one of another kind than those named above can only be null or not."""
    if kind.family == kinds.TIMESTAMP:
        return Typed(place, TSTZ if kind.zone else TS)
    if kind.family == kinds.FLOAT and kind.bits == 64:
        return Typed(place, FLOAT)
    type_ = _FAMILIES.get(kind.family, f"{name}, a column of {kind.name},")
    return Typed(place, type_, digits=kind.precision or None)


def text(value: str) -> str:
    """A literal text.

    Raises:
        CannotEvaluate: PostgreSQL has no such text.
    """
    if "\0" in value:
        raise CannotEvaluate("PostgreSQL has no texts with a NUL")
    return "'" + value.replace("'", "''") + "'"


def as_float(item: Typed) -> Typed:
    """A number as the float that both engines take it for."""
    if item.type == FLOAT:
        return item
    if item.type not in NUMBERS | {NULL}:
        raise refused(f"{item.type} as a float")
    if item.type == DEC and (item.digits is None or item.digits > _EXACT_DIGITS):
        raise refused(f"a decimal of more than {_EXACT_DIGITS} digits as a float")
    return Typed(f"(({item.sql})::float8)", FLOAT)


def alike(items: Sequence[Typed], what: str) -> tuple[list[Typed], str]:
    """Values that are compared with each other, or of which one is taken, in one type.

    Raises:
        CannotEvaluate: The engines would not compare them alike.
    """
    types = {item.type for item in items if item.type != NULL}
    spoken = {item.type for item in items if item.type != NULL and item.text is None}
    if TEXT in types and spoken and TEXT not in spoken:
        if len(spoken) > 1:
            raise refused(f"{what} of {' and '.join(sorted(types))}")
        wanted = next(iter(spoken))
        items = [_read(item, wanted, what) if item.text is not None else item for item in items]
        types = {item.type for item in items if item.type != NULL}
    if len(types) <= 1 and types <= _COMPARABLE:
        return list(items), next(iter(types), NULL)
    if types <= NUMBERS:
        if FLOAT not in types:
            return list(items), DEC
        return [as_float(item) for item in items], FLOAT
    if types <= MOMENTS:
        wanted = TSTZ if TSTZ in types else TS
        return [as_moment(item, wanted) for item in items], wanted
    raise refused(f"{what} of {' and '.join(sorted(types))}")


def as_moment(item: Typed, wanted: str) -> Typed:
    """A date or a timestamp as another; the session's time zone is UTC."""
    if item.type in (wanted, NULL):
        return item
    name = {TS: "timestamp", TSTZ: "timestamptz", DATE: "date"}[wanted]
    return Typed(f"(({item.sql})::{name})", wanted)


def literal(value: str, wanted: str, what: str) -> Typed:
    """A text as the date or the timestamp that it is in ISO 8601.

    Raises:
        CannotEvaluate: It is written in another way, which each engine may read as it likes.
    """
    pattern = _DATE if wanted == DATE else _MOMENT
    if not pattern.fullmatch(value):
        raise refused(f"{value!r} as a {wanted} ({what})")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise CannotEvaluate(f"{value!r} is no {wanted}") from None
    if wanted == DATE:
        return Typed(f"'{date.isoformat(moment.date())}'::date", DATE)
    if wanted == TS:
        return Typed(f"'{moment.isoformat(' ')}'::timestamp", TS)
    return Typed(f"'{moment.isoformat(' ')}+00'::timestamptz", TSTZ)


def _read(item: Typed, wanted: str, what: str) -> Typed:
    """A literal text beside values of another type is one of them."""
    assert item.text is not None
    if wanted in MOMENTS:
        return literal(item.text, wanted, what)
    if wanted == INT and re.fullmatch(r"-?\d{1,9}", item.text):
        return Typed(f"({int(item.text)})", INT, whole=int(item.text))
    raise refused(f"{what} of {wanted} and the text {item.text!r}")


def in_ascii(item: Typed, sql: str, what: str) -> Typed:
    """A function of a text that the engines agree about in ASCII: of other texts it is an error.

    The error is one of the data, so that it comes only where such a text stands.
    """
    trap = f"((({text(f'{BEYOND}{what} ')} || ({item.sql}))::bigint)::text)"
    where = f"octet_length({item.sql}) = length({item.sql})"
    return Typed(f"(CASE WHEN {where} OR ({item.sql}) IS NULL THEN {sql} ELSE {trap} END)", TEXT)


BEYOND = "beyond ascii: "
"""How the text of an error begins that ``in_ascii`` makes."""


def plain(item: Typed) -> Typed:
    """Without what a literal says: the result of something."""
    return replace(item, text=None, whole=None)
