"""Z-order: rows sorted along the Morton curve of their columns' ranks.

A column's rank is approximate: the boundaries of up to 1,024 equal shares of its values, from a sample of the
group, are found once, and each value is placed among them by bisection. So any type that can be compared is
spread evenly, whatever its distribution, and no window function over all rows is needed. The ranks' bits are
interleaved (G. M. Morton, "A computer oriented geodetic data base and a new technique in file sequencing",
1966).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAMPLE_ROWS = 32_768
MOST_BITS = 10
_SEED = 7


def ordered(
    con: DuckDBPyConnection, sql: str, columns: Sequence[str], values: Sequence[str], bits: int
) -> str:
    """A SELECT of the same rows along the curve.

    Args:
        con: Where it will run; the boundaries are kept in its variables.
        sql: A SELECT.
        columns: What it yields, quoted; none starts with ``__z``.
        values: What is ordered by, in SQL over these columns.
        bits: Bits of each column.
    """
    bits = min(bits, MOST_BITS)
    _boundaries(con, sql, values, bits)
    kept = ", ".join(columns)
    inner = f"SELECT {kept}, " + ", ".join(
        f"{value} AS __z{n}, CASE WHEN {value} IS NULL THEN 0 ELSE 1 END AS __zr{n}"
        for n, value in enumerate(values)
    )
    query = f"{inner} FROM ({sql}) AS b"
    for step in (1 << level for level in reversed(range(bits))):
        ranks = ", ".join(
            f"__z{n}, CASE WHEN __z{n} >= getvariable('ldp_z{n}')[__zr{n} + {step - 1}] "
            f"THEN __zr{n} + {step} ELSE __zr{n} END AS __zr{n}"
            for n in range(len(values))
        )
        query = f"SELECT {kept}, {ranks} FROM ({query})"
    code = " | ".join(f"(getvariable('ldp_spread')[__zr{n} + 1] << {n})" for n in range(len(values)))
    return f"SELECT {kept} FROM ({query}) ORDER BY {code}"


def spread(rank: int, count: int) -> int:
    """The bits of a rank with room for those of ``count - 1`` others between them."""
    return sum(((rank >> bit) & 1) << (bit * count) for bit in range(rank.bit_length()))


def _boundaries(con: DuckDBPyConnection, sql: str, values: Sequence[str], bits: int) -> None:
    """Set ``ldp_z<n>``: the sorted values that part a column into equal shares; and ``ldp_spread``."""
    shares = max((1 << bits) - 2, 1)  # 0 is for nulls, so that a rank fits into the bits
    named = ", ".join(f"{value} AS v{n}" for n, value in enumerate(values))
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE ldp_z AS SELECT {named} FROM ({sql}) AS b "
        f"USING SAMPLE reservoir({SAMPLE_ROWS} ROWS) REPEATABLE ({_SEED})"
    )
    for n in range(len(values)):
        con.execute(
            f"SET VARIABLE ldp_z{n} = (SELECT list(v ORDER BY v) FROM (SELECT max(v) AS v FROM ("
            f"SELECT v{n} AS v, ntile({shares}) OVER (ORDER BY v{n}) AS part FROM ldp_z "
            f"WHERE v{n} IS NOT NULL) GROUP BY part))"
        )
    con.execute("DROP TABLE ldp_z")
    spreads = [spread(rank, len(values)) for rank in range((1 << bits) + 1)]
    con.execute(f"SET VARIABLE ldp_spread = [{', '.join(f'{item}::UBIGINT' for item in spreads)}]")
