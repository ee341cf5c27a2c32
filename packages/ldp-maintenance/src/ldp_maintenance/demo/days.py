"""Five days of orders that arrive all day long, and what each load does to a table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ldp_core.commit.base import NewTable, load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.publish import publish
from ldp_core.commit.stage import Stage
from ldp_core.fs import local_path

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile

DAYS = 5
LOADS = 12
"""A day."""
ORDERS = 40
"""New ones in a load."""
CHANGES = 4
"""Older ones whose status changes with a load."""
FIRST = datetime(2026, 8, 3)
CUSTOMERS = 50
MODES = {"copy_on_write": "copy-on-write", "merge_on_read": "merge-on-read"}


Row = dict[str, Any]


@dataclass(frozen=True)
class Load:
    """One load.

    Attributes:
        new: Orders, as rows.
        changed: Orders that are known already, as rows: they replace those of the same id.
    """

    new: list[Row]
    changed: list[Row]


def loads(seed: int = 7) -> Iterator[Load]:
    """The loads of five days, in order; the same for the same seed."""
    rng = random.Random(seed)
    known: list[Row] = []
    for number in range(DAYS * LOADS):
        at = FIRST + timedelta(hours=24 * number / LOADS)
        new = [
            {
                "order_id": len(known) + n,
                "customer": f"c{rng.randrange(CUSTOMERS):02}",
                "ordered_at": at + timedelta(seconds=rng.randrange(24 * 3600 // LOADS)),
                "amount": round(rng.uniform(5, 200), 2),
                "status": "open",
            }
            for n in range(ORDERS)
        ]
        picked = rng.sample(
            range(max(0, len(known) - 2 * LOADS * ORDERS), len(known)), CHANGES if known else 0
        )
        for place in picked:
            known[place] = {**known[place], "status": rng.choice(["shipped", "delivered"])}
        yield Load(new, [known[place] for place in sorted(picked)])
        known += new


def new_table() -> NewTable:
    """The table: orders, a partition a day."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import DayTransform
    from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestampType

    schema = Schema(
        NestedField(1, "order_id", LongType(), required=False),
        NestedField(2, "customer", StringType(), required=False),
        NestedField(3, "ordered_at", TimestampType(), required=False),
        NestedField(4, "amount", DoubleType(), required=False),
        NestedField(5, "status", StringType(), required=False),
    )
    return NewTable(schema, PartitionSpec(PartitionField(3, 1000, DayTransform(), "ordered_day")))


@dataclass
class Writer:
    """An engine that writes to one table, in one of the two ways.

    Attributes:
        catalog: Where the table is, or is made.
        mode: A key of ``MODES``; the table is called so.
        files: The live data files by path, each with its rows in order.
        homes: The file and the position of each order.
        count: The loads so far.
    """

    catalog: Catalog
    mode: str
    files: dict[str, tuple[DataFile, list[Row]]] = field(default_factory=dict)
    homes: dict[int, tuple[str, int]] = field(default_factory=dict)
    count: int = 0

    def ingest(self, load: Load) -> None:
        """Take a load in, in one commit."""
        self.count += 1
        base = load_base(self.catalog, ("shop", self.mode), new_table())
        held: dict[str, list[Row]] = {}
        for row in load.changed:
            held.setdefault(self.homes[row["order_id"]][0], []).append(row)
        with Stage(base, f"load-{self.mode}-{self.count}") as stage:
            added = [self._write(base, stage, load.new)]
            if self.mode == "merge_on_read":
                change = self._merged_later(base, stage, held, added)
            else:
                change = self._copied(base, stage, held, added)
            publish(base, lambda fresh: change, stage=stage)

    def _merged_later(
        self, base: Base, stage: Stage, held: dict[str, list[Row]], added: list[DataFile]
    ) -> Change:
        """Positions of the old rows are deleted, the new rows stand in files of their own."""
        for path, rows in held.items():
            positions = sorted(self.homes[row["order_id"]][1] for row in rows)
            added.append(position_deletes(stage.new_file(), self.files[path][0], positions))
        by_day: dict[object, list[Row]] = {}
        for row in [row for rows in held.values() for row in rows]:
            by_day.setdefault(row["ordered_at"].date(), []).append(row)
        added += [self._write(base, stage, rows) for rows in by_day.values()]
        return Change("overwrite", added=tuple(added))

    def _copied(self, base: Base, stage: Stage, held: dict[str, list[Row]], added: list[DataFile]) -> Change:
        """Each file that holds an old row is written anew."""
        removed = []
        for path, rows in held.items():
            file, old = self.files.pop(path)
            removed.append(file)
            changed = {row["order_id"]: row for row in rows}
            added.append(self._write(base, stage, [changed.get(row["order_id"], row) for row in old]))
        return Change("overwrite", added=tuple(added), removed=tuple(removed))

    def _write(self, base: Base, stage: Stage, rows: list[Row]) -> DataFile:
        """A data file of rows of one day."""
        import pyarrow as pa
        import pyarrow.parquet as pq
        from pyiceberg.io.pyarrow import parquet_files_to_data_files, schema_to_pyarrow

        path = stage.new_file()
        place = local_path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema_to_pyarrow(base.metadata.schema())), place)
        (file,) = parquet_files_to_data_files(base.io, base.metadata, iter([path]))
        file.spec_id = base.metadata.default_spec_id
        self.files[path] = file, rows
        self.homes.update({row["order_id"]: (path, number) for number, row in enumerate(rows)})
        return file


def position_deletes(path: str, of: DataFile, positions: list[int]) -> DataFile:
    """Write the positions of deleted rows of one data file, as an engine that merges on read does.

    Format: position delete files of the Iceberg table specification, reserved field ids 2147483546 and
    2147483545.

    Args:
        path: Where to.
        of: The data file.
        positions: Rows of it, from 0.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.conversions import to_bytes
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.types import StringType

    fields = [
        pa.field("file_path", pa.string(), False, {"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), False, {"PARQUET:field_id": "2147483545"}),
    ]
    body = pa.table([[of.file_path] * len(positions), positions], schema=pa.schema(fields))
    place = local_path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(body, place)
    bound = {2147483546: to_bytes(StringType(), of.file_path)}
    made = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=of.partition,
        record_count=len(positions),
        file_size_in_bytes=place.stat().st_size,
        lower_bounds=bound,
        upper_bounds=bound,
    )
    made.spec_id = of.spec_id
    return made
