"""Reading catalogs and metadata with the standard library, beside writers and after crashes."""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest
from ldp_core.catalogs import LocalIcebergCatalog, look, peek
from ldp_core.catalogs._peek import PeekedCatalog, read_metadata
from ldp_core.commit.base import load_base
from ldp_core.errors import CatalogError, TableNotFound
from ldp_core.fs import local_path
from ldp_core.spi import Spec
from ldp_core.testing.builders import append, new_table


def local(folder: Path) -> Spec:
    return Spec({"identifier": "nyc", "warehouse_path": str(folder)}, folder)


def test_it_agrees_with_pyiceberg(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    for n in range(3):
        append(load_base(catalog, ("nyc", "rides"), new_table()), f"r{n}", [n])
    table = catalog.load_table("nyc.rides")
    peeked = look(local(tmp_path), "nyc", "rides")
    assert peeked is not None
    assert peeked.location == table.metadata_location
    assert peeked.data["current-snapshot-id"] == table.metadata.current_snapshot_id
    assert peeked.data["table-uuid"] == str(table.metadata.table_uuid)
    assert look(local(tmp_path), "nyc", "none") is None


def test_it_imports_nothing_heavy(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    append(load_base(catalog, ("nyc", "rides"), new_table()), "r", [1])
    code = f"""
        import sys
        from pathlib import Path
        from ldp_core.spi import Spec
        from ldp_core.catalogs import look, peek, namespace
        spec = Spec({{"identifier": "nyc", "warehouse_path": {str(tmp_path)!r}}}, Path("."))
        assert peek(spec).tables() == [("nyc", "rides")]
        assert look(spec, namespace(spec), "rides").data["format-version"] == 2
        heavy = {{"pyarrow", "pyiceberg", "duckdb", "sqlalchemy", "yaml", "jsonschema", "rich"}}
        assert not heavy & set(sys.modules), heavy & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_gzipped_metadata(tmp_path: Path) -> None:
    file = tmp_path / "00001-x.gz.metadata.json"
    file.write_bytes(gzip.compress(b'{"format-version": 2}'))
    assert read_metadata(file) == {"format-version": 2}
    for broken in (b"", b"{", gzip.compress(b"{}")[:-4]):
        file.write_bytes(broken)
        with pytest.raises(CatalogError, match="broken"):
            read_metadata(file)


def test_views_and_other_catalogs_are_left_out(tmp_path: Path) -> None:
    LocalIcebergCatalog("nyc", tmp_path)
    file = tmp_path / "nyc_catalog.db"
    with closing(sqlite3.connect(file)) as con, con:
        columns = "catalog_name, table_namespace, table_name, iceberg_type"
        insert = f"INSERT INTO iceberg_tables ({columns}) VALUES (?, ?, ?, ?)"
        con.execute(insert, ("nyc", "nyc", "v", "VIEW"))
        con.execute(insert, ("nyc", "nyc", "t", "TABLE"))
        con.execute(insert, ("nyc", "nyc", "u", None))
        con.execute(insert, ("other", "nyc", "w", "TABLE"))
    con.close()
    assert PeekedCatalog(file, "nyc", tmp_path).tables() == [("nyc", "t"), ("nyc", "u")]


def test_a_catalog_of_the_older_layout_is_read(tmp_path: Path) -> None:
    file = tmp_path / "nyc_catalog.db"
    with closing(sqlite3.connect(file)) as con, con:
        con.execute(
            "CREATE TABLE iceberg_tables (catalog_name TEXT, table_namespace TEXT, table_name TEXT,"
            " metadata_location TEXT, previous_metadata_location TEXT)"
        )
        con.execute("INSERT INTO iceberg_tables VALUES ('nyc', 'nyc', 't', NULL, NULL)")
    con.close()
    catalog = PeekedCatalog(file, "nyc", tmp_path)
    assert catalog.tables() == [("nyc", "t")]
    assert catalog.namespaces() == ["nyc"]
    assert catalog.metadata("nyc", "t") is None


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "nyc_catalog.db"
    file.write_text("not a database, only text that is long enough to be looked at " * 20)
    with pytest.raises(CatalogError, match="not a catalog"):
        PeekedCatalog(file, "nyc", tmp_path).tables()
    with pytest.raises(TableNotFound):
        PeekedCatalog(tmp_path / "none.db", "nyc", tmp_path).tables()


def test_it_waits_for_a_writer_that_holds_the_file(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    append(load_base(catalog, ("nyc", "rides"), new_table()), "r", [1])
    code = """
        import sqlite3, sys, time
        con = sqlite3.connect(sys.argv[1], isolation_level=None)
        con.execute("BEGIN EXCLUSIVE")
        print("locked", flush=True)
        time.sleep(1)
        con.execute("COMMIT")
    """
    file = str(tmp_path / "nyc_catalog.db")
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), file], stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child.stdout as out:
        assert out.readline().strip() == b"locked"
        assert look(local(tmp_path), "nyc", "rides") is not None
    assert child.wait() == 0


def test_a_journal_left_by_a_killed_writer_is_rolled_back(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    append(load_base(catalog, ("nyc", "rides"), new_table()), "r", [1])
    catalog.engine.dispose()
    code = """
        import os, signal, sqlite3, sys
        con = sqlite3.connect(sys.argv[1], isolation_level=None)
        con.execute("PRAGMA cache_size=1")
        con.execute("BEGIN IMMEDIATE")
        con.execute("UPDATE iceberg_tables SET table_name = 'half'")
        for n in range(2000):
            row = ("nyc", "n", str(n), "x" * 500)
            con.execute("INSERT INTO iceberg_namespace_properties VALUES (?, ?, ?, ?)", row)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    file = tmp_path / "nyc_catalog.db"
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(file)], check=False)
    assert (tmp_path / "nyc_catalog.db-journal").exists()
    peeked = peek(local(tmp_path))
    assert peeked is not None
    assert peeked.tables() == [("nyc", "rides")]


def test_it_is_right_beside_a_writer_that_cleans_up(tmp_path: Path) -> None:
    properties = {"write.metadata.previous-versions-max": "1"}
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    append(load_base(catalog, ("nyc", "rides"), new_table(**properties)), "r", [0])
    code = f"""
        from ldp_core.catalogs import LocalIcebergCatalog
        from ldp_core.commit.base import load_base
        from ldp_core.testing.builders import append
        catalog = LocalIcebergCatalog("nyc", {str(tmp_path)!r})
        for n in range(1, 15):
            append(load_base(catalog, ("nyc", "rides")), f"r{{n}}", [n])
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    seen = []
    while child.poll() is None:
        found = look(local(tmp_path), "nyc", "rides")
        assert found is not None
        seen.append(len(found.data["snapshots"]))
    assert child.wait() == 0
    assert seen == sorted(seen)
    last = look(local(tmp_path), "nyc", "rides")
    assert last is not None
    assert len(last.data["snapshots"]) == 15
    assert local_path(last.location).is_file()
