"""Only the files that one snapshot added, however manifests were merged since."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from ldp_core._duck import connect
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.tables.scan import plan_scan, scan_sql
from pyiceberg.expressions import EqualTo

MERGED = {"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"}


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("version", ["1", "2"])
def test_each_snapshot_added_its_own_rows(tmp_path: Path, merged: bool, version: str) -> None:
    catalog = ClosingCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    properties = {"format-version": version, **(MERGED if merged else {})}
    table = catalog.create_table("n.t", pa.schema([("a", pa.int64())]), properties=properties)
    expected: dict[int, list[int]] = {}
    for at in range(4):
        rows = [at * 10, at * 10 + 1]
        table.append(pa.table({"a": rows}))
        expected[table.refresh().current_snapshot().snapshot_id] = rows  # type: ignore[union-attr]
    table.delete(EqualTo("a", 0))
    with connect() as con:
        for snapshot_id, rows in expected.items():
            scan = plan_scan(table.metadata, table.io, snapshot_id=snapshot_id, added=True)
            assert sorted(row[0] for row in con.sql(scan_sql(con, scan)).fetchall()) == rows
        assert plan_scan(table.metadata, table.io, added=False).files
