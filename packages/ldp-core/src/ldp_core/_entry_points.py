"""The entry points of what is installed, read without ``importlib.metadata``.

Importing ``importlib.metadata`` and scanning with it costs 60 to 100 ms, more than everything else that
``ldp --help`` does. The format is small and fixed (packaging.python.org, "Entry points specification"):
``entry_points.txt`` in a ``*.dist-info`` or ``*.egg-info`` folder on ``sys.path``, sections in brackets,
``name = module:attribute`` lines. The first folder of a distribution on the path wins, as it does there.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EntryPoint:
    """One plugin.

    Attributes:
        name: The word a user writes.
        value: ``package.module:attribute``.
        owner: The distribution that offers it, such as ``ldp-core``.
    """

    name: str
    value: str
    owner: str

    def load(self) -> Any:
        """Import the object; raises whatever the import raises."""
        module, _, attribute = self.value.partition(" ")[0].partition(":")
        found = importlib.import_module(module)
        return functools.reduce(getattr, filter(None, attribute.split(".")), found)


def in_group(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by name; a name with two of them has two providers. Imports no plugin."""
    return _all(tuple(sys.path)).get(group, {})


def forget() -> None:
    """Look again at the next call, after something was installed in this process."""
    _all.cache_clear()


@functools.cache
def _all(path: tuple[str, ...]) -> dict[str, dict[str, tuple[EntryPoint, ...]]]:
    groups: dict[str, dict[str, tuple[EntryPoint, ...]]] = {}
    for group, point in _from_metadata() if _has_archives(path) else _from_folders(path):
        points = groups.setdefault(group, {}).get(point.name, ())
        if point not in points:
            groups[group][point.name] = (*points, point)
    return groups


def _has_archives(path: tuple[str, ...]) -> bool:
    """Whether packages are imported from inside a zip file (zipapps): the standard library reads those."""
    return any(os.path.isfile(entry) for entry in path if entry)  # noqa: PTH113


def _from_metadata() -> Iterator[tuple[str, EntryPoint]]:
    from importlib.metadata import distributions

    seen: set[str] = set()
    for dist in distributions():
        owner = dist.name.replace("_", "-").lower()
        if owner not in seen:
            seen.add(owner)
            for point in dist.entry_points:
                yield point.group, EntryPoint(point.name, point.value, owner)


def _from_folders(path: tuple[str, ...]) -> Iterator[tuple[str, EntryPoint]]:
    seen: set[str] = set()
    for entry in path:
        try:
            names = os.listdir(entry or ".")  # noqa: PTH208  (pathlib costs more than the scan)
        except OSError:
            continue
        for name in sorted(names):
            if not name.endswith((".dist-info", ".egg-info")):
                continue
            owner = name.rpartition(".")[0].partition("-")[0].replace("_", "-").lower()
            if owner in seen:
                continue
            seen.add(owner)
            yield from _from_file(f"{entry or '.'}/{name}/entry_points.txt", owner)


def _from_file(file: str, owner: str) -> Iterator[tuple[str, EntryPoint]]:
    try:
        with open(file, encoding="utf-8") as stream:  # noqa: PTH123
            text = stream.read()
    except OSError:
        return
    group = ""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield group, EntryPoint(name.strip(), value.strip(), owner)
