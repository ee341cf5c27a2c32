"""Tables written from Python by many processes at once, and what a window costs as windows grow."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.api import Iceberg, run_config
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.commit.locks import table_lock
from ldp_core.errors import DriftError
from ldp_core.targets.iceberg_session import IcebergSession
from ldp_core.testing.builders import orphans
from ldp_core.testing.faults import FaultyCatalog, Plan, faults

NAME = ("nyc", "rides")
CATALOG = {"type": "local", "identifier": "nyc", "warehouse_path": "wh"}
WRITER = """
    import sys
    import pyarrow as pa
    from ldp_core.api import Iceberg

    number, root = int(sys.argv[1]), sys.argv[2]
    catalog = {"type": "local", "identifier": "nyc", "warehouse_path": "wh"}
    table = Iceberg("rides", catalog, base_dir=root)
    for turn in range(10):
        table.put(pa.table({"id": [number * 10 + turn]}))
"""


def test_8_processes_put_10_times_each_and_nothing_is_lost(tmp_path: Path) -> None:
    code = textwrap.dedent(WRITER)
    children = [
        subprocess.Popen([sys.executable, "-c", code, str(number), str(tmp_path)]) for number in range(8)
    ]
    assert [child.wait(timeout=300) for child in children] == [0] * 8
    base = load_base(LocalIcebergCatalog("nyc", tmp_path / "wh"), NAME)
    assert sorted(Iceberg("rides", CATALOG, base_dir=tmp_path).get()["id"].to_pylist()) == list(range(80))
    assert len(base.metadata.snapshots) == 80
    assert not orphans(base)


@pytest.mark.parametrize("mode", ["append", "upsert"])
@pytest.mark.parametrize("before", [0, 1], ids=["made", "changed"])
def test_a_table_that_another_process_made_or_changed_meanwhile_is_written_to_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, before: int
) -> None:
    """Each of five others brings a column between the look at the table and the write of one more."""
    table = Iceberg("rides", CATALOG, base_dir=tmp_path, join_cols=["id"])
    for number in range(before):
        table.put(pa.table({"id": [number]}))
    resolve, others = IcebergSession.resolve, iter(range(before, 5))

    def late(self: IcebergSession, *args: Any, **kwargs: Any) -> Any:
        resolved = resolve(self, *args, **kwargs)
        if (number := next(others, None)) is not None:
            with monkeypatch.context() as patched:
                patched.setattr(IcebergSession, "resolve", resolve)
                table.put(pa.table({f"c{number}": [1], "id": [number]}))
        return resolved

    monkeypatch.setattr(IcebergSession, "resolve", late)
    if mode == "append":
        assert table.put(pa.table({"id": [9], "own": [1]})).rows_after == 6
        assert sorted(table.get()["id"].to_pylist()) == [0, 1, 2, 3, 4, 9]
        assert table.get().num_columns == 7 - before
    else:
        with pytest.raises(DriftError, match="lack the columns"):
            table.put(pa.table({"id": [9]}), mode)
    base = load_base(LocalIcebergCatalog("nyc", tmp_path / "wh"), NAME)
    assert [path for path in orphans(base) if "write.lock" not in path] == []


@pytest.mark.parametrize("mode", ["append", "overwrite", "upsert"])
def test_a_write_is_one_commit_and_what_rewrites_waits_for_the_lock(tmp_path: Path, mode: str) -> None:
    table = Iceberg("rides", CATALOG, base_dir=tmp_path, join_cols=["id"])
    table.put(pa.table({"id": [1], "n": [1]}))
    catalog = LocalIcebergCatalog("nyc", tmp_path / "wh")
    code = f"""
        import pyarrow as pa
        from ldp_core.api import Iceberg
        table = Iceberg("rides", {CATALOG!r}, base_dir={str(tmp_path)!r}, join_cols=["id"])
        table.put(pa.table({{"id": [2], "n": [2]}}), mode="{mode}")
    """
    with table_lock(load_base(catalog, NAME)):
        child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
        if mode == "append":
            assert child.wait(timeout=120) == 0
        else:
            staged = tmp_path / "wh" / "nyc" / "rides" / "_ldp" / "staged"
            while not list(staged.glob("*.json")) and child.poll() is None:
                pass
            table.put(pa.table({"id": [3], "n": [3]}))
            assert child.poll() is None
    assert child.wait(timeout=120) == 0
    metadata = load_base(catalog, NAME).metadata
    assert len(metadata.snapshots) == (2 if mode == "append" else 3)
    rows = {"append": [1, 2], "overwrite": [2], "upsert": [1, 2, 3]}[mode]
    assert sorted(table.get()["id"].to_pylist()) == rows


WINDOWS = 60
START = datetime(2026, 8, 1, tzinfo=UTC)


def test_a_window_costs_no_more_calls_as_windows_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = {"name": "rides", "format": "CSV", "path": "in.csv"}
    target = {"name": "rides", "format": "ICEBERG", "catalog": CATALOG}
    body = {"source": source, "target": target, "window": {"size": "hour"}}
    config = tmp_path / "rides.json"
    config.write_text(json.dumps({"identifier": "rides", "metadata": body}))
    (tmp_path / "in.csv").write_text("id\n1\n")
    monkeypatch.setattr(
        "ldp_core.catalogs.sqlite.LocalIcebergCatalog", lambda *args, **kw: FaultyCatalog(*args, **kw)
    )
    calls: list[Plan] = []
    sizes: list[int] = []
    for number in range(WINDOWS):
        start = START + timedelta(hours=number)
        with faults(Plan()) as plan:
            run_config(config, window=(start, start + timedelta(hours=1)))
        calls.append(plan)
        folder = tmp_path / "wh" / "nyc" / "rides" / "metadata"
        sizes.append(sum(path.stat().st_size for path in folder.iterdir()))
    assert {plan.calls.count("commit_table") for plan in calls} == {1}
    assert len(calls[-1].calls) <= len(calls[30].calls)
    json_files = list(folder.glob("*.metadata.json"))
    assert len(json_files) <= 21
    assert sizes[-1] < 2_000_000
    assert not orphans(load_base(LocalIcebergCatalog("nyc", tmp_path / "wh"), NAME))
