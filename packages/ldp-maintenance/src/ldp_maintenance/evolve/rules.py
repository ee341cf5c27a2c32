"""Which partitions are old enough to become coarser, and how coarse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ldp_maintenance.policy import EvolutionRule
from ldp_maintenance.rewrite.windows import UNITS, end, start, value_at

if TYPE_CHECKING:
    import datetime as dt

    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema

_DAY = 24 * 60 * 60


def problem(rules: Sequence[EvolutionRule]) -> str | None:
    """What is wrong with rules, or None."""
    for rule in rules:
        if rule.source not in UNITS or rule.to not in UNITS:
            return f"rule {rule.source} to {rule.to}: units are {', '.join(UNITS)}"
        if UNITS.index(rule.to) <= UNITS.index(rule.source):
            return f"rule {rule.source} to {rule.to}: {rule.to} is not coarser than {rule.source}"
        if rule.older_than_days < 0:
            return f"rule {rule.source} to {rule.to}: older_than_days is negative"
    sources = [rule.source for rule in rules]
    twice = next((source for source in sources if sources.count(source) > 1), None)
    return f"two rules are about partitions of one {twice}" if twice else None


def fine_place(spec: PartitionSpec, rules: Sequence[EvolutionRule]) -> tuple[int | None, str | None]:
    """Where a spec has the field that rules are about, or why none can be followed.

    Returns:
        (place, None); (None, a reason); or (None, None) for a spec that no rule is about.
    """
    sources = {rule.source for rule in rules}
    places = [place for place, field in enumerate(spec.fields) if str(field.transform) in sources]
    if len(places) > 1:
        names = " and ".join(spec.fields[place].name for place in places)
        return None, f"partition spec {spec.spec_id} has two fields that rules are about: {names}"
    return (places[0], None) if places else (None, None)


def coarser(
    unit: str, value: Any, rules: Sequence[EvolutionRule], now: dt.datetime
) -> tuple[str, int] | None:
    """The unit and value that a partition should have by now; None where it stays.

    Age is counted from the end of the coarse partition, so that all of it becomes one at the same time.

    Args:
        unit: Of the partition.
        value: Its value.
        rules: One a unit, at most.
        now: UTC, without an offset.
    """
    by_source = {rule.source: rule for rule in rules}
    begin = start(unit, value)
    found: tuple[str, int] | None = None
    while begin is not None and unit in by_source:
        rule = by_source[unit]
        coarse = value_at(rule.to, begin)
        over = end(rule.to, coarse)
        if over is None or (now - over).total_seconds() < rule.older_than_days * _DAY:
            break
        unit, found = rule.to, (rule.to, coarse)
    return found


def coarse_fields(spec: PartitionSpec, place: int, unit: str) -> list[tuple[int, str]]:
    """(source column, transform) of each field of the coarser spec."""
    return [
        (field.source_id, unit if number == place else str(field.transform))
        for number, field in enumerate(spec.fields)
    ]


def same(spec: PartitionSpec, fields: Sequence[tuple[int, str]]) -> bool:
    """Whether a spec has just these fields."""
    return [(field.source_id, str(field.transform)) for field in spec.fields] == list(fields)


def new_spec(
    fields: Sequence[tuple[int, str]],
    names: Sequence[str],
    specs: Sequence[PartitionSpec],
    schema: Schema,
    last_id: int,
) -> PartitionSpec:
    """A spec of these fields; a field that an older spec has keeps its id and, where it can, its name.

    Args:
        fields: (source column, transform).
        names: What a field is called that no spec has yet.
        specs: All specs of the table.
        schema: Its schema; a field may not have the name of a column, unless it is one.
        last_id: The last field id that was given.
    """
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import parse_transform

    known: dict[tuple[int, str], PartitionField] = {}
    for spec in specs:
        for field in spec.fields:
            known.setdefault((field.source_id, str(field.transform)), field)
    made: list[PartitionField] = []
    for (source, transform), name in zip(fields, names, strict=True):
        older = known.get((source, transform))
        if older is None:
            last_id += 1
        number = last_id if older is None else older.field_id
        label = name if older is None else older.name
        taken = {field.name for field in made}
        if transform != "identity":
            taken |= {field.name for field in schema.fields}
        while label in taken:
            label += "_"
        made.append(PartitionField(source, number, parse_transform(transform), label))
    return PartitionSpec(*made, spec_id=max(spec.spec_id for spec in specs) + 1)
