"""``ldp catalog test``: does a catalog answer, and what is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ldp_core._output import env_option, json_option, print_json, say

if TYPE_CHECKING:
    from ldp_core.spi import Spec


@click.group()
def catalog() -> None:
    """Look at catalogs."""


@catalog.command()
@click.argument("file", metavar="CONFIG|SPEC")
@env_option
@json_option
def test(file: str, env: str | None, as_json: bool) -> None:
    """Open a catalog and list what is in it. Creates nothing.

    SPEC is a JSON or YAML file that holds a catalog alone.
    """
    from ldp_core.catalogs.access import open_catalog, type_of
    from ldp_core.commands._lookup import namespaces_of
    from ldp_core.config.secrets import masked

    written, spec = _catalog_of(file, env)
    kind = type_of(spec)
    shown = masked(written)
    if not as_json:
        say(f"catalog type: {kind}")
        say(f"spec: {json.dumps(shown, sort_keys=True, ensure_ascii=False)}")
    _check(spec)
    opened = open_catalog(spec)
    contents = _contents(opened, namespaces_of)
    if as_json:
        print_json({"type": kind, "spec": shown, "name": opened.name, "namespaces": contents, "ok": True})
        return
    say(f"catalog name: {opened.name}")
    say(f"namespaces ({len(contents)}): {', '.join(contents)}".rstrip())
    for space, names in contents.items():
        listed = ", ".join(f"{space}.{name}" for name in names)
        say(f"tables in {space} ({len(names)}): {listed}".rstrip())
    say("ok")


def _contents(opened: Any, namespaces_of: Any) -> dict[str, list[str]]:
    from ldp_core.catalogs.tables import unreachable
    from ldp_core.errors import LDPError

    try:
        return {
            ".".join(space): sorted(identifier[-1] for identifier in opened.list_tables(space))
            for space in namespaces_of(opened)
        }
    except LDPError:
        raise
    except Exception as error:
        raise unreachable(opened.name, error) from error


def _catalog_of(file: str, env: str | None) -> tuple[Mapping[str, Any], Spec]:
    """A catalog as it is written, and its spec: a config's target's, else its source's, or a file alone."""
    from ldp_core.config import Config
    from ldp_core.config.catalogs import CATALOG
    from ldp_core.config.load import load_document
    from ldp_core.config.normal import normalise
    from ldp_core.errors import ConfigError
    from ldp_core.spi import Spec

    document = load_document(file)
    if "metadata" not in document.data:
        values = normalise(CATALOG, document.data)
        return document.data, Spec(values, Path(file).parent, "", file)
    config = Config.from_file(file, env=env)
    for name in ("target", "source"):
        part = config.target if name == "target" else config.source
        if part.get("catalog"):
            spec = config.spec(name).sub("catalog")
            written = part["catalog"]
            return (written if isinstance(written, Mapping) else spec.values), spec
    raise ConfigError("the config names no catalog", file=file, key="metadata.target.catalog")


def _check(spec: Spec) -> None:
    """Refuse a spec that a config could not hold either.

    Raises:
        ConfigError: A key is wrong, or a secret is written down.
    """
    from ldp_core.catalogs.access import provider_of
    from ldp_core.config.catalogs import CATALOG
    from ldp_core.config.secrets import find_secrets
    from ldp_core.config.validate import check
    from ldp_core.errors import ConfigError

    values = dict(spec.values)
    found = find_secrets(values) or check(CATALOG, values) or provider_of(spec).problems(spec)
    if found:
        placed = (replace(item, key=f"{spec.key}.{item.key}".strip("."), file=spec.file) for item in found)
        raise ConfigError.from_problems(tuple(placed))
