"""A table or a catalog whose files are missing or broken: one line that names it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest
from ldp_core.catalogs import load_table, open_catalog
from ldp_core.errors import CatalogError
from ldp_core.query.handle import TableHandle
from ldp_core.query.refs import find_tables


def spoil(home: Path, pattern: str, content: bytes | None) -> None:
    for path in (home / "wh").rglob(pattern):
        path.unlink()
        if content is not None:
            path.write_bytes(content)


@pytest.mark.parametrize("content", [None, b"PAR1broken"])
def test_a_manifest(rides: Any, home: Path, content: bytes | None) -> None:
    spoil(home, "*.avro", content)
    with pytest.raises(CatalogError, match=r"a file of nyc\.rides cannot be read") as error:
        TableHandle(find_tables(["c.json"])[0]).to_arrow()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [None, b"PAR1brokenPAR1"])
def test_a_data_file_whose_footer_has_to_be_seen(rides: Any, home: Path, content: bytes | None) -> None:
    with rides.transaction() as change:
        change.set_properties(**{"schema.name-mapping.default": "[]"})
    spoil(home, "*.parquet", content)
    with pytest.raises(CatalogError, match=r"a file of nyc\.rides cannot be read"):
        TableHandle(find_tables(["c.json"])[0]).to_arrow()


def test_metadata(rides: Any, home: Path) -> None:
    [ref] = find_tables(["c.json"])
    spoil(home, "*.metadata.json", b'{"location": "file')
    with pytest.raises(CatalogError, match=r"metadata file .* is broken"):
        TableHandle(ref).to_arrow()
    with pytest.raises(CatalogError, match=r"the metadata of nyc\.rides is broken: file://"):
        load_table(ref.catalog, "rides")


@pytest.mark.parametrize("create", [True, False])
def test_the_file_of_the_catalog(rides: Any, home: Path, create: bool) -> None:
    [ref] = find_tables(["c.json"])
    spoil(home, "*.db", b"garbage" * 100)
    with pytest.raises(CatalogError, match="file is not a database"):
        open_catalog(ref.catalog, create=create).list_namespaces()
    assert not is_open(next((home / "wh").rglob("*.db")))


def is_open(path: Path) -> bool:
    wanted = path.stat()
    for number in range(3, 256):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(number), wanted):
                return True
    return False
