"""Names that stand twice in a contract: of two tables or columns of one name, only one would be judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ldp_core.errors import Problem


def twice(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Tables of one name, and properties of one name or one column, at every depth.

    Args:
        data: The contract; what is of another type than the standard asks for is passed over.
    """
    tables = _objects(data.get("schema"), "schema")
    yield from _same(tables, "name", "table")
    for table, key in tables:
        yield from _inside(table, key)


def _inside(holder: Mapping[str, Any], key: str) -> Iterator[Problem]:
    found = _objects(holder.get("properties"), f"{key}.properties")
    named = list(_same(found, "name", "property"))
    columns = [(item, place) for item, place in found if item.get("semanticType") != "measure"]
    told = {problem.key.rpartition(".")[0] for problem in named}
    yield from named
    yield from (
        problem
        for problem in _same(columns, "physicalName", "column")
        if problem.key.rpartition(".")[0] not in told
    )
    deeper = [(holder.get("items"), f"{key}.items")]
    if isinstance(holder.get("map"), Mapping):
        deeper += [(holder["map"].get(part), f"{key}.map.{part}") for part in ("key", "value")]
    for item, place in (*found, *deeper):
        if isinstance(item, Mapping):
            yield from _inside(item, place)


def _objects(value: Any, key: str) -> list[tuple[Mapping[str, Any], str]]:
    items = enumerate(value) if isinstance(value, list) else ()
    return [(item, f"{key}[{at}]") for at, item in items if isinstance(item, Mapping)]


def _same(found: list[tuple[Mapping[str, Any], str]], word: str, what: str) -> Iterator[Problem]:
    """Those whose ``word``, or else their name, is that of one before them."""
    first: dict[str, str] = {}
    for item, key in found:
        name = item.get(word) or item.get("name")
        if not isinstance(name, str):
            continue
        if name in first:
            place = f"{key}.{word if item.get(word) else 'name'}"
            yield Problem(f"the {what} {name} stands twice, first as {first[name]}", key=place)
        first.setdefault(name, key)
