"""File targets and the Python classes: whole files in one step, or nothing."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from ldp_core import _duck, registry
from ldp_core._progress import SILENT
from ldp_core.errors import ConfigError, NoData
from ldp_core.spi import RunContext, Spec
from ldp_core.targets.formats import CSV, Iceberg, Json, Parquet

ROWS = pa.table(
    {
        "id": [1, 2],
        "name": ['a,"b"\nc', None],
        "empty": ["", "x"],
        "d": pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)),
        "at": pa.array([datetime(2026, 8, 1, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
    }
)


def session(folder, kind, path, data, mode=None, **more):
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    con = _duck.connect(temp_directory=scratch)
    con.register("src", data)
    ctx = RunContext(con, folder, scratch, "run", 1, SILENT, pytest.fail)
    return registry.load("ldp.targets", kind).open(
        Spec({"path": path, **more}, folder, "metadata.target"), ctx, mode
    )


def write(folder, kind, path, data=ROWS, mode=None, **more):
    opened = session(folder, kind, path, data, mode, **more)
    try:
        resolved = opened.resolve("SELECT * FROM src", data.schema, follows_values=False)
        return opened.publish(opened.stage(resolved), {})
    finally:
        opened.discard()


@pytest.mark.parametrize("kind", ["CSV", "PARQUET", "JSONL"])
def test_a_file_is_replaced_whole(tmp_path, kind):
    target = tmp_path / "deep" / "er" / "out"
    for size in (2, 1):
        result = write(tmp_path, kind, "deep/er/out", ROWS.slice(0, size))
        assert (result.rows_written, result.rows_after, result.snapshot_id) == (size, size, None)
        assert (result.mode, result.table_identifier, result.bytes) == (
            "overwrite",
            str(target),
            target.stat().st_size,
        )
    assert [path.name for path in target.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("kind", ["CSV", "PARQUET", "JSONL"])
def test_what_is_not_published_is_not_there(tmp_path, kind):
    (tmp_path / "out").write_text("old")
    opened = session(tmp_path, kind, "out", ROWS)
    staged = opened.stage(opened.resolve("SELECT * FROM src", ROWS.schema, follows_values=False))
    assert opened.ctx.con.execute(f"SELECT id, __row FROM ({staged.ordered_sql})").fetchall() == [
        (1, 0),
        (2, 1),
    ]
    opened.discard()
    opened.discard()
    assert (tmp_path / "out").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "scratch"]
    with pytest.raises(NoData):
        write(tmp_path, kind, "out", ROWS.slice(0, 0))
    with pytest.raises(ConfigError, match="a file is replaced whole"):
        write(tmp_path, kind, "out", mode="append")
    with pytest.raises(ConfigError, match="is a folder"):
        write(tmp_path, kind, "scratch")
    assert (tmp_path / "out").read_text() == "old"


def test_csv_keeps_null_and_empty_apart_and_has_options(tmp_path):
    write(tmp_path, "CSV", "a.csv")
    assert (tmp_path / "a.csv").read_text() == (
        'id,name,empty,d,at\n1,"a,""b""\nc","",1.50,2026-08-01 00:00:00+00\n2,,x,,\n'
    )
    small = pa.table({"a": [1], "b": [None]}, pa.schema([("a", pa.int64()), ("b", pa.string())]))
    write(tmp_path, "CSV", "b.csv", small, delimiter=";", header=False, null_value="NA")
    assert (tmp_path / "b.csv").read_text() == "1;NA\n"


def test_jsonl_is_an_object_a_row(tmp_path):
    write(tmp_path, "JSONL", "a.jsonl", pa.table({"id": [1], "s": [{"x": [1, 2]}]}))
    assert (tmp_path / "a.jsonl").read_text() == '{"id":1,"s":{"x":[1,2]}}\n'


def test_permissions_and_links_survive(tmp_path):
    real = tmp_path / "real.csv"
    real.write_text("x")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(real)
    write(tmp_path, "CSV", "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert real.read_text().startswith("id,")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize(("kind", "path"), [(CSV, "x/a.csv"), (CSV, "a.csv.gz"), (Parquet, "x/a.parquet")])
def test_formats_get_what_was_put(tmp_path, kind, path):
    made = kind("rides", path, tmp_path)
    with pytest.raises(FileNotFoundError, match=str(tmp_path / path)):
        made.get()
    for nothing in (None, ROWS.slice(0, 0)):
        with pytest.raises(ValueError, match="No data to write"):
            made.put(nothing)
    assert list(tmp_path.iterdir()) == []
    assert made.put(ROWS.select(["id", "empty"])) == 2
    assert made.get().select(["id", "empty"]).to_pylist() == ROWS.select(["id", "empty"]).to_pylist()
    assert made.put(ROWS.slice(0, 0), allow_empty=True) == 0
    assert made.get().num_rows == 0


def test_json(tmp_path):
    made = Json("q", "q.json", tmp_path)
    with pytest.raises(FileNotFoundError):
        made.get()
    with pytest.raises(ValueError, match="No data"):
        made.put({})
    made.put({"query": "SELECT 1"})
    assert made.get() == {"query": "SELECT 1"}
    (tmp_path / "q.json").write_text("{\n bad")
    with pytest.raises(ConfigError, match=r"q\.json:2"):
        made.get()


def test_iceberg_class(tmp_path):
    made = Iceberg("rides", {"identifier": "nyc", "warehouse_path": "wh"}, base_dir=tmp_path)
    assert (made.identifier, made.exists()) == ("nyc.rides", False)
    for nothing in (None, ROWS.slice(0, 0)):
        with pytest.raises(ValueError, match="No data"):
            made.put(nothing)
    assert list(tmp_path.iterdir()) == []
    first = made.put(ROWS)
    made.put(ROWS.to_reader(), "overwrite")
    made.put([{"id": 9}])
    assert (made.exists(), made.row_count()) == (True, 3)
    assert made.get(first.snapshot_id).sort_by("id") == ROWS.sort_by("id")
    assert made.get(row_filter="id = 9", selected_fields=["id"]).to_pylist() == [{"id": 9}]
    assert made.get(limit=1).num_rows == 1
    assert [item["operation"] for item in made.snapshots()] == ["append", "overwrite", "append"]
    assert set(made.snapshots()[0]) == {"snapshot_id", "parent_id", "timestamp_ms", "operation", "summary"}
    with pytest.raises(ConfigError, match="needs join_cols"):
        made.put(ROWS, "upsert")
    with pytest.raises(ConfigError, match="cannot write a int"):
        made.put(3)


def test_types_that_the_engine_does_not_read_are_put_all_the_same(tmp_path):
    data = pa.table(
        {
            "h": pa.array([1.5], pa.float16()),
            "w": pa.array([Decimal(7)], pa.decimal256(20, 0)),
            "n": pa.array([[{"h": 2.5}]], pa.list_(pa.struct([("h", pa.float16())]))),
        }
    )
    made = Iceberg("t", catalog={"identifier": "n", "warehouse_path": str(tmp_path)})
    made.put(data)
    made.put(data.to_reader())
    assert made.get().to_pylist() == [{"h": 1.5, "w": Decimal(7), "n": [{"h": 2.5}]}] * 2


def test_missing_lists_and_maps_of_structs_stay_missing(tmp_path):
    inner = pa.struct([("k", pa.int64())])
    data = pa.table(
        {
            "id": [1, 2, 3],
            "l": pa.array([None, [], [{"k": 1}]], pa.list_(inner)),
            "m": pa.array([None, [], [("a", {"k": 1})]], pa.map_(pa.string(), inner)),
        }
    )
    made = Iceberg("t", catalog={"identifier": "n", "warehouse_path": str(tmp_path)})
    first = made.put(data)
    made.put(data)
    assert made.get(first.snapshot_id).to_pylist() == data.to_pylist()
    assert made.get(row_filter="id < 3", selected_fields=["l"], limit=2).num_rows == 2
    assert (
        made.get(row_filter="id = 1", selected_fields=["m", "l"]).to_pylist() == [{"l": None, "m": None}] * 2
    )
