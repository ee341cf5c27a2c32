"""``ldp maintain engines``: what each engine can do, and what it refuses."""

from __future__ import annotations

from typing import Any

import click
from ldp_core._output import json_option, print_json, print_table


@click.command()
@json_option
def engines(as_json: bool) -> None:
    """Show what each installed engine can do and refuses, from its own code."""
    from ldp_maintenance.engines import abilities

    found: dict[str, Any] = abilities()
    if as_json:
        print_json(found)
        return
    columns = ("engine", "operation", "can", "previews", "refuses")
    rows = [
        (name, operation, able.get("can"), able.get("previews"), "; ".join(able.get("refuses") or ()))
        for name, operations in found.items()
        for operation, able in operations.items()
    ]
    print_table(columns, rows, footer=False)
