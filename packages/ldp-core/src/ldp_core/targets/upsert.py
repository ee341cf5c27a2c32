"""Upsert: afterwards one row a key of the batch holds; one snapshot, only the files concerned are rewritten.

The batch's keys are joined to the table by file and position (copy-on-write). Rows that are there already,
equal in every column, are left alone; a file is rewritten only if a row in it is replaced. Keys compare
null-safe and by value (NULL equals NULL, NaN equals NaN, 0.0 equals -0.0): DuckDB's IS NOT DISTINCT FROM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from ldp_core._duck import ident, text
from ldp_core._pyiceberg import manifest_entries
from ldp_core.commit.change import Base, Change
from ldp_core.errors import DriftError
from ldp_core.tables.scan import plan_scan, scan_sql
from ldp_core.tables.scan_count import live_count
from ldp_core.targets._reconcile import prove_rewrite

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile
    from pyiceberg.table.update import TableUpdate
    from pyiceberg.types import NestedField

_numbers = count(1)


@dataclass(frozen=True)
class UpsertCounts:
    """What an upsert does to rows.

    Attributes:
        inserted: Keys that the table did not have.
        updated: Keys whose row is replaced.
        unchanged: Keys whose row is there already, equal in every column.
    """

    inserted: int
    updated: int
    unchanged: int

    @property
    def written(self) -> int:
        """Rows of the batch that are written."""
        return self.inserted + self.updated


class NothingChanged(Exception):
    """Every row of the batch is in the table already: there is nothing to commit.

    Attributes:
        counts: All of them unchanged.
    """

    def __init__(self, counts: UpsertCounts) -> None:
        super().__init__("nothing changed")
        self.counts = counts


def deduplicated(sql: str, keys: Sequence[str], keep: str, order_by: Sequence[str]) -> str:
    """The rows of ``sql`` with one row a key.

    Args:
        sql: A SELECT.
        keys: The join columns.
        keep: ``first`` or ``last``, in the order of ``order_by``.
        order_by: Columns; NULL sorts before every value.
    """
    direction = "ASC NULLS FIRST" if keep == "first" else "DESC NULLS LAST"
    order = ", ".join(f"{ident(name)} {direction}" for name in order_by)
    partition = ", ".join(ident(name) for name in keys)
    return f"SELECT * FROM ({sql}) QUALIFY row_number() OVER (PARTITION BY {partition} ORDER BY {order}) = 1"


def refuse_duplicates(con: DuckDBPyConnection, sql: str, keys: Sequence[str], table: str) -> None:
    """Make sure that no key occurs twice.

    Raises:
        DriftError: One does; names a few and how to resolve it.
    """
    names = ", ".join(ident(name) for name in keys)
    grouped = f"SELECT {names}, count(*) AS n FROM ({sql}) GROUP BY {names} HAVING count(*) > 1"
    found = con.execute(
        f"SELECT coalesce(sum(n - 1), 0), count(*), min_by(k, k, 3) FROM "
        f"(SELECT n, CAST(({', '.join(ident(name) for name in keys)},) AS VARCHAR) AS k FROM ({grouped}))"
    ).fetchall()[0]
    extra, repeated, examples = found
    if repeated:
        shown = ", ".join(str(example) for example in examples)
        raise DriftError(
            f"upsert data for {table} has {extra} duplicate rows on join_cols {list(keys)}, "
            f"for example {shown}; keys must be unique",
            hint="remove them, or set dedupe: first or last with order_by",
        )


def build_change(
    con: DuckDBPyConnection,
    base: Base,
    batch: str,
    columns: Sequence[str],
    keys: Sequence[str],
    write: Callable[[str], Iterable[DataFile]],
    *,
    updates: tuple[TableUpdate, ...] = (),
    schema_id: int | None = None,
) -> Change:
    """Compute an upsert on a base, and write its files.

    Args:
        con: The run's connection.
        base: The table, which exists.
        batch: A SELECT of the batch: ``columns`` in published types, then the row number; may be run many
            times; one row a key.
        columns: The published columns, all columns of the table among them.
        keys: The join columns.
        write: Writes the rows of a SELECT of ``columns`` as data files of the table.
        updates: Metadata updates that add new columns in the same commit.
        schema_id: The schema that they make current.

    Returns:
        The change; its ``info`` is an ``UpsertCounts``.

    Raises:
        NothingChanged: No row has to be written.
        Unreconciled: The files written do not hold the rows that they should.
    """
    names = [f"c{number}" for number in range(len(columns))]
    key_names = [names[columns.index(key)] for key in keys]
    source = f"(SELECT * FROM ({batch})) AS b({', '.join([*names, 'r'])})"
    rows = _one(con, f"SELECT count(*) FROM {source}")
    live = _live_files(base, columns, key_names, names, con, source)
    matches = f"__ldp_matches_{next(_numbers)}"
    try:
        table = _Table(con, base, columns, names, f"SELECT {', '.join(names)} FROM {source}")
        _match(con, table, source, list(live), key_names, matches)
        unchanged = _one(con, f"SELECT count(*) FROM {matches} WHERE same")
        matched = _one(con, f"SELECT count(DISTINCT r) FROM {matches}")
        counts = UpsertCounts(rows - matched, matched - unchanged, unchanged)
        if not counts.written:
            raise NothingChanged(counts)
        touched = [
            row[0] for row in con.execute(f"SELECT DISTINCT f FROM {matches} WHERE NOT same").fetchall()
        ]
        added = tuple(write(_rows_to_write(table, source, touched, matches)))
        replaced = _one(con, f"SELECT count(*) FROM (SELECT DISTINCT f, p FROM {matches} WHERE NOT same)")
        staying = live_count(con, table.scan, touched) - replaced
        prove_rewrite(added, staying, counts.written, ".".join(base.identifier))
    finally:
        con.execute(f"DROP TABLE IF EXISTS {matches}")
    return Change(
        operation="overwrite" if touched else "append",
        added=added,
        removed=tuple(live[path] for path in touched),
        updates=updates,
        schema_id=schema_id,
        info=counts,
    )


class _Table:
    """The rows of the table as SQL, by position: columns ``c0..``, file ``f``, position ``p``.

    Columns that the table does not have yet are NULL; each is cast to the type that the batch has.
    """

    def __init__(
        self, con: DuckDBPyConnection, base: Base, columns: Sequence[str], names: Sequence[str], typed: str
    ) -> None:
        self.con = con
        self.columns = columns
        self.names = names
        self.types = [row[1] for row in con.execute(f"DESCRIBE {typed}").fetchall()]
        self.scan = plan_scan(base.metadata, base.io)
        self.have = [name for name in columns if name in self.scan.columns]

    def rows(self, files: Iterable[str]) -> str:
        """The live rows of some files."""
        inner = scan_sql(self.con, self.scan, columns=self.have, files=files, position=True)
        held = [f"h{number}" for number in range(len(self.have))]
        parts = []
        for column, name, kind in zip(self.columns, self.names, self.types, strict=True):
            value = held[self.have.index(column)] if column in self.have else "NULL"
            parts.append(f"CAST({value} AS {kind}) AS {name}")
        return f"SELECT {', '.join(parts)}, f, p FROM ({inner}) AS t({', '.join([*held, 'f', 'p'])})"


def _match(
    con: DuckDBPyConnection, table: _Table, source: str, files: list[str], keys: Sequence[str], name: str
) -> None:
    """Make the temporary table ``name``: (file, position, batch row, whether nothing has to change)."""
    joined = " AND ".join(f"t.{key} IS NOT DISTINCT FROM b.{key}" for key in keys)
    others = [column for column in table.names if column not in keys]
    same = " AND ".join(f"t.{column} IS NOT DISTINCT FROM b.{column}" for column in others) or "true"
    near = _between(con, source, keys[0], table.types[table.names.index(keys[0])])
    con.execute(
        f"CREATE TEMP TABLE {name} AS "
        f"SELECT f, p, r, same AND count(*) OVER (PARTITION BY r) = 1 AS same FROM ("
        f"SELECT t.f, t.p, b.r, {same} AS same FROM (SELECT * FROM ({table.rows(files)}) {near}) AS t "
        f"JOIN {source} ON {joined})"
    )


def _rows_to_write(table: _Table, source: str, touched: list[str], matches: str) -> str:
    """Rows that stay of the files concerned, then the rows of the batch that are not there yet."""
    listed = ", ".join(
        f"{name} AS {ident(column)}" for name, column in zip(table.names, table.columns, strict=True)
    )
    fresh = f"SELECT {listed} FROM {source} ANTI JOIN (SELECT r FROM {matches} WHERE same) AS m ON m.r = b.r"
    if not touched:
        return fresh
    kept = (
        f"SELECT {listed} FROM ({table.rows(touched)}) AS t "
        f"ANTI JOIN (SELECT f, p FROM {matches} WHERE NOT same) AS m ON m.f = t.f AND m.p = t.p"
    )
    return f"{kept} UNION ALL {fresh}"


def _between(con: DuckDBPyConnection, source: str, key: str, kind: str) -> str:
    """A WHERE that lets DuckDB pass over row groups without keys of the batch; empty where NULL is a key."""
    found = con.execute(
        f"SELECT CAST(min({key}) AS VARCHAR), CAST(max({key}) AS VARCHAR), count(*) - count({key}) "
        f"FROM {source}"
    ).fetchall()[0]
    low, high, nulls = found
    if nulls or low is None or any(word in kind for word in ("STRUCT", "[", "MAP")):
        return ""
    return f"WHERE {key} BETWEEN CAST({text(low)} AS {kind}) AND CAST({text(high)} AS {kind})"


def _live_files(
    base: Base,
    columns: Sequence[str],
    keys: Sequence[str],
    names: Sequence[str],
    con: DuckDBPyConnection,
    source: str,
) -> dict[str, DataFile]:
    """Data files of the base that may hold a key of the batch, by the bounds of the first key."""
    from pyiceberg.manifest import DataFileContent, ManifestContent

    snapshot = base.metadata.current_snapshot()
    if snapshot is None:
        return {}
    schema = base.metadata.schema()
    column = columns[names.index(keys[0])]
    field = next((field for field in schema.fields if field.name == column), None)
    low, high = _key_range(con, source, keys[0], field)
    live: dict[str, DataFile] = {}
    for manifest in snapshot.manifests(base.io):
        if manifest.content != ManifestContent.DATA:
            continue
        for entry in manifest_entries(manifest, base.io):
            file = entry.data_file
            if file.content == DataFileContent.DATA and _may_hold(file, field, low, high):
                live[file.file_path] = file
    return live


def _key_range(con: DuckDBPyConnection, source: str, key: str, field: NestedField | None) -> tuple[Any, Any]:
    """Least and greatest key as Iceberg stores bounds (days, microseconds), or (None, None): no pruning."""
    from pyiceberg.types import DateType, IntegerType, LongType, StringType, TimestampType, TimestamptzType

    value = key
    if field is not None and isinstance(field.field_type, DateType):
        value = f"date_diff('day', DATE '1970-01-01', {key})"
    elif field is not None and isinstance(field.field_type, TimestampType | TimestamptzType):
        value = f"epoch_us({key})"
    elif field is None or not isinstance(field.field_type, IntegerType | LongType | StringType):
        return None, None
    found = con.execute(
        f"SELECT min({value}), max({value}), count(*) - count({key}) FROM {source}"
    ).fetchall()[0]
    return (None, None) if found[2] else (found[0], found[1])


def _may_hold(file: DataFile, field: NestedField | None, low: Any, high: Any) -> bool:
    if low is None or field is None:
        return True
    least = (file.lower_bounds or {}).get(field.field_id)
    greatest = (file.upper_bounds or {}).get(field.field_id)
    if least is None or greatest is None:
        return True
    return bool(_bound(field, least) <= high and low <= _bound(field, greatest))


def _bound(field: NestedField, value: bytes) -> Any:
    """A bound as it is stored; a file from before a promotion holds an int where the column is long."""
    from pyiceberg.conversions import from_bytes
    from pyiceberg.types import IntegerType, LongType, StringType

    if isinstance(field.field_type, StringType):
        return value.decode("utf-8")
    return from_bytes(IntegerType() if len(value) == 4 else LongType(), value)


def _one(con: DuckDBPyConnection, sql: str) -> int:
    return int(con.execute(sql).fetchall()[0][0])
