"""``ldp plan``: what a run would do, without doing it."""

from __future__ import annotations

import click

from ldp_core._output import env_option, json_option, print_json, say


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG|FOLDER...")
@click.option("--mode", metavar="MODE", help="append, overwrite or upsert, above the config's write_mode.")
@click.option("--source", "open_source", is_flag=True, help="Also open the source and print its columns.")
@click.option("--window", metavar="W", help="Show the path and the key of a window, as for ldp run.")
@click.option("--idempotency-key", metavar="KEY", help="A key in place of the window's.")
@env_option
@json_option
def plan(
    configs: tuple[str, ...],
    mode: str | None,
    open_source: bool,
    window: str | None,
    idempotency_key: str | None,
    env: str | None,
    as_json: bool,
) -> int:
    """Check configs and print the stages of their loads; print every problem at once.

    Looks at the config, at the table's metadata and at whether the source is there; reads no data and
    writes nothing. The exit code is 1 when a config has errors; `ldp run` refuses exactly those.
    """
    from ldp_core.config import Config
    from ldp_core.plan.explain import explain
    from ldp_core.plan.find import find_configs
    from ldp_core.plan.keyed import Ask

    found = []
    for file in find_configs(configs):
        explanation = explain(Config.from_file(file, env=env), mode, Ask(window, idempotency_key))
        if open_source and explanation.plan is not None:
            from ldp_core.run.peek import with_source

            explanation = with_source(explanation)
        found.append(explanation)
    if as_json:
        bodies = [explanation.to_dict() for explanation in found]
        print_json(bodies[0] if len(bodies) == 1 else bodies)
    else:
        for at, explanation in enumerate(found):
            if at:
                say()
            for line in explanation.lines():
                say(line)
    return 0 if all(explanation.valid for explanation in found) else 1
