"""``ldp run``: load what configs describe."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from ldp_core._output import env_option, json_option, memory_option, note, print_json, progress, say, warn
from ldp_core._window_options import window_options

if TYPE_CHECKING:
    from ldp_core.run.many import Outcome
    from ldp_core.run.result import PipelineResult


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG|FOLDER...")
@click.option("--mode", metavar="MODE", help="append, overwrite or upsert, above the config's write_mode.")
@click.option("--keep-going", is_flag=True, help="Run the other configs after one that fails.")
@click.option("--strict", is_flag=True, help="Make what would be a warning about data an error.")
@click.option(
    "--on-failure",
    type=click.Choice(("fail", "warn", "quarantine")),
    help="What a failed gate does in this run, above what the configs say.",
)
@window_options
@env_option
@memory_option
@json_option
def run(
    configs: tuple[str, ...],
    mode: str | None,
    keep_going: bool,
    strict: bool,
    on_failure: str | None,
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Load what each config describes: read, transform, check, publish in one step.

    A folder stands for its configs, by name. Every config is checked before the first one runs. Several
    run one after the other and stop at the first that fails, unless --keep-going is given; what was loaded
    before stays loaded. The exit code is 3 when data gates are the only problem, else 1.

    With --window a run loads that window, once: it carries a key, and a window that is published is skipped.
    """
    from ldp_core.config import Config
    from ldp_core.plan.find import find_configs
    from ldp_core.run.many import run_all

    loaded = [Config.from_file(file, env=env) for file in find_configs(configs)]
    runs = run_all(
        loaded,
        keep_going=keep_going,
        mode=mode,
        strict=strict,
        on_failure=on_failure,
        memory_limit=memory_limit,
        progress=progress(as_json=as_json),
        **asked,
    )
    with closing(runs):  # an error leaves the loop early, and the batch of events has to end all the same
        return _report(runs, as_json=as_json, alone=len(loaded) == 1)


def _report(outcomes: Iterable[Outcome], *, as_json: bool, alone: bool) -> int:
    """Print outcomes as they come; the exit code. The error of a config that is alone is raised."""
    results: list[dict[str, Any]] = []
    code = 0
    for outcome in outcomes:
        results.append(outcome.to_dict())
        if outcome.error is not None:
            if alone:
                raise outcome.error
            code = outcome.worse(code)
            click.echo(f"ldp: error: {outcome.name}: {outcome.error}", err=True)
        elif outcome.result is not None:
            _tell(outcome.result, as_json)
        elif not as_json:
            note(f"{outcome.name}: not run")
    if as_json:
        print_json(results[0] if alone else {"runs": results, "exit_code": code})
    return code


def _tell(result: PipelineResult, as_json: bool) -> None:
    """The lines of one result; its warnings go to standard error in any case."""
    if not as_json:
        for line in result.lines():
            say(line)
    for text in result.warnings:
        warn(text)
