"""Casts from text that never lose anything in silence, as SQL.

Each cast is a list of branches, tried in order and only on the values that earlier ones left over: first
the plain spelling (a value that prints as the very same text), then rarer spellings of the same value.
What no branch takes is a violation. DuckDB's own casts are not enough: they take ``1.5`` for 2, ``1e3`` and
``0x1F`` for integers, drop offsets and digits, and read ``1e400`` as infinity.
"""

from __future__ import annotations

import re

from ldp_core._duck import text
from ldp_core.sources.csv_types import Cast

MARK = "ldp-violation:"
"""How the message of a violation starts; the position of the column follows."""

_UNSIGNED = r"(0|[1-9][0-9]*)"
_REAL = (
    rf"-?({_UNSIGNED}\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"  # a point, perhaps an exponent
    rf"|-?{_UNSIGNED}[eE][+-][0-9]+"  # 1e-07, 1e+16; a bare 1e3 is more likely a name than a number
)
_LENIENT_REAL = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_RUN_ON = re.compile(r"%-?[A-Za-z]%")
"""Parts of a layout with nothing between them: ``2026112`` may be read in two ways."""
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_OFFSET = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"

Branch = tuple[str, str]


def guarded(cast: Cast, x: str, column: int, *, required: bool = False) -> str:
    """A SQL expression for the values of a column of text.

    Args:
        cast: What they become.
        x: SQL of the text.
        column: The position that a violation's message names.
        required: NULL is a violation, too.

    Returns:
        SQL that is NULL for NULL and raises ``ldp-violation:<column>`` for a text that no branch takes.
    """
    if required:
        value = guarded(cast, x, column)
        return f"CASE WHEN {x} IS NULL THEN error('{MARK}{column}') ELSE {value} END"
    if cast.kind == "text":
        return x
    return _first_of(cast, x, f"error('{MARK}{column}')")


def value(cast: Cast, x: str) -> str:
    """A SQL expression like ``guarded``, NULL for a text that no branch takes."""
    return x if cast.kind == "text" else _first_of(cast, x, "NULL")


def _first_of(cast: Cast, x: str, otherwise: str) -> str:
    branches = _branches(cast, x)
    first, *rest = [f"WHEN {condition} THEN {value}" for condition, value in branches] or [""]
    nothing = "NULL" if branches else f"CAST(NULL AS {cast.type})"
    return " ".join(["CASE", first, f"WHEN {x} IS NULL THEN {nothing}", *rest, f"ELSE {otherwise}", "END"])


def fits(cast: Cast, x: str) -> str:
    """A SQL condition: true where a text that is not NULL becomes a value without loss, else false."""
    if cast.kind == "text":
        return "true"
    branches = "".join(f"WHEN {condition} THEN true " for condition, _ in _branches(cast, x))
    return f"CASE {branches}ELSE false END" if branches else "false"


def _branches(cast: Cast, x: str) -> list[Branch]:
    if cast.comma and cast.kind in ("decimal", "double", "float"):
        x = f"translate({x}, ',.', '.,')"
    if cast.lossy:
        return _lossy(cast, x)
    return _KINDS[cast.kind](cast, x)


def _round_trip(value: str, x: str) -> Branch:
    return f"CAST({value} AS VARCHAR) = {x}", value


def _match(x: str, pattern: str) -> str:
    return f"regexp_full_match({x}, {text(pattern)})"


def _unknown(cast: Cast, x: str) -> list[Branch]:
    return []


def _int(cast: Cast, x: str) -> list[Branch]:
    value = f"TRY_CAST({x} AS {cast.type})"
    branches = [_round_trip(value, x)]
    if cast.lenient:
        whole = f"TRY_CAST(split_part({x}, '.', 1) AS {cast.type})"
        branches.append((f"{_match(x, rf'-?{_UNSIGNED}[.]0+')} AND {whole} IS NOT NULL", whole))
    return branches


def _decimal(cast: Cast, x: str) -> list[Branch]:
    value = f"TRY_CAST({x} AS {cast.type})"
    scale = int(cast.type.rstrip(")").split(",")[1])
    zeros = rf"-0\.0{{{scale}}}" if scale else "-0"
    branches = [_round_trip(value, x), (_match(x, zeros), value)]
    if cast.lenient:
        pattern = rf"[+-]?({_UNSIGNED}(\.[0-9]{{0,{scale}}}0*)?|\.[0-9]{{1,{scale}}}0*)"
        if not scale:
            pattern = rf"[+-]?{_UNSIGNED}(\.0*)?"
        branches.append((f"{_match(x, pattern)} AND {value} IS NOT NULL", value))
    return branches


def _significant(x: str) -> str:
    """How many digits of a number's text count: without its exponent, sign, point and outer zeros."""
    mantissa = f"translate(split_part(lower({x}), 'e', 1), '+-.', '')"
    return f"strlen(trim({mantissa}, '0'))"


def _real(cast: Cast, x: str) -> list[Branch]:
    value = f"TRY_CAST({x} AS {cast.type})"
    digits = 17 if cast.type == "DOUBLE" else 9
    count = _significant(x)
    exact = f"isfinite({value}) AND {count} <= {digits} AND ({count} = 0) = ({value} = 0)"
    branches = [
        (f"CAST({value} AS VARCHAR) = {x} AND isfinite({value})", value),
        (f"CAST({value} AS VARCHAR) = {x} || '.0'", value),
        (f"{_match(x, _REAL)} AND {exact}", value),
    ]
    if cast.lenient:
        safe = 15 if cast.type == "DOUBLE" else 6
        branches.append((f"{_match(x, _LENIENT_REAL)} AND {exact} AND {count} <= {safe}", value))
        branches.append((f"lower({x}) IN ('nan', 'inf', '-inf', 'infinity', '-infinity')", value))
    return branches


