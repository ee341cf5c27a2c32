"""The root command: a group whose commands are found by entry point and imported when they are needed."""

from __future__ import annotations

from typing import Any

import click
from ldp_core import _entry_points
from ldp_core.errors import ConfigError, UsageError

from ldp_cli import __version__

GROUP = "ldp.commands"

EPILOG = 'Completion for bash, zsh or fish:  eval "$(_LDP_COMPLETE=bash_source ldp)"'


class PluginGroup(click.Group):
    """A group of the commands that packages offer. A broken one is listed as broken and hurts nobody else."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, sorted. Imports no command."""
        return sorted(_entry_points.in_group(GROUP))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command.

        Raises:
            ConfigError: Two packages offer it, or it does not import.
        """
        return _command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with.

        Raises:
            UsageError: There is none of that name; names the nearest.
        """
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        near = get_close_matches(name, self.list_commands(ctx), n=1)
        raise UsageError(
            f"no command is called {name!r}",
            hint=f"did you mean {near[0]}?" if near else "ldp --help lists the commands",
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, broken ones with the reason."""
        rows = ((name, self._short_help(name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, text in rows if text is not None] or [("none", "")])

    def _short_help(self, name: str) -> str | None:
        """The first sentence of a command's help, whole; None for a hidden one."""
        try:
            command = _command(name)
        except ConfigError as error:
            return f"(broken) {error.message.removeprefix(f'command {name!r} ')}"
        return None if command is None or command.hidden else command.get_short_help_str(200)


@click.group(
    cls=PluginGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="ldp", message="%(prog)s %(version)s")
@click.option("-v", "--verbose", count=True, help="Show tracebacks and logs; -vv for more.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes on standard error.")
@click.pass_context
def root(ctx: click.Context, verbose: int, quiet: bool) -> None:
    """An Apache Iceberg lakehouse: files become checked, queryable tables."""
    del quiet
    if verbose:
        import logging

        logging.basicConfig(level=logging.DEBUG if verbose > 1 else logging.INFO)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(1)


def _command(name: str) -> click.Command | None:
    """The command of that name, imported; None when no package offers it."""
    points = _entry_points.in_group(GROUP).get(name, ())
    if not points:
        return None
    if len(points) > 1:
        owners = " and ".join(sorted(point.owner for point in points))
        raise ConfigError(f"command {name!r} is offered by {owners}", hint="uninstall one of them")
    owner = points[0].owner
    try:
        command = points[0].load()
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"command {name!r} of {owner} does not load: {type(error).__name__}: {error}",
            hint=f"reinstall or remove {owner}",
        ) from error
    if not isinstance(command, click.Command):
        raise ConfigError(f"command {name!r} of {owner} is no click command: {points[0].value}")
    _add_common(command)
    return command


def _add_common(command: click.Command) -> None:
    """Let ``-v`` and ``--quiet`` stand behind a command too, where it has no such options of its own."""
    taken = {name for param in command.params for name in param.opts}
    if not taken & {"-v", "--verbose"}:
        command.params.append(
            click.Option(["-v", "--verbose"], count=True, expose_value=False, hidden=True, callback=_to_root)
        )
    if not taken & {"-q", "--quiet"}:
        command.params.append(
            click.Option(["-q", "--quiet"], is_flag=True, expose_value=False, hidden=True, callback=_to_root)
        )
    for child in command.commands.values() if isinstance(command, click.Group) else ():
        _add_common(child)


def _to_root(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Note a common option at the root, where everybody looks for it."""
    if value:
        ctx.find_root().params[str(param.name)] = value
