"""The options that the commands share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
from ldp_core._output import env_option, json_option, memory_limit_option

from ldp_maintenance.commands._types import Amount, OrderBy, OrNone, Size, ZOrder

if TYPE_CHECKING:
    from ldp_maintenance.addressing import Address
    from ldp_maintenance.model import Doing

Decorator = Callable[[Any], Any]


def _all(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which help shows them."""

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


address_options = _all(
    click.argument("table", metavar="[TABLE|CONFIG]", required=False),
    click.option(
        "--catalog", metavar="NAME|FILE", help="Of ldp.yaml or pyiceberg's configuration, or a file."
    ),
    click.option("--uri", metavar="URI", help="The address of a catalog; secrets come from the environment."),
    click.option(
        "--warehouse", metavar="NAME|PATH", help="Its warehouse; refused where the catalog's differs."
    ),
    click.option("--all", "every", is_flag=True, help="Every table of the catalog."),
    click.option("--namespace", metavar="NAME", help="Only tables of this namespace."),
    click.option(
        "--table-config", metavar="FILE", help="Settings of the tables: a table-config file, version 2."
    ),
    env_option,
)
doing_options = _all(
    click.option("--yes", "--apply", "yes", is_flag=True, help="Commit; without, only a preview."),
    click.option("--engine", metavar="NAME", default="local", show_default=True, help="Who does the work."),
    click.option(
        "--jobs",
        type=Amount(whole=True, positive=True),
        metavar="N",
        help="Groups of files that are rewritten, and files that are deleted, at the same time.",
    ),
    memory_limit_option("Memory of the engine: 400MB by default."),
    click.option(
        "--budget-seconds",
        type=Amount(positive=True),
        metavar="N",
        help="Begin nothing after so many seconds; the next run goes on.",
    ),
    click.option(
        "--budget-bytes",
        type=Size(),
        metavar="SIZE",
        help="Read at most so many bytes of data files, the best first; the next run goes on.",
    ),
    click.option(
        "--audit", metavar="FILE", help="Where each deleted file is written down: .ldp/deleted.jsonl."
    ),
    click.option("--progress/--no-progress", default=None, help="By default on a terminal."),
    json_option,
)
_DELETES = click.option(
    "--deletes-per-second",
    type=Amount(positive=True),
    metavar="N",
    help="Delete at most so many files a second.",
)
rewrite_options = _all(
    click.option(
        "--target-file-size-bytes",
        "--target-size",
        "target_size",
        type=Size(),
        metavar="SIZE",
        help="Bytes on disk of a file, such as 128MiB.",
    ),
    click.option(
        "--min-input-files", type=Amount(whole=True, positive=True), metavar="N", help="Of a group."
    ),
    click.option(
        "--delete-ratio", type=Amount(positive=True), metavar="SHARE", help="Of a file's rows: 0.3."
    ),
    click.option(
        "--delete-file-threshold",
        type=Amount(whole=True),
        metavar="N",
        help="More delete files on a file: 5.",
    ),
    click.option(
        "--order-by", type=OrderBy(), metavar="ORDER", help="Sort: 'a, b desc nulls first, day(ts)'."
    ),
    click.option("--zorder", type=ZOrder(), metavar="COLUMNS", help="Z-order by these columns: a,b."),
    click.option(
        "--output-spec", type=Amount(whole=True), metavar="ID", help="Move files to a partition spec."
    ),
    click.option(
        "--skip-newest",
        type=OrNone(),
        metavar="N|none",
        help="Leave the newest time partition and N closed ones alone.",
    ),
)
branch_option = click.option("--branch", metavar="NAME", help="Work on this branch, not on main.")
expire_options = _all(
    click.option("--max-snapshot-age-days", type=Amount(), metavar="DAYS", help="Older snapshots go."),
    click.option(
        "--min-snapshots-to-keep", type=Amount(whole=True), metavar="N", help="Snapshots of each branch stay."
    ),
    click.option(
        "--retain-last", type=Amount(whole=True), metavar="N", help="The newest N snapshots stay, too."
    ),
)
orphan_options = _all(
    click.option("--older-than-days", type=Amount(), metavar="DAYS", help="Younger files stay."),
    click.option("--orphan-age-hours", type=Amount(), metavar="HOURS", help="The same in hours."),
    click.option("--include-hidden", is_flag=True, help="Also names that begin with _ or a dot."),
    click.option("--any-name", is_flag=True, help="Also files that are not called as Iceberg calls files."),
)
manifest_options = click.option(
    "--min-input-manifests", type=Amount(whole=True, positive=True), metavar="N", help="Fewer are left alone."
)
deletes_option = _DELETES
keep_metadata_option = click.option(
    "--keep-metadata-versions",
    type=Amount(whole=True),
    metavar="N",
    help="Only the newest N old metadata files stay.",
)

_PLACES: Mapping[str, str] = {
    "target_size": "rewrite.target_file_size_bytes",
    "min_input_files": "rewrite.min_input_files",
    "delete_ratio": "rewrite.delete_ratio",
    "delete_file_threshold": "rewrite.delete_file_threshold",
    "order_by": "ordering",
    "zorder": "ordering",
    "output_spec": "rewrite.output_spec",
    "skip_newest": "rewrite.skip_newest",
    "expire": "expire.max_snapshot_age_days",
    "max_snapshot_age_days": "expire.max_snapshot_age_days",
    "min_snapshots_to_keep": "expire.min_snapshots_to_keep",
    "retain_last": "expire.keep_last",
    "keep_metadata_versions": "expire.keep_metadata_versions",
    "older_than_days": "orphans.older_than_days",
    "orphan_age_hours": "orphans.older_than_days",
    "include_hidden": "orphans.hidden",
    "any_name": "orphans.any_name",
    "min_input_manifests": "manifests.min_input_manifests",
}
_ONE_OF = (
    ("order_by", "zorder"),
    ("expire", "max_snapshot_age_days"),
    ("older_than_days", "orphan_age_hours"),
)


def command_line(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a command line has, by their place in a policy.

    Raises:
        UsageError: Two options say the same thing.
    """
    from ldp_core.errors import UsageError

    for one, other in _ONE_OF:
        if given.get(one) is not None and given.get(other) is not None:
            raise UsageError(f"{_option(one)} and {_option(other)} say the same thing; give one of them")
    found: dict[str, Any] = {}
    for name, place in _PLACES.items():
        value = given.get(name)
        if value is None or value is False:
            continue
        found[place] = None if value == "none" else value / 24 if name == "orphan_age_hours" else value
    if given.get("expire") is not None:
        found["expire.enabled"] = True
    if given.get("orphans"):
        found["orphans.enabled"] = True
    return found


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def address(given: Mapping[str, Any]) -> Address:
    """What a command line names."""
    from ldp_maintenance.addressing import Address

    names = ("namespace", "catalog", "uri", "warehouse", "table_config", "env")
    return Address(given.get("table"), bool(given.get("every")), **{name: given.get(name) for name in names})


def doing(given: Mapping[str, Any]) -> Doing:
    """How a command line wants operations to run."""
    from ldp_maintenance.model import Doing

    ages = ("expire", "max_snapshot_age_days", "min_snapshots_to_keep", "retain_last", "older_than_days")
    counts = ("orphan_age_hours", "keep_metadata_versions")
    names = ("memory_limit", "deletes_per_second", "branch", "budget_seconds", "budget_bytes", "jobs")
    said = {name: given[name] for name in names if given.get(name) is not None}
    zero = any(given.get(name) == 0 for name in (*ages, *counts))
    return Doing(commit=bool(given.get("yes")), written_out=zero, **said)
