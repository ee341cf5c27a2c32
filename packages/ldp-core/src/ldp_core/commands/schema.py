"""``ldp schema``: the JSON Schema of a config, for editors."""

from __future__ import annotations

import click

from ldp_core._output import print_json
from ldp_core.errors import UsageError


@click.command()
@click.option("--kind", default="Pipeline", show_default=True, metavar="KIND", help="The kind of config.")
def schema(kind: str) -> None:
    """Print the JSON Schema of a config, as far as what is installed reads it.

    Save it and name it in a config as "$schema" (JSON) or in a first line
    "# yaml-language-server: $schema=FILE" (YAML).
    """
    from ldp_core.config.json_schema import render
    from ldp_core.config.pipeline import KINDS, pipeline_shape

    if kind not in KINDS:
        raise UsageError(f"unknown kind {kind!r}; the kinds are {', '.join(KINDS)}")
    if kind != "Pipeline":
        raise UsageError(f"the kind {kind} belongs to a package that is not installed", hint=_package(kind))
    print_json(render(pipeline_shape(), title=f"LDP {kind}"))


def _package(kind: str) -> str:
    return {"Workflow": "pip install ldp-orchestration"}[kind]
