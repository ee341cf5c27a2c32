"""``ldp demo``: see the main job at work."""

from __future__ import annotations

from pathlib import Path

import click

from ldp_core._output import json_option, print_json, say


@click.command()
@click.argument("name", default="taxi", metavar="[NAME]")
@click.option(
    "--workdir",
    type=click.Path(file_okay=False),
    help="Keep the files in this folder; a temporary one by default, which is removed.",
)
@click.option("--list", "list_only", is_flag=True, help="List the demos that are installed.")
@json_option
def demo(name: str, workdir: str | None, list_only: bool, as_json: bool) -> None:
    """Walk through an example, by default the main job on made-up taxi rides. Needs no network."""
    from ldp_core import registry

    if list_only:
        demos = {known: registry.load("ldp.demos", known).about for known in registry.names("ldp.demos")}
        if as_json:
            print_json(demos)
        else:
            for known, about in demos.items():
                say(f"{known}: {about}")
        return
    chosen = registry.load("ldp.demos", name)
    tell = (lambda line: None) if as_json else say
    if workdir is not None:
        found = chosen.run(Path(workdir), tell)
        tell(f"everything is in {workdir}")
    else:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="ldp-demo-", ignore_cleanup_errors=True) as folder:
            found = chosen.run(Path(folder), tell)
        tell("the files are gone again; --workdir FOLDER keeps them")
    if as_json:
        print_json(found)
