"""Files that DuckDB reads otherwise than everybody else, and lists that cannot be read."""

from __future__ import annotations

import base64
import datetime as dt
import zlib
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.errors import LDPError, QueryError
from ldp_core.fs import local_path
from ldp_core.tables.scan import plan_scan, scan_sql
from ldp_core.testing import deletes
from ldp_maintenance import Doing, Expire, Policy, Rewrite, Target, expire_snapshots, rewrite_data_files
from ldp_maintenance.model import Outcome
from ldp_maintenance.testing import builders, looks
from pyiceberg.avro.file import AvroOutputFile
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, ListType, LongType, NestedField, StringType, TimestampType

# Rows (1, [1, 2]), (2, []), (3, None), (4, [3]) with field ids 1, 2 and 3, as
# `optional group held (LIST) { repeated int64 array; }`.
TWO_LEVELS = (
    b"eNp1kMFqwkAQhieT7bJ4nyUre8gli0KUWognLx6VHELBBwgaULB1u2pL+6g99kmcaMD20IHhX4b/+9mZav48IaCSypwUPyR"
    b"JCwDIraIIboWdxp2KTtm/pGVOvb9gjK0x7uN/PAlTFpDI43rbvNQkeJBhgrvNCqHARGyb/YaQZCHs7GrPRPJQh1B/riRoZa"
    b"zJHVhOySSYliOe6qCDUwtL7bcQZkNpHCjG79bBNfmWxEhPe+3d1y/EKTRTRMmU/om0cooFBqmvw9u5OY3W3o+YPnyk70047"
    b"g6v6dN0/DiemJx3b9f/5q74pBc1gSwK"
)


def _rewrite(table: Table) -> Outcome:
    policy = Policy(rewrite=Rewrite(skip_newest=None))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True))
    table.refresh()
    return outcome


def test_lists_of_two_levels_with_field_ids_are_not_read_as_null(tmp_path: Path) -> None:
    held = ListType(3, LongType(), element_required=True)
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "held", held))
    table = builders.catalog(tmp_path).create_table(("db", "t"), schema)
    paths = [local_path(f"{table.location()}/data/{number}.parquet") for number in range(2)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(base64.b64decode(TWO_LEVELS)))
    builders.take(table, paths)
    before = looks.rows(table)
    assert before == sorted([(1, [1, 2]), (2, []), (3, None), (4, [3])] * 2)
    _rewrite(table)
    assert looks.rows(table) == before


def test_nanoseconds_are_cut_to_microseconds_as_everybody_cuts_them(tmp_path: Path) -> None:
    """Files of pandas, say, without field ids: their timestamps are in nanoseconds."""
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "at", TimestampType()))
    names = {"schema.name-mapping.default": schema.name_mapping.model_dump_json()}
    table = builders.catalog(tmp_path).create_table(("db", "t"), schema, properties=names)
    paths = [local_path(f"{table.location()}/data/{number}.parquet") for number in range(2)]
    at = pa.array([1_704_067_199_999_999_999, 1_500, None], pa.int64()).cast(pa.timestamp("ns"))
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": [1, 2, 3], "at": at}), path)
    builders.take(table, paths)
    before = looks.rows(table)
    _rewrite(table)
    assert looks.rows(table) == before


def test_data_under_position_deletes_of_another_format_does_not_hold_the_others_back(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    paths = builders.small_files(table, 4)
    made = deletes.delete_file(table, deletes.positions((paths[0], 1)), bounds=paths[0])
    path = made.file_path.replace(".parquet", ".avro")
    positions = Schema(
        NestedField(2147483546, "file_path", StringType(), required=True),
        NestedField(2147483545, "pos", LongType(), required=True),
    )
    with AvroOutputFile[Record](table.io.new_output(path), positions, "delete") as out:
        out.write_block([Record(paths[0], 1)])
    file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=path,
        file_format=FileFormat.AVRO,
        partition=Record(),
        record_count=1,
        file_size_in_bytes=local_path(path).stat().st_size,
        lower_bounds=made.lower_bounds,
        upper_bounds=made.upper_bounds,
    )
    file.spec_id = 0
    deletes.commit(table, file)
    with duckdb.connect() as con, pytest.raises(QueryError, match=r"position deletes .* cannot be read"):
        scan_sql(con, plan_scan(table.metadata, table.io))
    outcome = _rewrite(table)
    assert outcome.status == "done", outcome.reason
    assert "1 file left alone: they, or the deletes of their rows, are not Parquet" in outcome.lines
    assert paths[0] in looks.live_files(table)
    assert len(looks.live_files(table)) == 2


def test_a_manifest_list_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    must = Schema(
        NestedField(500, "manifest_path", StringType(), required=True),
        NestedField(501, "manifest_length", LongType(), required=True),
        NestedField(502, "partition_spec_id", IntegerType(), required=True),
        NestedField(503, "added_snapshot_id", LongType(), required=True),
    )
    table = builders.table(builders.catalog(tmp_path), format_version=1)
    paths = builders.small_files(table, 2)
    builders.overwrite(table, paths[0], [1, 2])
    for snapshot in table.metadata.snapshots:
        rows = [
            Record(m.manifest_path, m.manifest_length, m.partition_spec_id, m.added_snapshot_id)
            for m in snapshot.manifests(table.io)
        ]
        with AvroOutputFile[Record](
            table.io.new_output(snapshot.manifest_list), must, "manifest_file"
        ) as out:
            out.write_block(rows)
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=20)
    policy = Policy(expire=Expire(max_snapshot_age_days=1))
    with pytest.raises(LDPError, match="the manifest list"):
        expire_snapshots(Target(table.catalog, ("db", "t"), policy), Doing(True, clock=lambda: later))
