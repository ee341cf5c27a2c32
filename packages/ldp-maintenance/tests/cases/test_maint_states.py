"""All that is due, by the command, on tables of odd states: rows stay, and a second run does nothing."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_cli.main import main
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Change
from ldp_core.commit.publish import publish
from ldp_core.fs import local_path
from ldp_maintenance.testing import builders, looks
from ldp_maintenance.testing.three import v3_table
from pyiceberg import types as ice
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (
    BucketTransform,
    HourTransform,
    IdentityTransform,
    Transform,
    TruncateTransform,
    VoidTransform,
    YearTransform,
)
from pyiceberg.typedef import Record
from pyiceberg.utils.datetime import date_to_days, datetime_to_micros

Run = Callable[..., tuple[int, dict[str, Any], str]]
STATES: dict[str, Callable[[Any], Any]] = {}


def state(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    STATES[make.__name__] = make
    return make


def put(table: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Append a file without statistics for each partition; pyiceberg alone cannot for every transform."""
    base = load_base(table.catalog, table.name())
    schema, spec = base.metadata.schema(), base.metadata.spec()
    parts: dict[str, tuple[Record, list[dict[str, Any]]]] = {}
    for row in rows:
        values = []
        for field in spec.fields:
            kind, value = schema.find_type(field.source_id), row[schema.find_column_name(field.source_id)]
            values.append(field.transform.transform(kind)(_plain(kind, value)))
        parts.setdefault(repr(values), (Record(*values), []))[1].append(row)
    files = []
    for record, held in parts.values():
        path = f"{table.location()}/data/{uuid.uuid4()}.parquet"
        local_path(path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(held, schema=schema_to_pyarrow(schema)), local_path(path))
        size = local_path(path).stat().st_size
        given = {"file_path": path, "file_size_in_bytes": size, "record_count": len(held)}
        files.append(
            DataFile.from_args(
                content=DataFileContent.DATA, file_format=FileFormat.PARQUET, partition=record, **given
            )
        )
        files[-1].spec_id = spec.spec_id
    publish(base, lambda _: Change("append", added=tuple(files)))
    table.refresh()


def _plain(kind: Any, value: Any) -> Any:
    """A value as Iceberg's transforms take it."""
    if isinstance(value, dt.datetime):
        return datetime_to_micros(value)
    if isinstance(value, dt.date):
        return date_to_days(value)
    return uuid.UUID(bytes=value) if value and isinstance(kind, ice.UUIDType) else value


def of_values(kind: Any, transform: Transform[Any, Any], values: Sequence[Any], partitions: int) -> Any:
    """A table that is partitioned by a column of some values, two files of each."""

    def make(cat: Any) -> Any:
        schema = Schema(ice.NestedField(1, "id", ice.LongType()), ice.NestedField(2, "p", kind))
        spec = PartitionSpec(PartitionField(2, 1000, transform, "part"))
        table = cat.create_table(("db", "t"), schema, partition_spec=spec)
        for _ in range(2):
            put(table, [{"id": number, "p": value} for number, value in enumerate(values)])
        return table, partitions

    return make


_WHEN = [
    dt.datetime(1969, 12, 31, 23, tzinfo=dt.UTC),
    dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    dt.datetime(2024, 1, 1, 1, tzinfo=dt.UTC),
    None,
]
_ODD = ["a/b=c", "%2F", "", "null", None, "it's", "ü\n"]
_SAME = IdentityTransform()
PARTITIONS = {
    "bucket": (ice.LongType(), BucketTransform(2), [None, 5, -7, 0, 9], 3),
    "bucket_uuid": (ice.UUIDType(), BucketTransform(64), [uuid.UUID(int=5).bytes, None], 2),
    "truncate_text": (ice.StringType(), TruncateTransform(2), ["é漢x", "é漢y", "", None], 3),
    "truncate_long": (ice.LongType(), TruncateTransform(10), [-15, -11, 7, None], 3),
    "truncate_decimal": (
        ice.DecimalType(9, 2),
        TruncateTransform(50),
        [decimal.Decimal("-1.05"), decimal.Decimal("9.99"), None],
        3,
    ),
    "hour": (ice.TimestamptzType(), HourTransform(), _WHEN, 4),
    "year": (ice.TimestamptzType(), YearTransform(), _WHEN, 3),
    "void": (ice.StringType(), VoidTransform(), ["x", None], 1),
    "nan": (ice.DoubleType(), _SAME, [float("nan"), 1.5, None], 3),
    "signed_zeros": (ice.FloatType(), _SAME, [0.0, -0.0], 2),
    "text": (ice.StringType(), _SAME, _ODD, 7),
    "bytes": (ice.BinaryType(), _SAME, [b"\x00\xff", b"", None], 3),
    "fixed": (ice.FixedType(4), _SAME, [b"abcd", None], 2),
    "uuid": (ice.UUIDType(), _SAME, [uuid.UUID(int=5).bytes, None], 2),
    "before_1970": (ice.DateType(), _SAME, [dt.date(1969, 12, 31), dt.date(1, 1, 1), None], 3),
    "boolean": (ice.BooleanType(), _SAME, [True, False, None], 3),
}
for name, given in PARTITIONS.items():
    STATES[f"by_{name}"] = of_values(*given)


