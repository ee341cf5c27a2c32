"""``ldp doctor``: what is installed and what configs lack."""

from __future__ import annotations

import click

from ldp_core._output import env_option, json_option, print_json, say


@click.command()
@click.argument("configs", nargs=-1, metavar="[CONFIG]...")
@env_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, configs: tuple[str, ...], env: str | None, as_json: bool) -> None:
    """Say what is installed, what each CONFIG needs and lacks, and how to mend it.

    Looks at versions, plugins, extras, and for a config at its files, environment variables, drivers and
    folders. Opens no catalog: that is ldp catalog test. Exits with 1 when something is missing.
    """
    from ldp_core.doctor import examine

    parts = examine(configs, env=env)
    good = all(line.ok for _, lines in parts for line in lines)
    if as_json:
        print_json(
            {
                "ok": good,
                "parts": [{"name": name, "lines": [vars(line) for line in lines]} for name, lines in parts],
            }
        )
    else:
        for name, lines in parts:
            say(f"{name}:")
            for line in lines:
                say(f"  {'ok  ' if line.ok else 'FAIL'}  {line.what}: {line.found}")
                if line.fix and not line.ok:
                    say(f"        fix: {line.fix}")
    ctx.exit(0 if good else 1)
