"""Processes that are really killed, and many that write at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.commit.recover import sweep
from ldp_core.testing.builders import append, new_table, orphans

NAME = ("nyc", "rides")

CHILD = """
    import os, signal, sys
    from pathlib import Path
    import ldp_core.commit.publish as publishing
    import ldp_core.commit.stage as staging
    from ldp_core.catalogs import LocalIcebergCatalog
    from ldp_core.commit._store import Store
    from ldp_core.commit.base import load_base
    from ldp_core.testing import builders

    point, root = sys.argv[1:]
    cat = LocalIcebergCatalog("nyc", root)

    def die(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)

    def around(owner, name, when):
        real = getattr(owner, name)
        def wrapped(*args, **kwargs):
            if when == "before":
                die()
            real(*args, **kwargs)
            die()
        setattr(owner, name, wrapped)

    base = load_base(cat, ("nyc", "rides"), builders.new_table())
    if point == "manifest":
        around(Store, "make_folder", "before")
    elif point == "half-file":
        def half(base, path, columns):
            target = builders.local_path(path)
            target.write_bytes(b"PAR1 half")
            die()
        builders.write_parquet = half
    elif point == "file":
        around(builders, "write_parquet", "after")
    elif point == "avro":
        around(publishing, "prepare", "after")
    elif point == "metadata":
        real = type(cat)._write_metadata
        type(cat)._write_metadata = staticmethod(lambda *a, **k: (real(*a, **k), die()))
    elif point == "committed":
        around(type(cat), "commit_table", "after")
    elif point == "tidy":
        around(staging.Stage, "published", "before")
    builders.append(base, "r1", [1])
"""

POINTS = ["manifest", "half-file", "file", "avro", "metadata", "committed", "tidy"]
LANDED = {"committed", "tidy"}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("exists", [True, False], ids=["table", "no-table"])
def test_kill_9_leaves_the_table_as_it_was_and_the_next_run_clean(
    tmp_path: Path, point: str, exists: bool
) -> None:
    root = tmp_path / "wh"
    cat = LocalIcebergCatalog("nyc", root)
    if exists:
        append(load_base(cat, NAME, new_table()), "r0", [0])
    child = subprocess.run([sys.executable, "-c", textwrap.dedent(CHILD), point, str(root)], check=False)
    assert child.returncode == -signal.SIGKILL
    expected = [0] * exists + [1] * (point in LANDED)
    if expected:
        assert sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist()) == expected
    else:
        assert not cat.table_exists(NAME)
    base = load_base(cat, NAME, new_table())
    sweep(base)
    if not expected:
        assert not (root / "nyc" / "rides").exists()
    append(base, "r2", [2])
    assert sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist()) == [*expected, 2]
    assert not orphans(load_base(cat, NAME))


@pytest.mark.parametrize("point", sorted(LANDED))
@pytest.mark.parametrize("exists", [True, False], ids=["table", "no-table"])
def test_what_a_run_published_before_it_was_killed_stays_though_the_sweeper_looked_before(
    tmp_path: Path, point: str, exists: bool
) -> None:
    root = tmp_path / "wh"
    cat = LocalIcebergCatalog("nyc", root)
    if exists:
        append(load_base(cat, NAME, new_table()), "r0", [0])
    before = load_base(cat, NAME, new_table())
    child = subprocess.run([sys.executable, "-c", textwrap.dedent(CHILD), point, str(root)], check=False)
    assert child.returncode == -signal.SIGKILL
    sweep(before)
    expected = [0] * exists + [1]
    assert sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist()) == expected
    assert not orphans(load_base(cat, NAME))


WRITER = """
    import sys
    from ldp_core.catalogs.sqlite import open_local
    from ldp_core.commit.base import load_base
    from ldp_core.testing.builders import append, new_table
    from pathlib import Path

    number, root = int(sys.argv[1]), Path(sys.argv[2])
    cat = open_local("nyc", root, create=True)
    for turn in range(10):
        row = number * 10 + turn
        append(load_base(cat, ("nyc", "rides"), new_table()), f"r{row}", [row])
"""


def test_8_processes_with_10_appends_each_lose_nothing(tmp_path: Path) -> None:
    root = tmp_path / "wh"
    children = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(WRITER), str(number), str(root)])
        for number in range(8)
    ]
    assert [child.wait(timeout=300) for child in children] == [0] * 8
    cat = LocalIcebergCatalog("nyc", root)
    assert sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist()) == list(range(80))
    base = load_base(cat, NAME)
    assert len(base.metadata.snapshots) == 80
    assert base.metadata.current_snapshot().summary["total-records"] == "80"
    assert not orphans(base)
