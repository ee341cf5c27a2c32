"""Pin a table's state under a name: a tag keeps the snapshot, a manifest says what was meant."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import _duck, _sql
from ldp_core._duck import ident
from ldp_core.clock import Clock, system_clock
from ldp_core.datasets.manifest import Manifest, Store, check_name, parse_label, store_of
from ldp_core.errors import CatalogError, CommitConflict, QueryError, SnapshotNotFound
from ldp_core.query.open import open_scan
from ldp_core.query.output import atomic, write_csv, write_jsonl, write_parquet
from ldp_core.query.refs import TableRef
from ldp_core.query.session import Query, query
from ldp_core.query.travel import Travel

if TYPE_CHECKING:
    from pyiceberg.table import Table

EXPORTS = ("parquet", "csv", "jsonl")
_ATTEMPTS = 8


def pin(
    ref: TableRef,
    name: str,
    *,
    row_filter: str | None = None,
    fields: Sequence[str] | None = None,
    snapshot_id: int | None = None,
    clock: Clock = system_clock,
) -> tuple[Manifest, str]:
    """Pin a table's state as the next version of a dataset.

    The tag ``ldp_ds_<name>_v<n>`` keeps the snapshot from expiring; it is made by a commit that fails when
    the tag exists, so two pins at once get two versions.

    Args:
        ref: The table.
        name: The dataset.
        row_filter: A SQL predicate over one row.
        fields: Columns; all by default.
        snapshot_id: A snapshot; the current one by default.
        clock: The time.

    Returns:
        The manifest and where it stands.

    Raises:
        UsageError: The name cannot name a dataset.
        QueryError: The filter is no predicate, or a field no column.
        SnapshotNotFound: The table is empty, or has no such snapshot.
        CommitConflict: Others committed all the while.
        CatalogError: The warehouse keeps no files but those of tables.
    """
    from ldp_core.catalogs import load_table

    store = store_of(ref)
    check_name(name)
    table = load_table(ref.catalog, ref.name, namespace=ref.namespace)
    current = table.metadata.current_snapshot_id if snapshot_id is None else snapshot_id
    if current is None:
        raise SnapshotNotFound(f"Iceberg table {ref.label} has no snapshot to pin: it is empty")
    with rows_of(ref, current, row_filter, None if fields is None else tuple(fields), count=True) as run:
        rows = next(run.rows()[1])[0][0]
    version = 0
    for attempt in range(_ATTEMPTS):
        version = max(version, _newest(store, table, name)) + 1
        manifest = Manifest(
            name=name,
            version=version,
            table=ref.label,
            snapshot_id=current,
            tag=f"ldp_ds_{name}_v{version}",
            rows=rows,
            row_filter=row_filter,
            fields=None if fields is None else tuple(fields),
            created_at=f"{clock():%Y-%m-%dT%H:%M:%SZ}",
        )
        if not _tagged(table, manifest):
            time.sleep(random.uniform(0.02, 0.1) * 2**attempt)
            table = load_table(ref.catalog, ref.name, namespace=ref.namespace)
            continue
        try:
            return manifest, store.write(manifest)
        except FileExistsError:
            table.manage_snapshots().remove_tag(manifest.tag).commit()
        except OSError as error:
            table.manage_snapshots().remove_tag(manifest.tag).commit()
            raise CatalogError(
                f"{manifest.label} was not pinned: no manifest can be written below {store.root}: {error}",
                hint="datasets keep their manifests in the catalog's warehouse; it must allow that",
            ) from error
    raise CommitConflict(f"{ref.label} changes all the time; {name} was not pinned", hint="try again")


def _tagged(table: Table, manifest: Manifest) -> bool:
    """Whether the tag could be made; false when somebody else committed first."""
    from pyiceberg.exceptions import CommitFailedException

    try:
        table.manage_snapshots().create_tag(manifest.snapshot_id, manifest.tag).commit()
    except CommitFailedException:
        return False
    return True


def _newest(store: Store, table: Table, name: str) -> int:
    """The highest version that a manifest or a tag carries."""
    pattern = re.compile(rf"ldp_ds_{re.escape(name)}_v(\d+)")
    tags = [int(match[1]) for ref in table.metadata.refs if (match := pattern.fullmatch(ref))]
    return max([0, *store.versions(name), *tags])


@contextmanager
def rows_of(
    ref: TableRef,
    snapshot_id: int,
    row_filter: str | None,
    fields: Sequence[str] | None,
    *,
    count: bool = False,
) -> Iterator[Query]:
    """The rows of a pinned state, ready to run in the sandbox.

    Args:
        ref: The table.
        snapshot_id: Its snapshot.
        row_filter: A SQL predicate.
        fields: Columns.
        count: How many instead of the rows.

    Raises:
        QueryError: The filter is no predicate, or a field no column.
        SnapshotNotFound: The snapshot is gone.
    """
    travel = Travel(snapshot_id=snapshot_id)
    known = open_scan(ref, travel).columns
    if unknown := [field for field in fields or () if field not in known]:
        raise QueryError(f"{ref.label} has no column {unknown[0]!r}; columns: {', '.join(known)}")
    columns = "*" if fields is None else ", ".join(ident(field) for field in fields)
    sql = f"SELECT {'count(*)' if count else columns} FROM {ident(ref.namespace)}.{ident(ref.name)}"
    if row_filter is not None:
        with _duck.private() as con:
            sql += f" WHERE {_sql.predicate(con, row_filter)}"
    with query([ref], sql, travel) as run:
        yield run


def listing(ref: TableRef, name: str | None = None) -> list[dict[str, Any]]:
    """The datasets of a table's warehouse.

    Args:
        ref: Any table in it.
        name: Every version of this dataset; the newest of each dataset, with the number of its versions, by
            default.

    Raises:
        QueryError: There is no dataset of that name.
    """
    store = store_of(ref)
    if name is not None:
        check_name(name)
        store.find(name, None)
        return [store.read(name, version).to_dict() for version in store.versions(name)]
    found = []
    for each in store.names():
        if versions := store.versions(each):
            found.append({**store.read(each, versions[-1]).to_dict(), "versions": len(versions)})
    return found


def export(ref: TableRef, label: str, file: str | Path, kind: str) -> tuple[Manifest, int]:
    """Write a dataset to a file, streamed; the file appears whole or not at all.

    Args:
        ref: A table of the warehouse and catalog that the dataset was pinned in.
        label: ``name@vN``, or ``name`` for the newest version.
        file: Where to.
        kind: One of ``EXPORTS``.

    Returns:
        The manifest and the number of rows written.

    Raises:
        QueryError: There is no such dataset or version.
        SnapshotNotFound: Its snapshot is gone.
    """
    name, version = parse_label(label)
    manifest = store_of(ref).find(name, version)
    namespace, _, table = manifest.table.rpartition(".")
    owner = TableRef(ref.catalog, namespace, table, ref.origin)
    with (
        rows_of(owner, manifest.snapshot_id, manifest.row_filter, manifest.fields) as run,
        atomic(file) as partial,
    ):
        if kind == "parquet":
            return manifest, write_parquet(run, partial)
        with partial.open("w", encoding="utf-8", newline="") as out:
            return manifest, (write_csv if kind == "csv" else write_jsonl)(run, out)
