"""Batches leave a quarantine table by a commit that drops whole files; no row is written again."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from ldp_core.catalogs.access import namespace, open_catalog, peek
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change
from ldp_core.errors import LDPError, TableNotFound
from ldp_core.fs import is_local
from ldp_core.quarantine.batches import fates, read_batches
from ldp_core.quarantine.write import quarantine_spec
from ldp_core.tables import quarantine as q
from ldp_core.tables.view import TableView, of_local, of_metadata

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile

    from ldp_core.spi import Spec


class _Nothing(Exception):
    """There is no file to drop."""


def label_of(target: Spec) -> str:
    """``namespace.table`` of a target."""
    return f"{namespace(target.sub('catalog'))}.{target.get('name')}"


def exists(target: Spec) -> bool:
    """Whether a target has a quarantine table, without a client where the catalog can be peeked at."""
    spec = quarantine_spec(target)
    catalog = spec.sub("catalog")
    peeked = peek(catalog)
    if peeked is None:
        return quarantine_of(target) is not None
    return peeked.exists() and (namespace(catalog), str(spec.get("name"))) in peeked.tables()


def quarantine_of(target: Spec) -> Base | None:
    """The quarantine table of a target, or None."""
    return _base(quarantine_spec(target))


def view_of(target: Spec) -> TableView | None:
    """The history of a target, peeked where its files are on this machine; None where there is no table."""
    catalog, name = target.sub("catalog"), str(target.get("name"))
    peeked = peek(catalog)
    if peeked is not None:
        try:
            found = peeked.metadata(namespace(catalog), name)
        except TableNotFound:
            return None
        if found is None or is_local(found.location):
            return None if found is None else of_local(found.data)
    base = _base(target)
    return None if base is None else of_metadata(base.metadata, base.io)


def remove(base: Base, batches: Collection[str]) -> int:
    """Drop batches from a quarantine table in one commit.

    Args:
        base: The quarantine table.
        batches: Their names.

    Returns:
        How many rows are gone.

    Raises:
        LDPError: The table is no longer partitioned by batch, or the commit failed.
    """
    from ldp_core.commit.publish import publish

    def build(fresh: Base) -> Change:
        files = _files(fresh, batches)
        if not files:
            raise _Nothing
        rows = sum(file.record_count for file in files)
        return Change("delete", removed=files, info=rows)

    try:
        return int(publish(base, build).change.info) if batches else 0
    except _Nothing:
        return 0


def sweep(con: DuckDBPyConnection, target: Spec, warn: Callable[[str], None], *, ended: str = "") -> None:
    """Drop the batches that can never count again; what goes wrong is a warning.

    Batches of runs that may still publish stay.

    Args:
        con: Where SQL may run.
        target: The target.
        warn: Takes one line for the user.
        ended: A batch of a run that has ended without a publish.
    """
    try:
        base = quarantine_of(target) if exists(target) else None
        if base is None:
            return
        view = view_of(target)
        found = fates(read_batches(con, base), view, label_of(target))
        gone = {name for name, fate in found.items() if fate.over}
        fate = found.get(ended)
        if fate is not None and fate.state == "unpublished" and not (view and int(ended) in view.snapshots):
            gone.add(ended)
        remove(base, gone)
    except Exception as error:
        text = error.message if isinstance(error, LDPError) else f"{type(error).__name__}: {error}"
        warn(f"{label_of(target)}{q.SUFFIX} could not be tidied: {' '.join(text.split())[:300]}")


def _base(target: Spec) -> Base | None:
    try:
        identifier = (namespace(target.sub("catalog")), str(target.get("name")))
        return load_base(open_catalog(target.sub("catalog")), identifier)
    except TableNotFound:
        return None


def _files(base: Base, batches: Collection[str]) -> tuple[DataFile, ...]:
    """The live files of batches.

    Raises:
        LDPError: A file may hold rows of several.
    """
    from ldp_core.commit._manifests import spec_id_of
    from ldp_core.targets._changes import live_files

    metadata = base.metadata
    column = metadata.schema().find_field(q.BATCH).field_id
    places = {
        number: next((at for at, part in enumerate(spec.fields) if _is_batch(part, column)), None)
        for number, spec in metadata.specs().items()
    }
    found = []
    for file in live_files(base):
        at = places.get(spec_id_of(file, metadata))
        if at is None:
            raise LDPError(
                f"{'.'.join(base.identifier)} has files that are not partitioned by {q.BATCH}: "
                "its batches cannot be dropped one by one"
            )
        if str(file.partition[at]) in batches:
            found.append(file)
    return tuple(found)


def _is_batch(part: object, column: int) -> bool:
    return getattr(part, "source_id", None) == column and str(getattr(part, "transform", "")) == "identity"
