"""``metadata.observability``: where the events of a run go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ldp_core.config.load import child
from ldp_core.config.names import ignored, words
from ldp_core.config.validate import check
from ldp_core.errors import Problem
from ldp_core.shape import Anything, Key, ListOf, MapOf, Named, OneOf, Shape, Text, Type
from ldp_core.spi import Spec

SINK = Named(group="ldp.event_sinks", by="type", aliases={"none": "null"})
OBSERVABILITY = Shape(
    keys=(
        Key(
            "sinks",
            ListOf(OneOf((Text(pattern=r"\S"), MapOf(Anything()))), or_single=True),
            "The sinks: names, or objects with a type and its options.",
        ),
        *(
            Key(name, MapOf(Anything()), f"Options of the sink {name}.")
            for name in ("jsonl", "iceberg", "openlineage", "quality_store", "null", "none")
        ),
    ),
    doc="Where the events of a run go. A sink that fails never fails the load.",
)


def sinks(
    value: Mapping[str, Any], find: Callable[[str], Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """The sinks of a section, each with its type and its options put together.

    Options stand beside ``type``, in a block named after the type, or both; those beside the type win.

    Args:
        value: The section; what is no sink in it is left out, ``problems`` tells of it.
        find: Gives the catalog that a name in ``ldp.yaml`` means; None leaves names as they are.
    """
    listed = value.get("sinks")
    items = listed if isinstance(listed, list | tuple) else [] if listed is None else [listed]
    found = []
    for item in items:
        if not isinstance(item, str | Mapping):
            continue
        own = {"type": item} if isinstance(item, str) else dict(item)
        block = value.get(str(own.get("type")))
        options = {**(block if isinstance(block, Mapping) else {}), **own}
        if find is not None and isinstance(options.get("catalog"), str):
            options["catalog"] = find(options["catalog"])
        found.append(options)
    return found


class ObservabilitySection:
    """The section; not hashed, because it changes no row."""

    shape: Type = OBSERVABILITY
    hashed = False

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """What is wrong with each sink."""
        return list(_problems(value))

    def canonical(self, value: Any, spec: Spec) -> Any:
        """As written."""
        return value

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """The names of the sinks."""
        named = ", ".join(str(sink.get("type")) for sink in sinks(value))
        return [("sinks", named or "none (events are dropped)")]


def _problems(value: Mapping[str, Any]) -> Iterator[Problem]:
    for at, sink in enumerate(sinks(value)):
        written = value["sinks"]
        item = written[at] if isinstance(written, list | tuple) else written
        key = f"sinks[{at}]"
        word = sink.get("type")
        if not isinstance(word, str):
            yield Problem("is required", key=f"{key}.type", hint=f"one of: {', '.join(words(SINK))}")
            continue
        for problem in check(SINK, sink, key):
            yield _at_home(problem, key, item, word)
    used = {str(sink.get("type")) for sink in sinks(value)}
    for name in value:
        if name != "sinks" and name not in used and not ignored(name):
            yield Problem(f"no sink of the type {name} is in sinks", key=name, severity="warning")


def _at_home(problem: Problem, key: str, item: Any, word: str) -> Problem:
    """The problem at the place where the option was written: beside the type, or in the type's block."""
    option = problem.key.removeprefix(f"{key}.")
    top = option.split(".")[0].split("[")[0]
    if isinstance(item, str) and top == "type":
        return replace(problem, key=key)
    if isinstance(item, str) or top not in item:
        return replace(problem, key=child(word, option))
    return problem


SECTION = ObservabilitySection()
