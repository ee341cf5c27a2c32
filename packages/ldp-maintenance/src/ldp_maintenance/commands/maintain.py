"""``ldp maintain``: tables kept small and fast. Everything is a preview until ``--yes``."""

from __future__ import annotations

from typing import Any

import click

from ldp_maintenance.commands import _options
from ldp_maintenance.commands._types import Amount
from ldp_maintenance.commands.config import config
from ldp_maintenance.commands.engines import engines
from ldp_maintenance.commands.health import health
from ldp_maintenance.commands.operations import COMMANDS

RUN = "run"
_FLAGS = ("-v", "-vv", "--verbose", "-q", "--quiet")


class RunByDefault(click.Group):
    """A group in which ``ldp maintain CONFIG ...`` is short for ``ldp maintain run CONFIG ...``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``run`` before arguments that begin with no command."""
        at = next((at for at, word in enumerate(args) if word not in _FLAGS), None)
        if at is not None and args[at] not in ("-h", "--help") and args[at] not in self.commands:
            self._known(args[at])
            args = [*args[:at], RUN, *args[at:]]
        return super().parse_args(ctx, args)

    def _known(self, word: str) -> None:
        """Refuse a word that can be neither a table nor a config: a command that was mistyped."""
        from difflib import get_close_matches
        from pathlib import Path

        from ldp_core.errors import UsageError

        if word.startswith("-") or "." in word or "/" in word or Path(word).exists():
            return
        near = get_close_matches(word, list(self.commands), n=1)
        raise UsageError(
            f"{word!r} is neither a command nor a table or a config",
            hint=f"did you mean {near[0]}?" if near else "ldp maintain --help lists the commands",
        )


@click.group(cls=RunByDefault)
def maintain() -> None:
    """Keep tables small and fast: compaction, ordering, expiry, orphan files, manifests.

    Everything is a preview until --yes. `ldp maintain CONFIG` is short for `ldp maintain run CONFIG`.
    """


@maintain.command(RUN)
@_options.address_options
@click.option("--expire", type=Amount(), metavar="DAYS", help="Only expire snapshots older than this.")
@click.option("--orphans", is_flag=True, help="Only remove orphan files (with --expire: both).")
@_options.keep_metadata_option
@_options.rewrite_options
@_options.manifest_options
@_options.expire_options
@_options.orphan_options
@_options.deletes_option
@_options.branch_option
@_options.doing_options
def run(**given: Any) -> int:
    """Do all that is due, in the right order.

    That is: properties, partition evolution, data files, dangling deletes, manifests, snapshots, orphans.
    The settings are those of the table-config file, of the config's maintenance section, of the table's
    properties, and the defaults; options of the command line beat them all.
    """
    from ldp_core.errors import UsageError

    from ldp_maintenance.commands._run import run as run_all
    from ldp_maintenance.model import Operation

    if given["keep_metadata_versions"] is not None and given["orphans"] and given["expire"] is None:
        raise UsageError(
            "--keep-metadata-versions belongs to the expiry of snapshots", hint="add --expire DAYS"
        )
    only: list[Operation] = []
    if given["expire"] is not None:
        only.append("expire-snapshots")
    if given["orphans"]:
        only.append("remove-orphans")
    return run_all(given, only or None, old=True)


for _command in (*COMMANDS, config, engines, health):
    maintain.add_command(_command)
for _alias, _name in (("compact", "rewrite-data-files"), ("expire", "expire-snapshots")):
    maintain.add_command(maintain.commands[_name], _alias)