@state
def dropped_partition_column(cat: Any) -> Any:
    table = builders.table(cat, partition="identity")
    builders.small_files(table, 2)
    builders.small_files(table, 2, city="LA", first=50)
    with table.update_spec() as spec:
        spec.remove_field("city")
    with table.update_schema() as schema:
        schema.delete_column("city")
    put(table, [{"id": 1000}])
    put(table, [{"id": 1001}])
    return table, 3


@state
def swapped_and_promoted_columns(cat: Any) -> Any:
    fields = (ice.NestedField(1, "a", ice.IntegerType()), ice.NestedField(2, "b", ice.FloatType()))
    table = cat.create_table(("db", "t"), Schema(*fields))
    put(table, [{"a": 1, "b": 1.1}])
    put(table, [{"a": -2, "b": None}])
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        with table.update_schema() as update:
            update.rename_column(old, new)
    with table.update_schema() as update:
        update.update_column("a", ice.DoubleType())
        update.update_column("b", ice.LongType())
    table.refresh()
    put(table, [{"b": 2**40, "a": 2.2}])
    return table, 1


@state
def columns_that_differ_in_case(cat: Any) -> Any:
    kinds = {"Id": ice.LongType(), "ID": ice.StringType(), "id": ice.DoubleType()}
    fields = [ice.NestedField(n, name, kind) for n, (name, kind) in enumerate(kinds.items(), 1)]
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p"))
    table = cat.create_table(("db", "t"), Schema(*fields), partition_spec=spec)
    for _ in range(3):
        put(table, [{"Id": 1, "ID": "x", "id": 1.5}, {"Id": 2, "ID": None, "id": None}])
    return table, 2


@state
def files_without_rows_or_field_ids(cat: Any) -> Any:
    table = builders.table(cat)
    builders.small_files(table, 1)
    for number, rows in enumerate(([], [], [{"id": 1, "amount": 1.0}], [{"id": 1, "amount": None}])):
        schema = pa.schema([("id", pa.int64()), ("amount", pa.float64())])
        path = f"{table.location()}/data/loose{number}.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), local_path(path))
        table.add_files([path])
    return table, 1


@state
def nothing_at_all(cat: Any) -> Any:
    return builders.table(cat, partition="day", sorted_by="id"), 0


@state
def deletes_and_no_data(cat: Any) -> Any:
    table = builders.table(cat)
    (path,) = builders.append(table, range(3))
    builders.delete_positions(table, {path: [0]})
    builders.delete_keys(table, [1])
    builders.overwrite(table, path, [])
    return table, 0


@state
def every_row_deleted(cat: Any) -> Any:
    table = builders.table(cat)
    builders.small_files(table, 2, rows=2)
    builders.delete_keys(table, range(4))
    return table, 0


@state
def both_kinds_of_deletes(cat: Any) -> Any:
    table = builders.table(cat, partition="identity")
    near, far = builders.small_files(table, 3), builders.small_files(table, 3, city=None, first=100)
    builders.delete_positions(table, {near[0]: [0, 1], far[0]: [3]}, scoped=False)
    builders.delete_keys(table, [1, 2], partition=Record("NYC"))
    builders.delete_keys(table, [101], partition=Record(None))
    builders.append(table, [1, 2])
    return table, 2


@state
def duplicates(cat: Any) -> Any:
    table = builders.table(cat)
    paths = [builders.append(table, [1, 1, 1])[0] for _ in range(3)]
    builders.delete_positions(table, {paths[0]: [0]})
    return table, 1


