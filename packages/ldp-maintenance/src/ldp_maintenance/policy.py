"""What is wanted of a table: its layout, its sizes, and what may be thrown away. The defaults stand here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TARGET_FILE_SIZE = 128 * 1024 * 1024
"""Bytes, where neither the policy nor ``write.target-file-size-bytes`` says it."""
SNAPSHOT_AGE_DAYS = 5.0
SNAPSHOTS_TO_KEEP = 1
ORPHAN_AGE_DAYS = 3.0
MANIFEST_SIZE = 8 * 1024 * 1024
"""Bytes, where ``commit.manifest.target-size-bytes`` does not say it."""


@dataclass(frozen=True)
class PartitionField:
    """A field of the partition spec that is wanted.

    Attributes:
        column: The source column.
        transform: identity, year, month, day, hour, bucket, truncate or void.
        num_buckets: Of a bucket.
        width: Of a truncate.
        name: The field's name; as pyiceberg names it by default.
    """

    column: str
    transform: str = "identity"
    num_buckets: int | None = None
    width: int | None = None
    name: str | None = None


@dataclass(frozen=True)
class EvolutionRule:
    """Partitions of one granularity that become coarser once they are old.

    Attributes:
        source: hour, day or month.
        to: day, month or year; coarser than ``source``.
        older_than_days: Counted from the end of the coarse partition.
    """

    source: str = "day"
    to: str = "month"
    older_than_days: float = 90.0


@dataclass(frozen=True)
class SortKey:
    """One key of an order.

    Attributes:
        column: A column; dotted inside structs.
        direction: asc or desc.
        nulls: first or last.
        transform: An Iceberg transform of the column.
    """

    column: str
    direction: Literal["asc", "desc"] = "asc"
    nulls: Literal["first", "last"] = "last"
    transform: str = "identity"


@dataclass(frozen=True)
class Ordering:
    """The order of the rows inside files.

    Attributes:
        mode: ``table`` is the table's declared sort order, and the order of arrival where it has none.
        sort: Keys, for ``sort``.
        zorder: Columns, at least two, for ``zorder``.
        precision_bits: Bits of each column in a z-order; bits times columns is at most 62.
    """

    mode: Literal["table", "none", "sort", "zorder"] = "table"
    sort: tuple[SortKey, ...] = ()
    zorder: tuple[str, ...] = ()
    precision_bits: int = 16


@dataclass(frozen=True)
class Rewrite:
    """When data files are rewritten, and into what.

    Attributes:
        target_file_size_bytes: Bytes on disk; None takes the table's property, then 128 MiB.
        min_input_files: Fewer are left alone, unless a rewrite clears deletes, splits or sorts.
        min_file_size_ratio: Smaller files, as a share of the target, are candidates.
        max_file_size_ratio: Larger files are candidates, and are split.
        delete_ratio: Files of which a larger share of rows is deleted are candidates.
        delete_file_threshold: Files to which more delete files apply are candidates.
        skip_newest: The newest time partition and so many closed ones before it are left alone; None leaves
            none alone.
        output_spec: The partition spec that rewritten files get; each file's own by default.
    """

    target_file_size_bytes: int | None = None
    min_input_files: int = 2
    min_file_size_ratio: float = 0.75
    max_file_size_ratio: float = 1.8
    delete_ratio: float = 0.3
    delete_file_threshold: int = 5
    skip_newest: int | None = 1
    output_spec: int | None = None


@dataclass(frozen=True)
class Expire:
    """Which snapshots go.

    Attributes:
        enabled: Whether any do.
        max_snapshot_age_days: None takes the properties of the table and its branches
            (``history.expire.max-snapshot-age-ms``), then 5 days.
        min_snapshots_to_keep: None takes ``history.expire.min-snapshots-to-keep``, then 1. Of each branch.
        max_ref_age_days: None: only where the table itself sets an age does a branch or tag go.
        keep_last: The newest so many snapshots of main stay besides (``--retain-last``).
        keep_metadata_versions: So many older metadata files stay (``--keep-metadata-versions``): the table's
            ``write.metadata.previous-versions-max`` is set to it, and the files beyond are deleted.
    """

    enabled: bool = True
    max_snapshot_age_days: float | None = None
    min_snapshots_to_keep: int | None = None
    max_ref_age_days: float | None = None
    keep_last: int | None = None
    keep_metadata_versions: int | None = None


@dataclass(frozen=True)
class Orphans:
    """Which unreferenced files go.

    Attributes:
        enabled: Whether any do.
        older_than_days: Younger files stay.
        any_name: Also files that are not called as Iceberg calls files.
        hidden: Also files and folders whose names start with ``_`` or ``.``; never the project's own.
    """

    enabled: bool = True
    older_than_days: float = ORPHAN_AGE_DAYS
    any_name: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Manifests:
    """When manifests are regrouped.

    Attributes:
        enabled: Whether they are.
        min_input_manifests: Fewer are left alone.
        target_size_bytes: None takes ``commit.manifest.target-size-bytes``, then 8 MiB.
    """

    enabled: bool = True
    min_input_manifests: int = 2
    target_size_bytes: int | None = None


@dataclass(frozen=True)
class Policy:
    """All that is wanted of one table.

    Attributes:
        description: For people.
        partition: The fields of the partition spec that new data should have; None leaves it as it is.
        evolution: Rules of ``evolve-partitions``; none turns it off.
        ordering: The order inside files.
        rewrite: Sizes of data files.
        expire: Snapshots.
        orphans: Unreferenced files.
        dangling_deletes: Whether deletes that apply to nothing are dropped.
        manifests: Manifests.
        properties: Table properties that ``apply-properties`` sets; None as a value removes one.
        origins: Where a setting comes from, by its dotted path in this class: ``defaults``, ``properties``,
            ``config``, ``table`` or ``command line``; what is not in it is a default.
    """

    description: str | None = None
    partition: tuple[PartitionField, ...] | None = None
    evolution: tuple[EvolutionRule, ...] = (EvolutionRule(),)
    ordering: Ordering = field(default_factory=Ordering)
    rewrite: Rewrite = field(default_factory=Rewrite)
    expire: Expire = field(default_factory=Expire)
    orphans: Orphans = field(default_factory=Orphans)
    dangling_deletes: bool = True
    manifests: Manifests = field(default_factory=Manifests)
    properties: Mapping[str, str | None] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
