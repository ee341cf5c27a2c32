"""Which config files a command line means."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ldp_core.config.load import load_document
from ldp_core.errors import ConfigError

SUFFIXES = (".json", ".yaml", ".yml")
NOT_PIPELINES = ("ldp.yaml", "ldp.yml", "ldp.json", "ldp_dbt.json")


def find_configs(paths: Iterable[str | Path]) -> list[str]:
    """The pipeline configs behind files and folders, in order.

    A file is taken as it is. Of a folder, its files that end in .json, .yaml or .yml, by name, except hidden
    ones, ``ldp.yaml``, other kinds such as workflows, and data that is no config (neither ``metadata`` nor
    ``apiVersion`` in it); subfolders are not entered. A file of a folder that cannot be parsed is kept,
    so that its error is seen.

    Args:
        paths: As the user named them.

    Raises:
        ConfigError: A folder has no config.
    """
    found: list[str] = []
    for path in paths:
        folder = Path(path)
        if not folder.is_dir():
            found.append(str(path))
            continue
        inside = [str(file) for file in sorted(folder.iterdir()) if _is_config(file)]
        if not inside:
            raise ConfigError("no pipeline config is in this folder", file=str(path))
        found += inside
    return list(dict.fromkeys(found))


def _is_config(file: Path) -> bool:
    if file.name.startswith(".") or file.suffix not in SUFFIXES or file.name in NOT_PIPELINES:
        return False
    try:
        data = load_document(file).data
    except ConfigError:
        return file.suffix != ".json" or _looks_like_object(file)
    return ("metadata" in data or "apiVersion" in data) and data.get("kind", "Pipeline") == "Pipeline"


def _looks_like_object(file: Path) -> bool:
    """Whether a file that failed to load is a broken config rather than data such as a JSON list or lines."""
    text = file.read_text(encoding="utf-8", errors="replace").lstrip()
    if not text.startswith("{"):
        return False
    try:
        json.loads(text.splitlines()[0])
    except ValueError:
        return True
    return False