@state
def upgraded_from_version_one(cat: Any) -> Any:
    table = builders.table(cat, format_version=1, partition="identity")
    paths = builders.small_files(table, 3)
    with table.transaction() as change:
        change.upgrade_table_version(2)
    table.refresh()
    builders.small_files(table, 2, first=100)
    builders.delete_positions(table, {paths[0]: [1]})
    builders.delete_keys(table, [101], partition=Record("NYC"))
    return table, 1


@state
def version_one_of_three_specs(cat: Any) -> Any:
    table = builders.table(cat, format_version=1, partition="bucket")
    for number, spec in enumerate(("identity", None, "bucket")):
        builders.small_files(table, 2, first=number * 50)
        builders.evolve_spec(table, spec)
    return table, 6


@state
def branches_tags_and_a_rollback(cat: Any) -> Any:
    table = builders.table(cat, partition="identity")
    builders.small_files(table, 3)
    builders.tag(table, "v1")
    builders.branch(table, "dev")
    builders.append(table, [100], branch="dev")
    builders.append(table, [200])
    builders.append(table, [300])
    builders.rollback(table)
    builders.staged(table, [400])
    return table, 1


@state
def a_branch_and_no_main(cat: Any) -> Any:
    table = builders.table(cat)
    for number in range(3):
        builders.append(table, [number], branch="dev")
    return table, 0


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs an operation on ``db.t``: exit code, JSON, standard error."""
    monkeypatch.chdir(tmp_path)
    at = ("--uri", f"sqlite:///{tmp_path}/catalog.db", "--warehouse", f"file://{tmp_path}/warehouse")

    def run(verb: str, *args: str) -> tuple[int, dict[str, Any], str]:
        code = main(["maintain", verb, "db.t", *at, "--catalog", "test", "--json", *args])
        out, err = capsys.readouterr()
        return code, json.loads(out), err

    return run


def seen(table: Any) -> dict[str, list[str]]:
    """The rows of each ref."""
    table.refresh()
    return {ref: [repr(row) for row in looks.rows(table, ref)] for ref in table.metadata.refs}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", sorted(STATES))
def test_maint_state(tmp_path: Path, run: Run, name: str) -> None:
    table, files = STATES[name](builders.catalog(tmp_path))
    before = seen(table)
    left = looks.unreferenced_files(table)
    for _ in range(2):
        code, body, err = run("run", "--skip-newest", "none", "--yes")
        assert (code, err) == (0, "")
        assert seen(table) == before
        assert looks.unreferenced_files(table) <= left
        assert looks.entries_in_manifest_of_wrong_content(table) == 0
    assert {one["status"] for one in body["operations"]} <= {"nothing", "skipped"}
    assert len(looks.live_files(table)) == files
    if name.startswith("by_"):
        return
    code, _, err = run("expire", "--max-snapshot-age-days", "0", "--yes")
    assert (code, err) == (0, "")
    code, _, err = run("remove-orphans", "--older-than-days", "0", "--yes")
    assert (code, err) == (0, "")
    assert seen(table) == before
    assert not looks.unreferenced_files(table)


def test_maint_state_a_branch_and_no_main_is_rewritten(tmp_path: Path, run: Run) -> None:
    table, _ = a_branch_and_no_main(builders.catalog(tmp_path))
    before = seen(table)
    _, body, _ = run("run", "--branch", "dev", "--yes")
    assert body["operations"][2]["added_data_files"] == 1
    assert seen(table) == before
    assert list(table.metadata.refs) == ["dev"]
    _, body, _ = run("run", "--branch", "dev", "--yes")
    assert {one["status"] for one in body["operations"]} <= {"nothing", "skipped"}


@pytest.mark.parametrize("verb", ["compact", "rewrite-manifests", "expire", "remove-dangling-deletes"])
def test_maint_state_version_three_is_refused_and_untouched(tmp_path: Path, run: Run, verb: str) -> None:
    table = v3_table(builders.catalog(tmp_path), "t")
    files, at = looks.files_on_disk(table), table.metadata_location
    age = ("--max-snapshot-age-days", "0") if verb == "expire" else ()
    code, _, err = run(verb, *age, "--yes")
    assert (code, len(err.splitlines())) == (1, 1)
    assert "format version 3" in err
    assert looks.files_on_disk(table) == files
    assert table.refresh().metadata_location == at
