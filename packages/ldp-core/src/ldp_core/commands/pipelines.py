"""``ldp pipelines``: which sources and targets are installed."""

from __future__ import annotations

import click

from ldp_core._output import json_option, print_json, print_table, say


@click.command()
@json_option
def pipelines(as_json: bool) -> None:
    """List the installed sources, targets and transforms, and the packages that offer them.

    Any source goes to any target.
    """
    from ldp_core import registry
    from ldp_core.run.registered import registered_pipelines

    groups = {kind: registry.providers(f"ldp.{kind}s") for kind in ("source", "target", "transform")}
    own = registered_pipelines()
    if as_json:
        body = {
            f"{kind}s": [{"name": name, "packages": packages} for name, packages in found.items()]
            for kind, found in groups.items()
        }
        routes = [
            {"source": source, "target": target} for source in groups["source"] for target in groups["target"]
        ]
        print_json({**body, "routes": routes, "registered": own})
        return
    rows = [
        (kind, name, ", ".join(packages))
        for kind, found in groups.items()
        for name, packages in found.items()
    ]
    print_table(["kind", "name", "package"], rows, footer=False)
    say("any source goes to any target")
    for route in own:
        say(f"{route['source']} -> {route['target']}: {route['class']}")
