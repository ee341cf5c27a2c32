"""Loads into Iceberg tables through the target's session, on real catalogs."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core import _duck
from ldp_core._progress import SILENT
from ldp_core.catalogs import load_table
from ldp_core.config import Config
from ldp_core.errors import CommitConflict, ConfigError, DriftError, LDPError, NoData
from ldp_core.ids import new_id
from ldp_core.spi import RunContext, Spec
from ldp_core.targets.formats import Iceberg
from ldp_core.targets.iceberg import TARGET

CATALOG = {"type": "local", "identifier": "nyc", "warehouse_path": "wh"}


class Run:
    """A session over a table in memory, one step at a time."""

    def __init__(self, folder: Path, data: pa.Table, mode=None, follows_values=False, tell=None, **target):
        scratch = folder / "scratch" / new_id()
        scratch.mkdir(parents=True)
        self.con = _duck.connect(temp_directory=scratch)
        self.con.register("src", data)
        self.warnings: list[str] = []
        self.data = data
        self.follows = follows_values
        self.ctx = RunContext(self.con, folder, scratch, new_id(), 1, SILENT, self.warnings.append)
        self.spec = Spec({"name": "rides", "catalog": CATALOG, **target}, folder, "metadata.target")
        self.session = TARGET.open(self.spec, self.ctx, mode)
        if tell:
            self.session.tell(**tell)

    def stage(self):
        resolved = self.session.resolve("SELECT * FROM src", self.data.schema, follows_values=self.follows)
        self.notes = resolved.notes
        return self.session.stage(resolved)

    def load(self):
        try:
            return self.session.publish(self.stage(), {"ldp.run-id": self.ctx.run_id})
        finally:
            self.session.discard()
            self.con.close()


@contextmanager
def staged(folder, data, **options):
    run = Run(folder, data, **options)
    try:
        yield run, run.stage()
    finally:
        run.session.discard()


def table(folder: Path):
    return load_table(Spec(CATALOG, folder), "rides")


def rows(folder: Path, key="id"):
    return sorted(table(folder).scan().to_arrow().to_pylist(), key=lambda row: (row[key] is None, row[key]))


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if "scratch" not in path.parts)


RIDES = pa.table({"id": [1, 2, 3], "city": ["NYC", "BKK", None]})


def test_append_twice_and_overwrite(tmp_path):
    first = Run(tmp_path, RIDES).load()
    assert (first.rows_before, first.rows_written, first.rows_after, first.mode) == (0, 3, 3, "append")
    assert (first.table_identifier, first.files) == ("nyc.rides", 1)
    second = Run(tmp_path, RIDES).load()
    assert (second.rows_before, second.rows_after) == (3, 6)
    third = Run(tmp_path, RIDES, "overwrite").load()
    assert (third.rows_before, third.rows_written, third.rows_after) == (6, 3, 3)
    assert rows(tmp_path) == RIDES.to_pylist()
    made = table(tmp_path)
    assert made.metadata.format_version == 2
    assert made.properties["write.metadata.delete-after-commit.enabled"] == "true"
    assert made.properties["write.metadata.previous-versions-max"] == "20"
    assert made.current_snapshot().snapshot_id == third.snapshot_id
    assert len(made.metadata.snapshots) == 3


def test_a_batch_can_be_judged_before_anybody_sees_it(tmp_path):
    Run(tmp_path, RIDES).load()
    with staged(tmp_path, RIDES.slice(0, 2)) as (run, batch):
        assert run.con.execute(f"SELECT * FROM ({batch.sql}) ORDER BY id").fetchall() == [
            (1, "NYC"),
            (2, "BKK"),
        ]
        ordered = run.con.execute(f"SELECT id, __row FROM ({batch.ordered_sql}) ORDER BY __row").fetchall()
        assert ordered == [(1, 0), (2, 1)]
        assert (batch.rows, batch.rows_in, batch.files) == (2, 2, 1)
        assert len(rows(tmp_path)) == 3
    assert len(rows(tmp_path)) == 3


def test_a_run_that_publishes_nothing_leaves_nothing_behind(tmp_path):
    with staged(tmp_path, RIDES, partition_by=[{"column": "city"}]):
        assert any("parquet" in name for name in files(tmp_path))
        assert not (tmp_path / "wh" / "nyc_catalog.db").exists()
    assert files(tmp_path) == []
    with pytest.raises(ConfigError, match="transform day cannot apply to column 'city' of type string"):
        Run(tmp_path, RIDES, partition_by=[{"column": "city", "transform": "day"}]).load()
    with pytest.raises(NoData):
        Run(tmp_path, RIDES.slice(0, 0)).load()
    assert files(tmp_path) == []
    Run(tmp_path, RIDES).load()
    before = files(tmp_path)
    with staged(tmp_path, RIDES, name="other"):
        pass
    with staged(tmp_path, RIDES):
        pass
    assert files(tmp_path) == before


def test_a_value_whose_partition_its_type_cannot_hold_is_one_clear_line(tmp_path):
    data = pa.table({"id": pa.array([5, -(2**31)], pa.int32())})
    least = r"'id_trunc_3': truncate\[3\] of -2147483648 is -2147483649, which int cannot hold"
    with pytest.raises(LDPError, match=least):
        Run(tmp_path, data, partition_by=[{"column": "id", "transform": "truncate[3]"}]).load()
    assert files(tmp_path) == []


def test_another_partitioning_of_an_existing_table_only_warns(tmp_path):
    data = pa.table({"id": [1, 2], "ts": [datetime(2026, 8, 1), datetime(1969, 12, 31, 23)]})
    Run(tmp_path, data, partition_by=[{"column": "ts", "transform": "day"}]).load()
    again = Run(tmp_path, data, partition_by=[{"column": "ts", "transform": "month"}])
    again.load()
    assert "partitioned by day(ts)" in again.warnings[0]
    assert [field.name for field in table(tmp_path).spec().fields] == ["ts_day"]
    assert len(rows(tmp_path)) == 4


def test_a_new_column_and_a_wider_type_arrive_in_the_same_commit(tmp_path):
    Run(tmp_path, pa.table({"id": pa.array([1], pa.int32())})).load()
    second = Run(
        tmp_path,
        pa.table({"id": pa.array([2], pa.int64()), "tip": [1.5]}),
        tell={"docs": {"columns": {"tip": "paid"}}},
    )
    second.load()
    assert rows(tmp_path) == [{"id": 1, "tip": None}, {"id": 2, "tip": 1.5}]
    made = table(tmp_path)
    assert len(made.metadata.snapshots) == 2
    assert made.schema().find_field("tip").doc == "paid"
    assert set(second.notes) == {"column id widened from int to long", "new column tip (double)"}
    Run(tmp_path, pa.table({"id": pa.array([3], pa.int16())})).load()
    assert [row["id"] for row in rows(tmp_path)] == [1, 2, 3]


def test_docs_go_into_the_table(tmp_path):
    docs = {"description": "Rides", "owner": "ops", "primary_key": ["id"], "columns": {"id": "The ride"}}
    Run(tmp_path, RIDES, tell={"docs": docs}).load()
    made = table(tmp_path)
    assert made.properties["comment"] == "Rides"
    assert made.properties["ldp.docs.primary-key"] == '["id"]'
    assert made.schema().find_field("id").doc == "The ride"
    Run(tmp_path, RIDES, tell={"docs": {**docs, "owner": "data", "columns": {"id": "Its id"}}}).load()
    made = table(tmp_path)
    assert (made.properties["owner"], made.schema().find_field("id").doc) == ("data", "Its id")


def test_a_value_that_does_not_fit_is_named_with_its_row(tmp_path):
    Run(tmp_path, pa.table({"id": [1], "n": [1]})).load()
    before = files(tmp_path)
    bad = pa.table({"id": [1, 2, 3], "n": ["1", "2", "x7"]})
    with pytest.raises(DriftError, match="column 'n', row 3: 'x7' cannot be stored as BIGINT"):
        Run(tmp_path, bad, follows_values=True).load()
    assert files(tmp_path) == before


def test_the_loss_report_counts(tmp_path):
    data = pa.table(
        {
            "t": pa.array([1, 1000, None], pa.timestamp("ns")),
            "c": pa.array(["a", "b", "a"]).dictionary_encode(),
        }
    )
    result = Run(tmp_path, data).load()
    assert {(loss.column, loss.kind, loss.changed) for loss in result.losses} == {
        ("t", "ns_to_us", 1),
        ("c", "dictionary_decoded", 0),
    }


def test_two_runs_at_once_both_land(tmp_path):
    Run(tmp_path, RIDES).load()
    one, two = Run(tmp_path, RIDES), Run(tmp_path, RIDES)
    first, second = one.stage(), two.stage()
    assert two.session.publish(second, {}).rows_after == 6
    done = one.session.publish(first, {})
    assert (done.rows_before, done.rows_after) == (6, 9)
    assert len(rows(tmp_path)) == 9


def test_two_runs_that_both_make_the_table(tmp_path):
    one, two = Run(tmp_path, RIDES), Run(tmp_path, RIDES)
    first, second = one.stage(), two.stage()
    two.session.publish(second, {})
    one.session.publish(first, {})
    one.session.discard()
    two.session.discard()
    assert len(rows(tmp_path)) == 6


def test_a_schema_that_changed_meanwhile_is_a_conflict(tmp_path):
    Run(tmp_path, pa.table({"id": [1]})).load()
    slow = Run(tmp_path, pa.table({"id": [2], "a": ["x"]}))
    batch = slow.stage()
    Run(tmp_path, pa.table({"id": [3], "b": [1.5]})).load()
    with pytest.raises(CommitConflict, match="schema of nyc"):
        slow.session.publish(batch, {})
    slow.session.discard()
    Run(tmp_path, pa.table({"id": [2], "a": ["x"]})).load()
    same = Run(tmp_path, pa.table({"id": [4], "c": [True]}))
    batch = same.stage()
    Run(tmp_path, pa.table({"id": [5], "c": [False]})).load()
    same.session.publish(batch, {})
    same.session.discard()
    assert [row["c"] for row in rows(tmp_path)] == [None, None, None, True, False]


def test_upsert_keeps_one_row_a_key(tmp_path):
    Run(tmp_path, RIDES, "upsert", join_cols=["id"]).load()
    data = pa.table({"id": [2, 3, 4], "city": ["BKK", "PAR", "BER"]})
    result = Run(tmp_path, data, "upsert", join_cols=["id"]).load()
    assert (result.rows_written, result.rows_unchanged, result.rows_before, result.rows_after) == (2, 1, 3, 4)
    assert [row["city"] for row in rows(tmp_path)] == ["NYC", "BKK", "PAR", "BER"]
    snapshots = len(table(tmp_path).metadata.snapshots)
    again = Run(tmp_path, data, "upsert", join_cols=["id"]).load()
    assert (again.rows_written, again.rows_unchanged, again.rows_after) == (0, 3, 4)
    assert len(table(tmp_path).metadata.snapshots) == snapshots


def test_upsert_refuses_two_rows_of_a_key_unless_told_which_wins(tmp_path):
    data = pa.table({"id": [1, 1, 2], "v": ["old", "new", "x"], "at": [5, 1, 1]})
    with pytest.raises(DriftError, match="duplicate"):
        Run(tmp_path, data, "upsert", join_cols="id").load()
    assert files(tmp_path) == []
    result = Run(tmp_path, data, "upsert", join_cols="id", dedupe="last").load()
    assert (result.rows_deduplicated, [row["v"] for row in rows(tmp_path)]) == (1, ["new", "x"])
    Run(tmp_path, data, "upsert", join_cols="id", dedupe="LAST", order_by=["at"]).load()
    assert [row["v"] for row in rows(tmp_path)] == ["old", "x"]
    with pytest.raises(DriftError, match="join_cols has the column 'nope'"):
        Run(tmp_path, data, "upsert", join_cols="nope").load()


def test_overwrite_of_a_partitioned_table_replaces_all_rows(tmp_path):
    for _ in range(2):
        result = Run(tmp_path, RIDES, "overwrite", partition_by=[{"column": "city"}]).load()
    assert (result.rows_before, result.rows_after, result.files) == (3, 3, 3)
    assert rows(tmp_path) == RIDES.to_pylist()


def test_problems_need_no_table(tmp_path):
    def found(**values):
        return [p.key for p in TARGET.problems(Spec({"name": "r", "catalog": CATALOG, **values}, tmp_path))]

    assert found() == []
    assert found(write_mode="UPSERT") == ["join_cols"]
    assert found(dedupe="first") == ["dedupe"]
    assert found(join_cols=["a", "a"], write_mode="upsert") == ["join_cols"]
    assert found(order_by=["a"], join_cols=["a"]) == ["order_by"]
    assert found(partition_by=[{"column": "a", "transform": "week"}]) == ["partition_by"]


def test_describe_looks_and_creates_nothing(tmp_path):
    spec = Spec({"name": "rides", "catalog": CATALOG, "write_mode": "Overwrite"}, tmp_path)
    info = TARGET.describe(spec)
    assert (info.name, info.mode, info.catalog, info.exists) == ("nyc.rides", "overwrite", "local", False)
    assert files(tmp_path) == []
    done = Run(tmp_path, RIDES).load()
    info = TARGET.describe(spec, "append")
    assert (info.exists, info.rows, info.snapshot_id, info.mode) == (True, 3, done.snapshot_id, "append")


def test_a_mode_that_is_none(tmp_path):
    with pytest.raises(ConfigError, match="unknown write_mode 'merge'"):
        Run(tmp_path, RIDES, "merge")
    with pytest.raises(ConfigError, match="needs join_cols"):
        Run(tmp_path, RIDES, "upsert")


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "i": st.none() | st.integers(-50, 50),
                "s": st.none() | st.text("aé😀z", max_size=20),
                "x": st.none() | st.floats(-2, 2, width=16) | st.just(float("nan")),
                "t": st.none() | st.datetimes(datetime(1969, 12, 30), datetime(1970, 1, 3)),
            }
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["i", "s", "x", "t", None]),
    st.integers(-50, 50),
    st.text("aé😀z", max_size=18),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_filters_that_prune_find_every_row(tmp_path_factory, found, column, number, text):
    folder = tmp_path_factory.mktemp("t")
    schema = pa.schema(
        [("i", pa.int64()), ("s", pa.string()), ("x", pa.float64()), ("t", pa.timestamp("us"))]
    )
    data = pa.Table.from_pylist(found, schema)
    target = Iceberg("r", CATALOG, base_dir=folder, partition_by=[{"column": column}] if column else None)
    target.put(data)
    day = datetime(1970, 1, 1)
    cases = {
        f"i > {number}": pc.field("i") > number,
        f"i = {number}": pc.field("i") == number,
        f"s >= '{text}'": pc.field("s") >= text,
        f"s = '{text}'": pc.field("s") == text,
        "x <= 0.0": pc.field("x") <= 0.0,
        "x >= 0.0": pc.field("x") >= 0.0,
        "t < '1970-01-01T00:00:00'": pc.field("t") < pa.scalar(day, pa.timestamp("us")),
        "i is null": pc.field("i").is_null(),
        "s is not null": pc.field("s").is_valid(),
    }
    for row_filter, oracle in cases.items():
        assert target.get(row_filter=row_filter).num_rows == data.filter(oracle).num_rows, row_filter
    assert target.row_count() == len(found)


def test_errors_are_of_the_projects_tree(tmp_path):
    assert issubclass(NoData, LDPError)
    assert issubclass(NoData, ValueError)


def registered(folder: Path, data: pa.Table, *paths: Path, **target):
    """Load Parquet files that are the whole batch."""
    run = Run(folder, data, tell={"files": [str(path) for path in paths]}, **target)
    listed = ", ".join(f"'{path}'" for path in paths)
    try:
        resolved = run.session.resolve(
            f"SELECT * FROM read_parquet([{listed}])", pq.read_schema(paths[0]), follows_values=False
        )
        return run.session.publish(run.session.stage(resolved), {})
    finally:
        run.session.discard()


def same_bytes(folder: Path, path: Path) -> bool:
    return any(found.read_bytes() == path.read_bytes() for found in (folder / "wh").rglob("*.parquet"))


def test_suitable_parquet_files_are_copied_byte_for_byte(tmp_path):
    one, two = tmp_path / "1.parquet", tmp_path / "2.parquet"
    pq.write_table(RIDES, one)
    pq.write_table(RIDES.slice(0, 1), two)
    result = registered(tmp_path, RIDES, one, two)
    assert (result.rows_after, result.files) == (4, 2)
    assert same_bytes(tmp_path, one)
    assert same_bytes(tmp_path, two)
    assert rows(tmp_path) == sorted([*RIDES.to_pylist(), RIDES.to_pylist()[0]], key=lambda row: row["id"])
    assert table(tmp_path).scan(row_filter="id > 2").to_arrow().to_pylist() == [{"id": 3, "city": None}]
    with table(tmp_path).update_schema() as update:
        update.rename_column("city", "town")
    Run(tmp_path, pa.table({"id": [9], "town": ["x"], "city": ["new"]})).load()
    assert rows(tmp_path)[-1] == {"id": 9, "town": "x", "city": "new"}
    assert rows(tmp_path)[0] == {"id": 1, "town": "NYC", "city": None}
    data = pa.table({"id": [10], "town": ["t"], "city": ["c"]})
    pq.write_table(data, tmp_path / "3.parquet")
    registered(tmp_path, data, tmp_path / "3.parquet")
    assert not same_bytes(tmp_path, tmp_path / "3.parquet")
    assert rows(tmp_path)[-1] == {"id": 10, "town": "t", "city": "c"}


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"id": [1], "t": pa.array([1], pa.timestamp("ns"))}),
        pa.table({"id": [1], "c": pa.array(["a"]).dictionary_encode()}),
        pa.table({"id": [1], "u": pa.array([1], pa.uint32())}),
        pa.table({"id": [1], "s": [{"x": 1}]}),
    ],
)
def test_files_that_do_not_suit_are_rewritten(tmp_path, data):
    path = tmp_path / "1.parquet"
    pq.write_table(data, path)
    assert registered(tmp_path, data, path).rows_after == 1
    assert not same_bytes(tmp_path, path)
    assert table(tmp_path).scan().to_arrow()["id"].to_pylist() == [1]


def test_a_file_of_one_partition_is_copied_and_one_with_nulls_besides_is_not(tmp_path):
    by_day = [{"column": "ts", "transform": "day"}]
    for stamps, copied in (
        ([datetime(2026, 8, 1), datetime(2026, 8, 1, 23)], True),
        ([None, None], True),
        ([datetime(2026, 8, 1), None], False),
        ([datetime(2026, 8, 1), datetime(2026, 8, 2)], False),
    ):
        data = pa.table({"id": [1, 2], "ts": pa.array(stamps, pa.timestamp("us"))})
        path = tmp_path / f"{new_id()}.parquet"
        pq.write_table(data, path)
        registered(tmp_path, data, path, partition_by=by_day)
        assert same_bytes(tmp_path, path) == copied
    assert table(tmp_path).scan(row_filter="ts is null").to_arrow().num_rows == 3
    assert table(tmp_path).scan(row_filter="ts >= '2026-08-01T00:00:00'").to_arrow().num_rows == 5


@pytest.mark.parametrize("name", ["../../esc", "a/b", "a\\b", "..", ".", "a\nb"])
@pytest.mark.parametrize("kind", ["local", "sql"])
def test_no_name_leads_out_of_the_warehouse(tmp_path: Path, kind: str, name: str) -> None:
    place = tmp_path / "deep" / "wh"
    local = {"identifier": "nyc", "warehouse_path": str(place)}
    sql = {"type": "sql", "uri": f"sqlite:///{tmp_path}/cat.db", "warehouse": str(place), "namespace": "nyc"}
    catalog = local if kind == "local" else sql
    with pytest.raises(ConfigError, match="names a folder"):
        Iceberg(name, catalog).put(pa.table({"id": [1]}))
    metadata = {
        "source": {"name": "r", "format": "CSV", "path": "r.csv"},
        "target": {"name": name, "format": "ICEBERG", "catalog": catalog},
    }
    problems = Config.from_dict({"identifier": "r", "metadata": metadata}, tmp_path).problems()
    assert [problem.key for problem in problems] == ["metadata.target.name"]
    if kind == "sql" and "/" in name:
        with pytest.raises(ConfigError, match="names a folder"):
            Iceberg("rides", {**sql, "namespace": name.replace("..", "x")}).put(pa.table({"id": [1]}))
    assert list(tmp_path.iterdir()) == []
