"""Candidate types of columns of text: one set of rules, in SQL, over a sample or over the whole input.

Inference proposes; the guards of the load decide. A type holds only when every value of the column fits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core._duck import text
from ldp_core.sources.csv_guard import fits
from ldp_core.sources.csv_layouts import LAYOUTS, WIDER, ambiguous, zoned
from ldp_core.sources.csv_types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    LONG,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    Cast,
    decimal,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCALES = range(2, 7)
"""Numbers of decimals that make a column a decimal."""

ODD_SHARE = 0.01
ODD_COUNT = 1000
"""Fewer odd values than this share, and no more than this count, are worth a warning."""


def candidates(
    *, comma: bool = False, date_format: str | None = None, timestamp_format: str | None = None
) -> list[Cast]:
    """Every type that a column may turn out to have, the strongest first.

    Args:
        comma: The decimal mark is a comma.
        date_format: The declared format of dates; None tries the known ones.
        timestamp_format: The declared format of timestamps; None tries ISO forms.
    """
    numbers = [decimal(18, scale) for scale in SCALES] + [decimal(38, scale) for scale in SCALES] + [DOUBLE]
    if date_format:
        dates = [DATE.with_options(format=date_format, lenient=True)]
    else:
        dates = [DATE.with_options(format=layout) for layout in (None, *LAYOUTS)]
    if timestamp_format:
        kind = TIMESTAMPTZ if zoned(timestamp_format) else TIMESTAMP
        moments = [kind.with_options(format=timestamp_format, lenient=True)]
    else:
        moments = [kind.with_options(format=mark) for kind in (TIMESTAMP, TIMESTAMPTZ) for mark in (" ", "T")]
    return [LONG, *(number.with_options(comma=comma) for number in numbers), BOOLEAN, *dates, *moments]


def layouts(cast: Cast) -> list[Cast]:
    """The ways in which the dates of a column may be written whose type is known: ISO first."""
    return [cast.with_options(format=layout) for layout in (None, *LAYOUTS)]


@dataclass(frozen=True)
class Evidence:
    """How many values of one column fit each candidate.

    Attributes:
        values: Values that are not NULL.
        fitting: Candidate to number of values that fit it.
    """

    values: int
    fitting: dict[Cast, int]

    def holding(self) -> list[Cast]:
        """Candidates that every value fits, the strongest first."""
        return [cast for cast, count in self.fitting.items() if count == self.values] if self.values else []

    def best(self) -> list[Cast]:
        """Candidates that most values fit, more than none."""
        most = max(self.fitting.values(), default=0)
        return [cast for cast, count in self.fitting.items() if count == most] if most else []

    def nearly(self) -> Cast | None:
        """The candidate that all but a few odd values fit."""
        best = max(self.fitting, key=lambda cast: self.fitting[cast], default=None)
        if best is None or not self.values:
            return None
        odd = self.values - self.fitting[best]
        return best if few(odd, self.values) else None


def few(odd: int, values: int) -> bool:
    """Whether odd values are so few that they look like mistakes: under 1 %, and at most 1,000."""
    return 0 < odd <= ODD_COUNT and odd < values * ODD_SHARE


def gather(con: DuckDBPyConnection, sql: str, columns: list[int], casts: list[Cast]) -> dict[int, Evidence]:
    """Count, for each column, the values that fit each candidate.

    Args:
        con: A connection.
        sql: A SELECT with columns ``c0``, ``c1``, ... of text.
        columns: Their positions.
        casts: The candidates.
    """
    if not columns:
        return {}
    positions = ", ".join(map(str, columns))
    values = ", ".join(f"c{at}" for at in columns)
    counts = ", ".join(f"sum(times) FILTER ({_quick(cast)})" for cast in casts)
    rows = con.execute(
        f"WITH each AS (SELECT unnest([{positions}]) AS place, unnest([{values}]) AS x FROM ({sql})), "
        "seen AS (SELECT place, x, count(*) AS times FROM each WHERE x IS NOT NULL GROUP BY place, x) "
        f"SELECT place, sum(times), {counts} FROM seen GROUP BY place"
    ).fetchall()
    rows = [tuple(int(number or 0) for number in row) for row in rows]
    found = {row[0]: Evidence(row[1], dict(zip(casts, row[2:], strict=True))) for row in rows}
    return {at: found.get(at, Evidence(0, {})) for at in columns}


def _quick(cast: Cast) -> str:
    """``fits`` behind a test that is cheap and false for most values of other kinds."""
    first = None
    layout = (cast.format or "%Y-%m-%d").replace("%-", "%")
    if cast.kind == "date" and not cast.lenient:
        mark = next((char for char in layout if char in "/.- "), "")
        first = f"strlen(x) <= 11 AND contains(x, {text(mark)})"
    if cast.kind in ("timestamp", "timestamptz") and cast.format in (" ", "T"):
        first = f"substr(x, 11, 1) = '{cast.format}'"
    if cast.kind == "decimal":
        first = f"substr(x, -{int(cast.type[:-1].split(',')[1]) + 1}, 1) = '{',' if cast.comma else '.'}'"
    return f"CASE WHEN {first} THEN {fits(cast, 'x')} ELSE false END" if first else fits(cast, "x")


def unclear(holding: list[Cast]) -> bool:
    """Whether days and months of dates cannot be told apart: both orders hold for every value."""
    return ambiguous(cast.format for cast in holding if cast.kind == "date")


def chain(evidence: Evidence) -> list[Cast]:
    """The candidates that are still possible for the whole input, the strongest first, by a sample of it.

    Nothing seen gives ``UNKNOWN``; nothing that fits (not even all but a few values) gives an empty list.
    """
    if not evidence.values:
        return [UNKNOWN]
    holding = evidence.holding()
    if holding:
        return holding
    near = evidence.nearly()
    return [near] if near else []


def stronger_first(possible: list[Cast], casts: tuple[Cast, ...]) -> list[Cast]:
    """The candidates to count over the whole input: those still possible, and the weaker ones below them.

    Args:
        possible: What a sample left possible.
        casts: Every candidate, the strongest first.
    """
    wider = set(possible)
    for cast in possible:
        if cast.kind == "date" and cast.format in WIDER:
            wider |= {other for other in casts if other.format == WIDER[cast.format]}
        if cast.kind == "int":
            wider |= {other for other in casts if other.kind == "double"}
        if cast.kind == "decimal":
            scale = cast.type.split(",")[1]
            wider |= {
                other
                for other in casts
                if other.kind == "double" or (other.kind == "decimal" and other.type.split(",")[1] == scale)
            }
    return [cast for cast in casts if cast in wider]


def count_each(con: DuckDBPyConnection, sql: str, options: dict[int, list[Cast]]) -> dict[int, Evidence]:
    """Count the values of some columns that fit some candidates, in one pass over the input.

    Args:
        con: A connection.
        sql: A SELECT with columns ``c0``, ``c1``, ... of text.
        options: Column to its candidates.
    """
    if not options:
        return {}
    counts = []
    for at, casts in options.items():
        counts.append(f"count(c{at})")
        counts += [f"count(*) FILTER (c{at} IS NOT NULL AND {fits(cast, f'c{at}')})" for cast in casts]
    row = con.execute(f"SELECT {', '.join(counts)} FROM ({sql})").fetchall()[0]
    numbers = iter(row)
    return {
        at: Evidence(next(numbers), {cast: next(numbers) for cast in casts}) for at, casts in options.items()
    }
