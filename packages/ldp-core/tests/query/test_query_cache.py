"""Plans of scans are kept, fit what they are used for, and are bounded."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ldp_core.query import cache
from ldp_core.query.open import open_scan
from ldp_core.query.refs import find_tables
from ldp_core.tables.scan import Scan, ScanFile


def scan(uuid: str = "u", snapshot: int | None = 7) -> Scan:
    schema = {"type": "struct", "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]}
    return Scan(uuid, snapshot, schema, (ScanFile("/x.parquet", 10, 1, 0, {}, 1),))


def test_only_what_fits_is_given_back(home: Path) -> None:
    assert cache.load("m1", "u", None) is None
    cache.store("m1", None, scan())
    assert cache.load("m1", "u", None) == scan()
    assert cache.load("m2", "u", None) is None
    assert cache.load("m1", "other", None) is None
    assert cache.load("m1", "u", 7) is None
    cache.store("m1", 8, scan(snapshot=7))
    assert cache.load("m1", "u", 8) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b'{"metadata_location": "m1", "scan": {}}'])
def test_a_damaged_plan_is_made_again(home: Path, damage: bytes) -> None:
    cache.store("m1", None, scan())
    path = next(cache.folder().iterdir())
    path.write_bytes(damage)
    assert cache.load("m1", "u", None) is None
    cache.store("m1", None, scan())
    assert cache.load("m1", "u", None) == scan()


def test_another_version_is_not_read(home: Path) -> None:
    cache.store("m1", None, scan())
    path = next(cache.folder().iterdir())
    body = json.loads(path.read_text())
    body["scan"]["format"] += 1
    path.write_text(json.dumps(body))
    assert cache.load("m1", "u", None) is None


def test_the_oldest_go_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store("m0", None, scan())
    size = next(cache.folder().iterdir()).stat().st_size
    monkeypatch.setattr(cache, "MAX_BYTES", size * 3 + 10)
    for number in range(1, 6):
        cache.store(f"m{number}", None, scan())
        cache.load("m0", "u", None)
    assert cache.load("m0", "u", None) is not None
    assert cache.load("m1", "u", None) is None
    assert sum(path.stat().st_size for path in cache.folder().iterdir()) <= size * 3 + 10


def test_a_plan_that_needs_pyiceberg_is_not_kept(home: Path) -> None:
    file = replace(scan().files[0], reason="nested")
    cache.store("m1", None, replace(scan(), files=(file,)))
    assert not cache.folder().exists()


def test_a_cache_that_cannot_be_written_is_no_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("LDP_CACHE_DIR", str(home / "file"))
    cache.store("m1", None, scan())
    assert cache.load("m1", "u", None) is None


def test_many_writers(home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cache.store(f"m{n % 3}", None, scan()), range(60)))
    assert all(cache.load(f"m{n}", "u", None) == scan() for n in range(3))
    assert len(list(cache.folder().iterdir())) == 3


def test_a_new_commit_is_seen(rides: Any) -> None:
    ref = find_tables(["c.json"])[0]
    before = open_scan(ref)
    assert open_scan(ref) == before
    rides.append(rides.scan().to_arrow())
    after = open_scan(ref)
    assert after.snapshot_id != before.snapshot_id
    assert len(after.files) == 2


def test_no_secret_is_kept(rides: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush-hush")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-id")
    assert open_scan(find_tables(["c.json"])[0]).properties["s3.secret-access-key"] == "hush-hush"
    assert all(b"hush" not in path.read_bytes() for path in cache.folder().iterdir())
