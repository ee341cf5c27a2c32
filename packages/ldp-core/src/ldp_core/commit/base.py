"""The state of a table that a change is built on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ldp_core.catalogs.tables import full_identifier, is_rest, load, unreachable
from ldp_core.commit.change import Base
from ldp_core.errors import LDPError, TableNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyiceberg.catalog import Catalog
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table

DEFAULT_PROPERTIES = {
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
}
"""Properties of tables that LDP makes; a table made elsewhere keeps its own."""


@dataclass(frozen=True)
class NewTable:
    """What a table is made with when it does not exist.

    Attributes:
        schema: Its schema; ids are assigned anew (take them from ``Base.metadata``).
        spec: Its partition spec, by the ids of ``schema``.
        properties: Its properties; they win over ``DEFAULT_PROPERTIES``.
    """

    schema: Schema
    spec: PartitionSpec
    properties: Mapping[str, str] = field(default_factory=dict)


def load_base(catalog: Catalog, identifier: tuple[str, str], new: NewTable | None = None) -> Base:
    """Load a table, or stage one that the first publish creates and fills in one commit.

    Staging makes the namespace, nothing else.

    Args:
        catalog: A pyiceberg catalog, open for writing when ``new`` is given.
        identifier: ``(namespace, table)``.
        new: What to make where there is no table.

    Raises:
        TableNotFound: There is none and ``new`` is None.
        CatalogError: The catalog does not answer, or the table's folder was moved.
    """
    try:
        return from_table(catalog, identifier, load(catalog, identifier))
    except TableNotFound:
        if new is None:
            raise
    return _staged(catalog, identifier, new)


def from_table(catalog: Catalog, identifier: tuple[str, str], table: Table) -> Base:
    """The base that a loaded table is."""
    return Base(
        catalog=catalog,
        identifier=identifier,
        metadata=table.metadata,
        io=table.io,
        exists=True,
        metadata_location=table.metadata_location,
        config=dict(table.config),
    )


def make_namespace(catalog: Catalog, namespace: str) -> None:
    """Make a namespace (dotted, its parents too) unless it is there; others may make it at the same time."""
    parts = tuple(namespace.split("."))
    for depth in range(1, len(parts) + 1):
        level = parts[:depth]
        try:
            catalog.create_namespace_if_not_exists(level)
        except Exception:
            # Two that make it at once: SQL catalogs report a broken unique key.
            if not catalog.namespace_exists(level):
                raise


def _staged(catalog: Catalog, identifier: tuple[str, str], new: NewTable) -> Base:
    from ldp_core._pyiceberg import staged_table

    # The other catalogs keep a dotted namespace as one name and refuse one of several parts here.
    nested = is_rest(catalog)
    try:
        make_namespace(catalog, identifier[0])
        transaction = catalog.create_table_transaction(
            full_identifier(identifier) if nested else identifier,
            new.schema,
            partition_spec=new.spec,
            properties={**DEFAULT_PROPERTIES, **new.properties},
        )
    except LDPError:
        raise
    except Exception as error:
        raise unreachable(catalog.name, error) from error
    table, updates = staged_table(transaction)
    return Base(
        catalog=catalog,
        identifier=identifier,
        metadata=table.metadata,
        io=table.io,
        exists=False,
        creation=updates,
        config=dict(table.config),
    )