def _boolean(cast: Cast, x: str) -> list[Branch]:
    return [
        (f"{x} IN ('true', 'false')", f"{x} = 'true'"),
        (f"lower({x}) IN ('true', 'false')", f"lower({x}) = 'true'"),
    ]


def _date(cast: Cast, x: str) -> list[Branch]:
    if cast.format:
        return _formatted(cast, x, "DATE")
    value = f"TRY_CAST({x} AS DATE)"
    branches = [(f"CAST({value} AS VARCHAR) = {x} AND strlen({x}) = 10", value)]
    if cast.lenient:
        midnight = rf"{_DAY}[ T]00:00(:00([.]0+)?)?"
        day = f"TRY_CAST(left({x}, 10) AS DATE)"
        branches.append((f"{_match(x, midnight)} AND {day} IS NOT NULL", day))
    return branches


def _formatted(cast: Cast, x: str, type_: str) -> list[Branch]:
    """A declared or inferred layout; a time of day or nanoseconds that the type lacks are no match."""
    layout = cast.format or ""
    parsed = f"try_strptime({x}, {text(layout)})"
    value, exact = _whole(parsed, layout, "make_timestamp")
    value = f"CAST({value} AS {type_})"
    if type_ == "DATE" and re.search("%-?[HIMSfgnpcXT]", layout):
        exact += f" AND {value} = {parsed}"
    sure = f"isfinite({parsed}){'' if cast.lossy else exact}"
    branches = [(f"strftime({parsed}, {text(layout)}) = {x} AND {sure}", value)]
    if cast.lenient and not _RUN_ON.search(layout):
        branches.append((f"{sure} AND year({parsed}) >= 1000", value))
    return branches


def _whole(parsed: str, layout: str, make: str) -> tuple[str, str]:
    """What a layout reads in whole microseconds (cut, not rounded), and the test that nothing was cut."""
    if "%n" not in layout:
        return parsed, ""
    nanos = f"epoch_ns({parsed})"
    return f"{make}(({nanos} - ({nanos} % 1000 + 1000) % 1000) // 1000)", f" AND {nanos} % 1000 = 0"


def _time(cast: Cast, x: str) -> list[Branch]:
    value = f"TRY_CAST({x} AS TIME)"
    return [_round_trip(value, x), (f"{_match(x, _CLOCK)} AND {value} IS NOT NULL", value)]


def _timestamp(cast: Cast, x: str) -> list[Branch]:
    if cast.format and "%" in cast.format:
        return _formatted(cast, x, "TIMESTAMP")
    value = f"TRY_CAST({x} AS TIMESTAMP)"
    printed = f"CAST({value} AS VARCHAR)"
    if cast.format == "T":
        printed = f"replace({printed}, ' ', 'T')"
    branches = [
        (f"{printed} = {x} AND strlen({x}) >= 19", value),
        (
            f"strlen({x}) BETWEEN 21 AND 26 AND substr({x}, 20, 1) = '.'"
            f" AND {printed} = rtrim(rtrim({x}, '0'), '.')",
            value,
        ),
        (f"strlen({x}) = 16 AND {printed} = {x} || ':00'", value),
    ]
    if cast.lenient:
        pattern = rf"{_DAY}([ T]{_CLOCK}0*)?"
        branches.append((f"{_match(x, pattern)} AND isfinite({value})", value))
    return branches


def _timestamptz(cast: Cast, x: str) -> list[Branch]:
    if cast.format and "%" in cast.format:
        return _zoned_format(cast, x)
    value = f"TRY_CAST({x} AS TIMESTAMPTZ)"
    between = cast.format or "[ T]"
    more = "0*" if cast.lenient else ""
    return [(f"{_match(x, f'{_DAY}{between}{_CLOCK}{more}{_OFFSET}')} AND isfinite({value})", value)]


def _zoned_format(cast: Cast, x: str) -> list[Branch]:
    """A layout with an offset: DuckDB's strptime gives an instant for it."""
    layout = cast.format or ""
    parsed = f"try_strptime({x}, {text(layout)})"
    value, exact = _whole(parsed, layout, "make_timestamptz")
    value = f"CAST({value} AS TIMESTAMPTZ)"
    return [(f"isfinite({value}){'' if cast.lossy else exact}", value)]


def _uuid(cast: Cast, x: str) -> list[Branch]:
    value = f"TRY_CAST({x} AS UUID)"
    return [(f"CAST({value} AS VARCHAR) = lower({x})", value)]


def _nested(cast: Cast, x: str) -> list[Branch]:
    """Nested JSON whose structure was taken from the whole input."""
    return [(f"{x} IS NOT NULL", f"from_json({x}, {text(cast.format or '')})")]


def _lossy(cast: Cast, x: str) -> list[Branch]:
    """``loss: allow``: digits may be rounded and times cut; a text that is no such value still fails."""
    if cast.format and "%" in cast.format:
        return _KINDS[cast.kind](cast.with_options(lenient=True), x)
    if cast.kind == "date":
        value = f"CAST(TRY_CAST({x} AS TIMESTAMP) AS DATE)"
    else:
        value = f"TRY_CAST({x} AS {cast.type})"
    finite = f" AND isfinite({value})" if cast.kind in ("double", "float", "date", "timestamp") else ""
    return [(f"{value} IS NOT NULL{finite}", value)]


_KINDS = {
    "unknown": _unknown,
    "int": _int,
    "decimal": _decimal,
    "double": _real,
    "float": _real,
    "boolean": _boolean,
    "date": _date,
    "time": _time,
    "timestamp": _timestamp,
    "timestamptz": _timestamptz,
    "uuid": _uuid,
    "nested": _nested,
}
