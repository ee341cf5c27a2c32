"""A COMMIT that SQLite refuses (a reader is at work) is no publish, whatever its connection still shows."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.catalogs.sqlite import sqlite_uri
from ldp_core.commit.base import load_base
from ldp_core.commit.retry import RetryPolicy
from ldp_core.testing.builders import append, new_table, orphans

NAME = ("nyc", "rides")


def recorded(file: Path) -> str:
    con = sqlite3.connect(file)
    try:
        return str(con.execute("SELECT metadata_location FROM iceberg_tables").fetchone()[0])
    finally:
        con.close()


def test_a_commit_refused_as_busy_is_sent_again_until_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "wh" / "nyc_catalog.db"
    uri = sqlite_uri(file).replace("timeout=60", "timeout=0.1")
    catalog = LocalIcebergCatalog("nyc", tmp_path / "wh", uri=uri)
    append(load_base(catalog, NAME, new_table()), "r1", [1])
    base = load_base(catalog, NAME)

    reader = sqlite3.connect(file)
    rows = reader.execute("SELECT * FROM iceberg_tables, (SELECT 1 UNION ALL SELECT 2)")
    next(rows)
    waits: list[float] = []

    def release(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            rows.close()
            reader.close()

    done = append(base, "r2", [2], policy=RetryPolicy(deadline=60, sleep=release))

    assert len(waits) == 2, "the reader was to make two commits fail"
    assert recorded(file) == done.metadata_location
    table = catalog.load_table(NAME)
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2]
    assert not orphans(load_base(catalog, NAME))
    catalog.close()
