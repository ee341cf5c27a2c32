"""``ldp health``: how well tables are, and what each operation would win."""

from __future__ import annotations

from typing import Any

import click
from ldp_core._output import json_option

from ldp_maintenance.commands import _options


@click.command()
@_options.address_options
@click.option("--wins/--no-wins", default=True, help="Whether each operation is previewed, too.")
@json_option
def health(**given: Any) -> int:
    """Grade tables: small files, deletes, manifests, metadata, snapshots, skew, read amplification."""
    from ldp_maintenance.commands._health import show

    return show(given)
