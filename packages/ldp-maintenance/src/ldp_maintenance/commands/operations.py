"""One command for each operation: it runs that one alone."""

from __future__ import annotations

from typing import Any

import click

from ldp_maintenance.commands import _options


def _run(given: dict[str, Any], operation: Any) -> int:
    from ldp_maintenance.commands._run import run

    return run(given, (operation,))


@click.command("rewrite-data-files")
@_options.address_options
@_options.rewrite_options
@_options.branch_option
@_options.doing_options
def rewrite_data_files(**given: Any) -> int:
    """Rewrite small, oversized and deleted-from data files; alias compact.

    Files are put together to the target size, sorted by the table's order unless --order-by or --zorder says
    otherwise. What is as it should be is left alone: a second run rewrites nothing.
    """
    return _run(given, "rewrite-data-files")


@click.command("evolve-partitions")
@_options.address_options
@_options.rewrite_options
@_options.doing_options
def evolve_partitions(**given: Any) -> int:
    """Move old time partitions to coarser ones, by default days to months after 90 days."""
    return _run(given, "evolve-partitions")


@click.command("expire-snapshots")
@_options.address_options
@_options.expire_options
@_options.keep_metadata_option
@_options.deletes_option
@_options.doing_options
def expire_snapshots(**given: Any) -> int:
    """Drop old snapshots and delete the files that nothing refers to any more; alias expire."""
    return _run(given, "expire-snapshots")


@click.command("remove-orphans")
@_options.address_options
@_options.orphan_options
@_options.deletes_option
@_options.doing_options
def remove_orphans(**given: Any) -> int:
    """Delete files in the table's folders that nothing refers to and that are old enough."""
    return _run(given, "remove-orphans")


@click.command("remove-dangling-deletes")
@_options.address_options
@_options.doing_options
def remove_dangling_deletes(**given: Any) -> int:
    """Drop delete files that apply to no data file."""
    return _run(given, "remove-dangling-deletes")


@click.command("rewrite-manifests")
@_options.address_options
@_options.manifest_options
@_options.branch_option
@_options.doing_options
def rewrite_manifests(**given: Any) -> int:
    """Regroup manifests by partition."""
    return _run(given, "rewrite-manifests")


@click.command("apply-properties")
@_options.address_options
@_options.doing_options
def apply_properties(**given: Any) -> int:
    """Set the table properties that the settings want."""
    return _run(given, "apply-properties")


COMMANDS = (
    rewrite_data_files,
    evolve_partitions,
    expire_snapshots,
    remove_orphans,
    remove_dangling_deletes,
    rewrite_manifests,
    apply_properties,
)
