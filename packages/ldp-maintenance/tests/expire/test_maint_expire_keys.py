"""Idempotency keys are known after an expiry, whoever published them and whatever expired."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.api import run_config
from ldp_core.catalogs.sqlite import open_local
from ldp_core.commit.lookup import find
from ldp_core.tables.view import of_metadata
from ldp_maintenance.expire import expire_snapshots
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Expire, Policy
from ldp_maintenance.testing import builders
from pyiceberg.table import Table


def _config(folder: Path) -> Path:
    (folder / "r.csv").write_text(
        "ride_id,pickup_ts,fare\n"
        + "".join(f"{day},2026-08-{day:02d} 10:00:00,5.5\n" for day in range(1, 29))
    )
    config = {
        "identifier": "rides",
        "metadata": {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {
                "name": "rides",
                "format": "ICEBERG",
                "write_mode": "append",
                "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
            },
        },
    }
    made = folder / "c.json"
    made.write_text(json.dumps(config))
    return made


def _window(day: int) -> str:
    return f"2026-08-{day:02d}/2026-08-{day + 1:02d}"


def _table(folder: Path) -> Table:
    return open_local("nyc", folder / "wh", create=False).load_table(("nyc", "rides"))


def _expire(table: Table, *, commit: bool = True, **given: Any) -> Any:
    name = table.name()
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=30)
    target = Target(table.catalog, (name[0], name[1]), Policy(expire=Expire(**given)))
    outcome = expire_snapshots(target, Doing(commit=commit, clock=lambda: later))
    table.refresh()
    return outcome


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return _config(tmp_path)


def _status(config: Path, day: int) -> str:
    return str(run_config(config, window=_window(day)).status)


def test_maint_expire_keys_every_window_is_skipped_after_an_expiry(config: Path) -> None:
    for day in range(1, 5):
        assert _status(config, day) == "published"
    table = _table(config.parent)
    outcome = _expire(table)
    assert len(outcome.detail["expired_snapshot_ids"]) == 3
    assert not outcome.detail["reanchored"]
    assert len(table.metadata.snapshots) == 1
    head = outcome.detail["protected_snapshot_ids"]
    assert head["idempotency_key"] == head["key_ancestry"] == head["current"]
    assert {_status(config, day) for day in range(1, 5)} == {"skipped_duplicate"}
    assert _status(config, 5) == "published"


def test_maint_expire_keys_an_anchor_that_would_be_cut_off_is_moved_first(config: Path) -> None:
    for day in range(1, 3):
        assert _status(config, day) == "published"
    table = _table(config.parent)
    rows = table.scan().to_arrow()
    for _ in range(3):
        # A foreign engine, which knows nothing of keys.
        table.append(rows)
    before = len(table.scan().to_arrow())
    preview = _expire(table, commit=False)
    assert any("take over the idempotency keys" in line for line in preview.lines)
    outcome = _expire(table)
    assert outcome.detail["reanchored"]
    assert len(outcome.snapshots) == 1
    assert len(table.metadata.snapshots) == 1
    assert table.current_snapshot().snapshot_id == outcome.snapshots[0]  # type: ignore[union-attr]
    assert len(table.scan().to_arrow()) == before
    # Not even the manifests of that time, nor older metadata files, are needed any more.
    table.overwrite(rows)
    assert {_status(config, day) for day in range(1, 3)} == {"skipped_duplicate"}
    assert _expire(_table(config.parent)).detail["reanchored"]
    assert {_status(config, day) for day in range(1, 3)} == {"skipped_duplicate"}


def test_maint_expire_keys_that_only_summaries_tell_stay_where_there_is_no_ledger(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.append(table, range(3))
    builders.append(table, range(3), summary={"ldp.idempotency-key": "a" * 64})
    builders.append(table, range(3))
    builders.append(table, range(3), summary={"ldp.idempotency-key": "b" * 64})
    builders.append(table, range(3))
    ids = [item.snapshot_id for item in table.metadata.snapshots]
    outcome = _expire(table)
    assert outcome.detail["expired_snapshot_ids"] == [str(ids[0])]
    told = outcome.detail["protected_snapshot_ids"]
    assert told["idempotency_key"] == [str(ids[1]), str(ids[3])]
    assert told["key_ancestry"] == [str(item) for item in ids[1:4]] + [str(ids[4])]
    assert any("3 more stay" in line for line in outcome.lines)
    view = of_metadata(table.metadata, table.io)
    assert find(view, "rides", "a" * 64)
    assert find(view, "rides", "b" * 64)


def test_maint_expire_keys_that_only_summaries_tell_are_taken_into_a_ledger(config: Path) -> None:
    assert _status(config, 1) == "published"
    table = _table(config.parent)
    rows = table.scan().to_arrow()
    table.append(rows, snapshot_properties={"ldp.idempotency-key": "c" * 64})
    table.append(rows)
    outcome = _expire(table)
    assert outcome.detail["reanchored"]
    assert len(table.metadata.snapshots) == 1
    assert find(of_metadata(table.metadata, table.io), "rides", "c" * 64)
    assert _status(config, 1) == "skipped_duplicate"


def test_maint_expire_keys_of_a_rolled_back_window_are_free(config: Path) -> None:
    from ldp_maintenance.testing.builders import rollback

    for day in range(1, 4):
        assert _status(config, day) == "published"
    table = _table(config.parent)
    rollback(table)
    _expire(table)
    assert len(table.metadata.snapshots) == 1 + 1 or len(table.metadata.snapshots) == 1
    assert [_status(config, day) for day in (1, 2)] == ["skipped_duplicate"] * 2
    assert _status(config, 3) == "published"


def test_maint_expire_keys_a_fence_stays_for_its_time(config: Path) -> None:
    assert _status(config, 1) == "published"
    name = "ldp_r" + "0" * 32 + "_a1_fenced"
    table = _table(config.parent)
    rows = table.scan().to_arrow()
    first = table.current_snapshot()
    assert first is not None
    table.manage_snapshots().create_tag(first.snapshot_id, name, max_ref_age_ms=7 * 86_400_000).commit()
    _expire(table, max_ref_age_days=1)
    assert name in table.metadata.refs
    table.append(rows)
    _expire(table, max_ref_age_days=1)
    assert name not in table.metadata.refs
