"""What settings may say: the shape of one table's settings, and of a table-config file of version 2."""

from __future__ import annotations

from ldp_core.shape import Bool, Int, Key, ListOf, Literal, MapOf, Number, OneOf, Shape, Text, Type

_SOME = Text(pattern=r"\S")
GRANULARITIES = ("hour", "day", "month", "year")
"""Of time partitions, the finest first."""
MAX_BITS = 62
"""Bits of a z-order in all."""
_ENABLED = Key("enabled", Bool(), "Whether it happens.", default=True)


def _or_null(type: Type) -> Type:
    return OneOf((type, Literal(None)))


PARTITION = Shape(
    keys=(
        Key("column", _SOME, "The source column.", required=True),
        Key(
            "transform",
            Text(choices=("identity", "year", "month", "day", "hour", "bucket", "truncate", "void")),
            "What becomes of its values.",
            default="identity",
        ),
        Key("num_buckets", Int(min=1), "Of a bucket."),
        Key("width", Int(min=1), "Of a truncate."),
        Key("name", _SOME, "The field's name."),
    ),
    doc="A field of the partition spec.",
)
RULE = Shape(
    keys=(
        Key("from", Text(choices=GRANULARITIES[:-1]), "The partitions that age.", required=True),
        Key("to", Text(choices=GRANULARITIES[1:]), "What they become; coarser.", required=True),
        Key(
            "older_than_days",
            Number(above=0),
            "Days since the end of the coarse partition.",
            default=90,
        ),
    ),
    doc="Partitions that become coarser once they are old.",
)
EVOLUTION = Shape(
    keys=(
        _ENABLED,
        Key(
            "rules",
            ListOf(RULE, min_items=1),
            "One for each granularity; by default day to month after 90 days.",
        ),
    ),
    doc="The ageing of time partitions.",
)
SORT_KEY = Shape(
    keys=(
        Key("column", _SOME, "The column.", required=True),
        Key("direction", Text(choices=("asc", "desc"), ignore_case=True), "Which way.", default="asc"),
        Key("nulls", Text(choices=("first", "last"), ignore_case=True), "Where nulls stand.", default="last"),
    ),
    doc="One key of an order.",
)
ZORDER = Shape(
    keys=(
        Key("columns", ListOf(_SOME, min_items=2), "At least two.", required=True),
        Key(
            "precision_bits",
            Int(min=1, max=MAX_BITS),
            f"Bits of each column; times the columns at most {MAX_BITS}.",
            default=16,
        ),
    ),
    doc="A z-order.",
)
ORDERING = Shape(
    keys=(
        Key(
            "mode",
            Text(choices=("none", "sort", "zorder"), ignore_case=True),
            "`none` keeps the order of arrival. By default the order that the table declares.",
            required=True,
        ),
        Key("sort", ListOf(SORT_KEY), "The keys of the mode sort."),
        Key("zorder", ZORDER, "The z-order of the mode zorder."),
    ),
    doc="The order of the rows inside files.",
)
RETENTION = Shape(
    keys=(
        Key(
            "expire_snapshots",
            Shape(
                keys=(
                    _ENABLED,
                    Key(
                        "max_snapshot_age_days",
                        _or_null(Number(above=0)),
                        "Older ones go. By default `history.expire.max-snapshot-age-ms`, then 5 days.",
                    ),
                    Key(
                        "min_snapshots_to_keep",
                        _or_null(Int(min=1)),
                        "Of each branch. By default `history.expire.min-snapshots-to-keep`, then 1.",
                    ),
                    Key(
                        "max_ref_age_days",
                        _or_null(Number(above=0)),
                        "Older branches and tags go, too. By default only where the table sets an age.",
                    ),
                ),
                doc="Which snapshots go.",
            ),
            "Snapshots.",
        ),
        Key(
            "remove_orphan_files",
            Shape(
                keys=(_ENABLED, Key("older_than_days", Number(above=0), "Younger files stay.", default=3)),
                doc="Which unreferenced files go. Needs the expiry of snapshots.",
            ),
            "Unreferenced files.",
        ),
        Key(
            "remove_dangling_deletes",
            Shape(keys=(_ENABLED,), doc="Deletes that apply to nothing."),
            "Deletes that apply to nothing.",
        ),
        Key(
            "rewrite_manifests",
            Shape(
                keys=(
                    _ENABLED,
                    Key("min_input_manifests", Int(min=1), "Fewer are left alone.", default=2),
                ),
                doc="When manifests are regrouped.",
            ),
            "Manifests.",
        ),
        Key(
            "metadata",
            Shape(
                keys=(
                    Key(
                        "previous_versions_max",
                        _or_null(Int(min=1)),
                        "Sets the table property `write.metadata.previous-versions-max`.",
                    ),
                    Key(
                        "delete_after_commit",
                        _or_null(Bool()),
                        "Sets the table property `write.metadata.delete-after-commit.enabled`.",
                    ),
                ),
                doc="How many metadata files are kept.",
            ),
            "Metadata files.",
        ),
    ),
    doc="What is thrown away, and when.",
)
SETTINGS = Shape(
    keys=(
        Key("description", Text(), "For people."),
        Key("partition", ListOf(PARTITION), "The fields of the partition spec that new data should have."),
        Key("partition_evolution", EVOLUTION, "The ageing of time partitions."),
        Key("ordering", ORDERING, "The order of the rows inside files."),
        Key("retention", RETENTION, "What is thrown away, and when."),
        Key(
            "target_file_size_bytes",
            _or_null(Int(min=1)),
            "Bytes on disk. By default `write.target-file-size-bytes`, then 128 MiB.",
        ),
        Key("min_input_files", Int(min=1), "Fewer are left alone.", default=2),
        Key(
            "skip_partitions_newer_than_windows",
            _or_null(Int(min=0)),
            "The newest time partition and so many closed ones are left alone; null leaves none alone.",
            default=1,
        ),
    ),
    doc="How a table is looked after.",
)
TABLE_CONFIG = Shape(
    keys=(
        Key("version", Literal(2), "The version of the format.", required=True),
        Key("warehouse", _SOME, "The warehouse that the file is for.", required=True),
        Key("defaults", SETTINGS, "The settings of tables without a section of their own."),
        Key(
            "namespaces",
            MapOf(
                Shape(
                    keys=(Key("tables", MapOf(SETTINGS), "Tables by name."),),
                    doc="The tables of a namespace.",
                )
            ),
            "Namespaces by name; one of several levels is dotted.",
        ),
    ),
    doc="A table-config file, version 2.",
)
