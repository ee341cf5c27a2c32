"""The ways that stand beside LDP, each run as a process of its own: ``python _ways.py WAY ARGS``."""

from __future__ import annotations

import sys
from pathlib import Path


def bare(csv: str, out: str, limit: str = "400MB") -> None:
    """The bound: one typed DuckDB copy, types given."""
    import duckdb
    from _data import TYPES

    con = duckdb.connect(config={"memory_limit": limit, "temp_directory": str(Path(out).parent / "spill")})
    columns = "{" + ", ".join(f"'{name}': '{type_}'" for name, type_ in TYPES.items()) + "}"
    con.execute(
        f"COPY (FROM read_csv('{csv}', header=true, auto_detect=false, quote='\"', columns={columns})) "
        f"TO '{out}' (FORMAT parquet, COMPRESSION zstd)"
    )


def naive(csv: str, warehouse: str, checks: str = "no") -> None:
    """What most people write first: read it whole, check it with pyarrow, append it with pyiceberg."""
    import pyarrow.csv as pc
    from pyiceberg.catalog.sql import SqlCatalog

    table = pc.read_csv(csv)
    if checks == "yes":
        pyarrow_checks(table)
    Path(warehouse).mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("b", uri=f"sqlite:///{warehouse}/b.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace_if_not_exists("b")
    catalog.create_table_if_not_exists("b.lineitem", table.schema).append(table)


def pyarrow_checks(table: object) -> None:
    """The twelve checks of ``_data.CHECKS``, one at a time."""
    import datetime

    import pyarrow as pa
    import pyarrow.compute as c

    t: pa.Table = table
    assert t.num_rows >= 1
    for name in ("l_orderkey", "l_partkey", "l_shipdate"):
        assert t[name].null_count == 0
    for name, low, high in (("l_quantity", 1, 50), ("l_discount", 0, 1), ("l_tax", 0, 1)):
        column = t[name]
        bad = c.or_(c.less(column, pa.scalar(low)), c.greater(column, pa.scalar(high)))
        assert not c.any(bad).as_py()
    assert not c.any(c.less(t["l_extendedprice"], pa.scalar(0))).as_py()
    assert c.all(c.is_in(t["l_returnflag"], pa.array(["A", "N", "R"]))).as_py()
    assert c.all(c.is_in(t["l_linestatus"], pa.array(["O", "F"]))).as_py()
    assert c.all(c.match_substring_regex(t["l_shipmode"], "^[A-Z ]+$")).as_py()
    assert c.all(c.greater(t["l_receiptdate"], t["l_shipdate"])).as_py()
    assert c.max(t["l_shipdate"]).as_py() > datetime.date(1950, 1, 1)
    groups = t.group_by(["l_orderkey", "l_linenumber"]).aggregate([([], "count_all")])
    assert c.max(groups["count_all"]).as_py() == 1


def checks_pyarrow(parquet: str) -> None:
    """The twelve checks over a Parquet file, with pyarrow."""
    import pyarrow.parquet as pq

    pyarrow_checks(pq.read_table(parquet))


def checks_ldp(parquet: str) -> None:
    """The twelve checks over a Parquet file, as the gate of a run judges its batch."""
    from datetime import UTC, datetime

    import pyarrow.parquet as pq
    from _data import CHECKS
    from ldp_core import _duck
    from ldp_core.spi import Batch
    from ldp_quality import checks_from_config
    from ldp_quality.gate import QualityGate

    con = _duck.connect(memory_limit="200MB", temp_directory=Path(parquet).parent / "spill")
    schema, rows = pq.read_schema(parquet), pq.read_metadata(parquet).num_rows
    sql = f"FROM read_parquet('{parquet}')"
    ordered = f"SELECT *, row_number() OVER () - 1 AS __row {sql}"
    gate = QualityGate().of(checks_from_config(CHECKS))
    verdict = gate.judge(Batch(con, sql, schema, rows, rows, ordered, datetime.now(UTC)))
    if not verdict.passed:
        raise SystemExit(verdict.report.summary())


def ninety_days(csv: str, out: str) -> None:
    """A copy of lineitem whose ship dates are folded into ninety days."""
    import duckdb

    duckdb.execute(
        f"COPY (SELECT * REPLACE (DATE '2026-01-01' + CAST(l_orderkey % 90 AS INTEGER) AS l_shipdate) "
        f"FROM read_csv('{csv}')) TO '{out}' (HEADER)"
    )


def group_by_bare(pattern: str, sql: str) -> None:
    """The bound of a query: DuckDB over the same files."""
    import duckdb

    con = duckdb.connect(config={"memory_limit": "400MB"})
    con.execute(f"CREATE VIEW lineitem AS FROM read_parquet('{pattern}')")
    print(con.execute(sql).fetchall())


def ten_columns(parquet: str, out: str, limit: str = "ALL") -> None:
    """The first ten columns of a file, and as many rows as wanted."""
    import duckdb
    from _data import TYPES

    names = ", ".join(list(TYPES)[:10])
    rows = "" if limit == "ALL" else f"LIMIT {limit}"
    duckdb.execute(f"COPY (SELECT {names} FROM '{parquet}' {rows}) TO '{out}' (COMPRESSION zstd)")


def summarize(parquet: str) -> None:
    """What DuckDB itself tells of a file."""
    import duckdb

    con = duckdb.connect(config={"memory_limit": "400MB"})
    con.execute(f"SUMMARIZE FROM '{parquet}'").fetchall()


def nothing() -> None:
    """Bare Python."""


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
