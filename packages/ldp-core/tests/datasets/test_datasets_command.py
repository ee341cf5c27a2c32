"""``ldp datasets`` as a person uses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from ldp_core.catalogs import load_table
from ldp_core.commands.datasets import datasets
from ldp_core.datasets.pin import pin
from ldp_core.errors import ConfigError, QueryError, SnapshotNotFound, UsageError
from ldp_core.query.refs import TableRef, find_tables
from ldp_core.spi import Spec


def ldp(*words: str) -> str:
    result = CliRunner().invoke(datasets, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_pin_list_export(rides: Any, home: Path) -> None:
    snapshot = rides.current_snapshot().snapshot_id
    out = ldp("pin", "c.json", "train", "--filter", "fare > 6", "--fields", "ride_id")
    assert out.startswith(
        f"Pinned train@v1: 2 rows of nyc.rides at snapshot {snapshot} (tag ldp_ds_train_v1)\n  manifest: "
    )
    assert out.rstrip().endswith("wh/.ldp/datasets/train/v000001.json")
    second = json.loads(ldp("pin", "c.json", "train", "--json"))
    assert (second["version"], second["rows"], second["snapshot_id"]) == (2, 3, str(snapshot))
    assert Path(second["manifest"]).is_file()
    table = load_table(Spec({"identifier": "nyc", "warehouse_path": "wh"}, home), "rides")
    assert {"ldp_ds_train_v1", "ldp_ds_train_v2"} <= set(table.metadata.refs)
    assert table.metadata.current_snapshot_id == snapshot

    newest = ldp("list", "--config", "c.json").splitlines()
    assert newest[0].split() == [
        *(
            "name",
            "version",
            "table",
            "snapshot_id",
            "rows",
            "row_filter",
            "fields",
            "created_at_utc",
            "versions",
        )
    ]
    assert newest[2].split()[:7] == ["train", "2", "nyc.rides", str(snapshot), "3", "-", "*"]
    assert newest[-1] == "(1 row)"
    both = ldp("list", "train", "--config", "c.json").splitlines()
    assert "fare > 6" in both[2]
    assert both[-1] == "(2 rows)"
    assert [item["version"] for item in json.loads(ldp("list", "train", "--config", "c.json", "--json"))] == [
        1,
        2,
    ]

    assert ldp("export", "train@v1", "out.jsonl", "--format", "jsonl", "--config", "c.json") == (
        f"Exported train@v1 (2 rows, snapshot {snapshot}) to out.jsonl as jsonl\n"
    )
    assert (home / "out.jsonl").read_text() == '{"ride_id": 2}\n{"ride_id": 3}\n'


def test_a_pin_does_not_move_with_the_table(rides: Any, load: Callable[..., Any], home: Path) -> None:
    ldp("pin", "c.json", "train")
    rides.append(rides.scan().to_arrow())
    with rides.update_schema() as update:
        update.rename_column("fare", "price")
    for kind in ("parquet", "csv", "jsonl"):
        body = json.loads(ldp("export", "train", f"o.{kind}", "--config", "c.json", "--json"))
        assert (body["rows"], body["format"]) == (3, kind)
    assert pq.read_table(home / "o.parquet").column_names == ["ride_id", "pickup_ts", "fare"]
    assert (
        (home / "o.csv").read_bytes().startswith(b"ride_id,pickup_ts,fare\r\n1,2026-08-01 10:00:00,5.5\r\n")
    )


def test_an_older_snapshot(rides: Any) -> None:
    first = rides.current_snapshot().snapshot_id
    rides.append(rides.scan().to_arrow())
    body = json.loads(ldp("pin", "c.json", "old", "--snapshot", str(first), "--json"))
    assert (body["rows"], body["snapshot_id"]) == (3, str(first))


def test_refusals(rides: Any, load: Callable[..., Any], home: Path) -> None:
    ldp("pin", "c.json", "train")
    with pytest.raises(QueryError, match=r"dataset 'train' has no version 9; versions: 1"):
        ldp("export", "train@v9", "o.parquet", "--config", "c.json")
    with pytest.raises(QueryError, match="no dataset 'other'; datasets: train"):
        ldp("export", "other", "o.parquet", "--config", "c.json")
    with pytest.raises(QueryError, match="no dataset"):
        ldp("list", "other", "--config", "c.json")
    with pytest.raises(UsageError, match="got 'bad name'"):
        ldp("pin", "c.json", "bad name")
    for name in ("", "-x", "../x", "a/b", "x" * 129, "a@v1"):
        with pytest.raises(UsageError, match="dataset name"):
            pin(find_tables(["c.json"])[0], name)
    for wrong in (
        "fare >",
        "1) or (1=1",
        "fare > 6; drop table rides",
        "fare in (select a from read_csv('x'))",
    ):
        with pytest.raises(QueryError, match="not a predicate"):
            ldp("pin", "c.json", "train", "--filter", wrong)
    with pytest.raises(QueryError, match="nope"):
        ldp("pin", "c.json", "train", "--filter", "nope > 6")
    with pytest.raises(QueryError, match="no column 'nope'; columns: ride_id, pickup_ts, fare"):
        ldp("pin", "c.json", "train", "--fields", "ride_id,nope")
    with pytest.raises(SnapshotNotFound):
        ldp("pin", "c.json", "train", "--snapshot", "1")
    with pytest.raises(UsageError, match="name@vN"):
        ldp("export", "train@first", "o.parquet", "--config", "c.json")
    with pytest.raises(UsageError, match="folder"):
        ldp("export", "train", "no/o.parquet", "--config", "c.json")
    assert not list(home.glob("*o.parquet*"))
    assert len(json.loads(ldp("list", "train", "--config", "c.json", "--json"))) == 1
    empty = load("empty", pa.table({"a": pa.array([], pa.int64())}))
    if empty.metadata.current_snapshot_id is None:
        with pytest.raises(SnapshotNotFound, match="empty"):
            ldp("pin", "empty.json", "e")


def test_a_warehouse_that_is_only_a_name(home: Path) -> None:
    catalog = Spec({"type": "rest", "uri": "http://127.0.0.1:1", "warehouse": "lake"}, home)
    with pytest.raises(ConfigError, match="warehouse"):
        pin(TableRef(catalog, "n", "t", "c.json"), "train")


def test_pins_at_the_same_time_get_their_own_versions(rides: Any) -> None:
    ref = find_tables(["c.json"])[0]
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: pin(ref, "train")[0].version, range(3)))
    assert sorted(done) == [1, 2, 3]
