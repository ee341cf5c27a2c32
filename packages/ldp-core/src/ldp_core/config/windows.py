"""What a config says of windows in more than one place: placeholders, the schedule, the way of writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ldp_core.config.load import child
from ldp_core.config.names import entry_of
from ldp_core.config.pipeline import TARGET
from ldp_core.config.sections.schedule import derived
from ldp_core.config.sections.schedule import wrong as wrong_schedule
from ldp_core.errors import Problem
from ldp_core.window.placeholders import begun, placeholders, problem

if TYPE_CHECKING:
    from ldp_core.config.model import Config

PATH = "metadata.source.path"
"""The one key that placeholders work in."""


def window_problems(config: Config) -> Iterator[Problem]:
    """What is wrong, or worth a note, with the windows of a config.

    Args:
        config: Its parts may be of any shape.
    """
    path = _text(_part(config, "source").get("path"))
    wrong = problem(path)
    if wrong is not None:
        yield Problem(wrong, key=PATH)
    if placeholders(path) and config.metadata.get("window") == "none":
        yield Problem(
            f"has the placeholder {placeholders(path)[0]}, and metadata.window is none: nothing fills it",
            key=PATH,
            hint="give metadata.window a size, or leave it out",
        )
    for name, value in config.metadata.items():
        if name != "docs" and not name.startswith("x-"):
            yield from _elsewhere(value, f"metadata.{name}")
    target = _part(config, "target")
    window = config.metadata.get("window")
    selects = isinstance(window, Mapping) and bool(window.get("column"))
    if selects or entry_of(TARGET, target) != "ICEBERG":
        return
    mode = (_text(target.get("write_mode")) or "append").lower()
    if mode == "append" and not placeholders(path) and not wrong:
        yield from _same_rows(config)
    if mode == "overwrite" and placeholders(path):
        yield Problem(
            f"overwrite replaces the whole table, although {placeholders(path)[0]} picks one window's file; "
            "set metadata.window.column to replace the rows of the window alone",
            key=PATH,
            severity="note",
        )


def _same_rows(config: Config) -> Iterator[Problem]:
    """A schedule of appends that all load the same rows."""
    own = config.metadata.get("schedule")
    schedule = own if isinstance(own, str) else derived(config.when)
    if schedule is None or wrong_schedule(schedule):
        return
    yield Problem(
        f"the schedule {schedule!r} would append the same rows in every window: neither a placeholder in "
        "metadata.source.path nor metadata.window.column says which rows a window has",
        key="when" if own is None else "metadata.schedule",
        hint="set metadata.window.column, name the file by {window_start:%Y-%m-%d}, or overwrite or upsert",
    )


def _elsewhere(value: Any, key: str) -> Iterator[Problem]:
    """Placeholders in keys that they do not work in."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not str(name).startswith("x-"):
                yield from _elsewhere(item, child(key, str(name)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _elsewhere(item, f"{key}[{number}]")
    elif isinstance(value, str) and key != PATH and (found := begun(value)):
        yield Problem(f"{found} works in {PATH} alone", key=key)


def _part(config: Config, name: str) -> Mapping[str, Any]:
    value = config.metadata.get(name)
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
