"""``ldp maintain config``: table-config files, and what holds for a table."""

from __future__ import annotations

from typing import Any

import click
from ldp_core._output import json_option, print_json, print_table, say, warn

from ldp_maintenance.commands import _options

out_option = click.option(
    "-o", "--output", metavar="FILE", help="Write to this file; to standard output else."
)
force_option = click.option("--force", is_flag=True, help="Overwrite the file when it is there.")


@click.group()
def config() -> None:
    """Make, check and explain table-config files (version 2)."""


@config.command()
@_options.address_options
@out_option
@force_option
def generate(output: str | None, force: bool, **given: Any) -> None:
    """Write a table-config file of what holds now for a table, a config, or a whole catalog (--all)."""
    from ldp_maintenance.addressing import find
    from ldp_maintenance.config.generate import generated, write

    address = _options.address(given)
    found = find(address)
    every = address.every or (found.file is not None and found.file.defaults is not None)
    whole = every and address.word is None and address.namespace is None
    write(generated(found, whole=whole), output, force=force)


@config.command()
@click.argument("file")
@json_option
def validate(file: str, as_json: bool) -> None:
    """Check a table-config file: every problem, with its line."""
    from ldp_maintenance.config.file import TableConfig

    found = TableConfig.from_file(file)
    if as_json:
        tables = [".".join(one) for one in found.tables]
        print_json({"file": file, "ok": True, "warehouse": found.warehouse, "tables": tables})
        return
    count = len(found.tables)
    rest = " and defaults" if found.defaults is not None else ""
    say(f"{file}: ok, {count} table{'' if count == 1 else 's'}{rest} of the warehouse {found.warehouse}")


@config.command()
@_options.address_options
@json_option
def explain(as_json: bool, **given: Any) -> None:
    """Show each setting, its value, and where it comes from: of a table, a config, or a table-config file."""
    from ldp_maintenance.config.explain import explained
    from ldp_maintenance.config.show import value_text

    found = explained(_options.address(given))
    if as_json:
        print_json(
            {
                name: {key: {"value": value, "from": origin} for key, value, origin in rows}
                for name, rows in found.items()
            }
        )
        return
    for name, rows in found.items():
        say(name)
        shown = [(key, "-" if value is None else value_text(value), origin) for key, value, origin in rows]
        print_table(("setting", "value", "from"), shown, footer=False)
        say()


@config.command("import-singer")
@click.argument("catalog")
@click.option("--namespace", required=True, metavar="NAME", help="The namespace of the tables.")
@click.option(
    "--warehouse",
    metavar="NAME|PATH",
    help="The warehouse that the file is for; by default `x-iceberg.warehouse` at the top of the catalog.",
)
@click.option(
    "--no-evolution",
    is_flag=True,
    help="Turn partition evolution off where a stream says nothing, and for all other tables.",
)
@out_option
@force_option
def import_singer(
    catalog: str, namespace: str, warehouse: str | None, no_evolution: bool, output: str | None, force: bool
) -> None:
    """Make a table-config file of the x-iceberg blocks of a Singer or Meltano catalog."""
    from ldp_maintenance.config.generate import write
    from ldp_maintenance.config.singer import BLOCK, from_singer

    found = from_singer(catalog, namespace, warehouse, evolution=not no_evolution)
    write(found, output, force=force)
    if not found["namespaces"][namespace]["tables"]:
        warn(f"no stream of {catalog} that is selected has an {BLOCK} block: the file names no table")
