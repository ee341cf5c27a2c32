"""``ldp schema``: the JSON Schema of a config, for editors."""

from __future__ import annotations

import click

from ldp_core._output import print_json
from ldp_core.errors import UsageError

GROUP = "ldp.kinds"
"""Functions that give the shape of a kind of file, by the word of its ``kind``."""


@click.command()
@click.option("--kind", default="Pipeline", show_default=True, metavar="KIND", help="The kind of config.")
def schema(kind: str) -> None:
    """Print the JSON Schema of a config, as far as what is installed reads it.

    Save it and name it in a config as "$schema" (JSON) or in a first line
    "# yaml-language-server: $schema=FILE" (YAML).
    """
    from ldp_core import registry
    from ldp_core.config.json_schema import render
    from ldp_core.config.pipeline import KINDS, pipeline_shape

    if kind not in KINDS:
        raise UsageError(f"unknown kind {kind!r}; the kinds are {', '.join(KINDS)}")
    if kind == "Pipeline":
        print_json(render(pipeline_shape(), title="LDP Pipeline"))
        return
    if registry.find(GROUP, kind) is None:
        package = registry.PACKAGES[GROUP][kind]
        raise UsageError(
            f"the kind {kind} belongs to a package that is not installed", hint=f"pip install {package}"
        )
    print_json(render(registry.load(GROUP, kind)(), title=f"LDP {kind}"))
