"""What is wrong with settings that their shape cannot say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ldp_core.errors import Problem

from ldp_maintenance.config.shapes import GRANULARITIES, MAX_BITS


def setting_problems(value: Mapping[str, Any]) -> list[Problem]:
    """The findings about one table's settings; parts that do not fit the shape are passed over."""
    found = [*_partition(value.get("partition")), *_evolution(_of(value, "partition_evolution").get("rules"))]
    return [*found, *_ordering(_of(value, "ordering")), *_retention(_of(value, "retention"))]


def _of(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}


def _objects(value: Any) -> list[tuple[int, Mapping[str, Any]]]:
    items = value if isinstance(value, list | tuple) else ()
    return [(at, item) for at, item in enumerate(items) if isinstance(item, Mapping)]


def _partition(fields: Any) -> Iterator[Problem]:
    needs = {"bucket": "num_buckets", "truncate": "width"}
    for at, field in _objects(fields):
        transform = field.get("transform", "identity")
        wanted = needs.get(str(transform))
        if wanted and wanted not in field:
            yield Problem(f"a {transform} needs {wanted}", key=f"partition[{at}].{wanted}")
        for name in needs.values():
            if name in field and name != wanted:
                yield Problem(f"{transform} takes no {name}", key=f"partition[{at}].{name}")


def _evolution(rules: Any) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, rule in _objects(rules):
        key, source, to = f"partition_evolution.rules[{at}]", str(rule.get("from")), str(rule.get("to"))
        known = source in GRANULARITIES and to in GRANULARITIES
        if known and GRANULARITIES.index(to) <= GRANULARITIES.index(source):
            coarser = ", ".join(GRANULARITIES[GRANULARITIES.index(source) + 1 :])
            yield Problem(f"{to} is not coarser than {source}", key=f"{key}.to", hint=f"one of: {coarser}")
        if source in seen:
            yield Problem(f"there is a rule for {source} already", key=f"{key}.from")
        seen.add(source)


def _ordering(value: Mapping[str, Any]) -> Iterator[Problem]:
    mode = str(value.get("mode") or "").lower()
    for name in ("sort", "zorder"):
        if mode == name and not value.get(name):
            yield Problem(f"the mode {name} needs its columns", key=f"ordering.{name}")
        elif mode and mode != "none" and mode != name and value.get(name):
            yield Problem(f"the mode is {mode}", key=f"ordering.{name}", hint=f"set ordering.mode to {name}")
    keys = [str(item.get("column")) for _, item in _objects(value.get("sort"))]
    for name in _twice(keys):
        yield Problem(f"{name} stands there twice", key="ordering.sort")
    zorder = _of(value, "zorder")
    columns = zorder.get("columns")
    if isinstance(columns, list | tuple):
        yield from zorder_problems([str(name) for name in columns], zorder.get("precision_bits", 16))


def zorder_problems(columns: list[str], bits: Any, key: str = "ordering.zorder") -> Iterator[Problem]:
    """What is wrong with a z-order of columns."""
    for name in _twice(columns):
        yield Problem(f"{name} stands there twice", key=f"{key}.columns")
    if isinstance(bits, int) and bits * len(columns) > MAX_BITS:
        yield Problem(
            f"{bits} bits of {len(columns)} columns are {bits * len(columns)}, and {MAX_BITS} are the most",
            key=f"{key}.precision_bits",
            hint=f"at most {MAX_BITS // len(columns)} bits of {len(columns)} columns",
        )


def _twice(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _retention(value: Mapping[str, Any]) -> Iterator[Problem]:
    orphans = _of(value, "remove_orphan_files")
    if _of(value, "expire_snapshots").get("enabled") is False and orphans.get("enabled") is True:
        yield Problem(
            "orphan files are only removed where snapshots expire",
            key="retention.remove_orphan_files.enabled",
            hint="enable expire_snapshots, or disable both",
        )
