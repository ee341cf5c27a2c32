"""A contract drafted from a profile: what holds and will, as promises; what merely holds, as remarks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ldp_core.config.secrets import mask

from ldp_quality import kinds
from ldp_quality.instants import moment_ns, show_instant
from ldp_quality.profiling._options import options
from ldp_quality.profiling._yaml import remark, scalar
from ldp_quality.profiling.keys import Keys, keys
from ldp_quality.profiling.measure import FEW
from ldp_quality.profiling.model import ColumnProfile, Profile

VERSION = "v3.1.0"
"""Of the standard; what is drafted needs nothing newer."""
_LOGICAL = {
    kinds.INTEGER: "integer",
    kinds.DECIMAL: "number",
    kinds.FLOAT: "number",
    kinds.BOOLEAN: "boolean",
    kinds.TEXT: "string",
    kinds.BINARY: "string",
    kinds.DATE: "date",
    kinds.TIMESTAMP: "timestamp",
    kinds.TIME: "time",
}
_REPEATS = 10
"""How often each word of a list occurs on average before the list is believed to be complete."""
_LONG = 60
_DAY_NS = 86_400_000_000_000
_LIMITS = (1, 2, 3, 7, 14, 30, 60, 90)
"""Days that a limit of age may be."""


def draft_contract(
    profile: Profile, name: str, *, id: str | None = None, what: str = "", now: datetime | None = None
) -> str:
    """Draft a contract in the Open Data Contract Standard, as YAML with the evidence of each promise.

    Every promise holds for the profiled rows. What tomorrow's rows may well break, such as the largest
    amount, is left as a comment to take up.

    Args:
        profile: The numbers.
        name: Of the table.
        id: Of the contract; the table's name by default.
        what: The rows, for the remark at the top.
        now: What the age of the newest row is measured from.
    """
    found = keys(profile, name)
    rows = _rows(profile.rows)
    lines = [
        f"# Drafted by ldp contract init from {rows}{f' of {remark(what)}' if what else ''}.",
        "# Every promise holds for these rows; its evidence is beside it. What is behind a # is no promise:",
        "# tomorrow's rows may differ for a good reason: take up what you know to be true.",
        f"apiVersion: {VERSION}",
        "kind: DataContract",
        f"id: {scalar(id or name)}",
        "version: 0.1.0",
        "status: draft",
        "schema:",
        f"  - name: {scalar(name)}",
    ]
    if profile.pair and profile.pair != found.primary:
        pair = " and ".join(profile.pair)
        lines.append(f"    # {remark(pair)} together differ in {_all(profile.rows)}, maybe by chance")
    if profile.columns:
        lines.append("    properties:")
    for column in profile.columns:
        lines += (f"      {line}" for line in _column(column, found))
    if profile.rows:
        lines += ["    quality:", "      - metric: rowCount", f"        mustBeGreaterThan: 0  # {rows}"]
    lines += _freshness(profile, name, now or datetime.now(UTC))
    return "\n".join(lines) + "\n"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _all(count: int) -> str:
    return f"all {_rows(count)}"


def _column(column: ColumnProfile, found: Keys) -> Iterator[str]:
    yield f"- name: {scalar(column.name)}"
    lines = [*_types(column), *_required(column), *_unique(column, found)]
    values = list(_values(column))
    listed = any(not line.startswith("#") for line in values)
    lines += [*options(column, listed=listed), *values]
    yield from (f"  {line}" for line in lines)


def _types(column: ColumnProfile) -> Iterator[str]:
    kind, word = column.kind, column.type.partition("(")[0]
    logical = _LOGICAL.get(kind.family)
    physical = column.type if kind.family in kinds.NUMERIC else None
    if kind.family == kinds.BINARY:
        physical = "BLOB"
    if kind.family == kinds.NESTED:
        shape = kind.name.partition("<")[0]
        logical = "object" if shape == "struct" else "array" if "list" in shape else None
        physical = "MAP" if shape == "map" else None
    elif kind.family == kinds.OTHER and word == "UUID":
        logical, physical = "string", "UUID"
    if logical:
        yield f"logicalType: {logical}"
    if physical:
        yield f"physicalType: {scalar(physical)}"
    if not logical and not physical:
        why = "no value at all" if kind.family == kinds.NULL else f"the standard has no word for {kind.name}"
        yield f"# no type: {remark(why)}"


def _required(column: ColumnProfile) -> Iterator[str]:
    if not column.rows or column.kind.family == kinds.NULL:
        return
    if column.nulls:
        share = _percent(column.nulls, column.rows)
        yield f"# {column.nulls:,} of {_rows(column.rows)} have no value ({share})"
    else:
        yield f"required: true  # no value is missing in {_rows(column.rows)}"


def _unique(column: ColumnProfile, found: Keys) -> Iterator[str]:
    if column.name in found.primary:
        position = found.primary.index(column.name) + 1
        pair = " and ".join(found.primary)
        evidence = (
            f"all {column.count:,} values are different"
            if len(found.primary) == 1
            else f"{remark(pair)} differ in {_all(column.rows)}"
        )
        yield f"primaryKey: true  # {evidence}"
        yield f"primaryKeyPosition: {position}"
    elif column.name in found.unique:
        yield f"unique: true  # all {column.count:,} values are different"
    elif column.unique:
        yield f"# unique: true  # all {column.count:,} values are different, maybe by chance"


def _values(column: ColumnProfile) -> Iterator[str]:
    """The words of a column that has few."""
    if not column.values or column.kind.family == kinds.BOOLEAN:
        return
    shown = ", ".join(
        f"{remark(scalar(value))} ({_percent(count, column.count)})" for value, count in column.values.items()
    )
    if column.kind.family != kinds.TEXT:
        if _repeats(column):
            yield f"# {_different(column)}: {shown}"
        return
    if column.pattern is not None and column.pattern.telling:
        return
    why = _no_list(column)
    if why:
        yield f"# {_different(column)} {why}"
        return
    listed = ", ".join(scalar(value) for value in column.values)
    yield "quality:"
    yield f"  # {_different(column)} in {_rows(column.count)}: {shown}"
    yield "  - metric: invalidValues"
    yield "    arguments:"
    yield f"      validValues: [{listed}]"
    yield "    mustBe: 0"


def _no_list(column: ColumnProfile) -> str | None:
    """Why the values of a text column are no list to hold it to."""
    values = list(column.values or ())
    if not _repeats(column):
        return f"in {_rows(column.count)}, too few to know them all"
    if any(len(value) > _LONG for value in values):
        return "that are too long for a list"
    if any(mask(value) != value or "${" in value for value in values):
        return "that are not written down: one looks like a secret or a variable"
    return None


def _repeats(column: ColumnProfile) -> bool:
    """Whether each value is seen often, and none only once."""
    counts = list((column.values or {}).values())
    return 0 < len(counts) <= FEW and column.count >= _REPEATS * len(counts) and min(counts) > 1


def _different(column: ColumnProfile) -> str:
    number = len(column.values or ())
    return "1 value" if number == 1 else f"{number} different values"


def _percent(part: int, whole: int) -> str:
    text = f"{part / whole:.1%}" if whole else "0%"
    return "<0.1%" if text == "0.0%" else ">99.9%" if text == "100.0%" and part < whole else text


def _freshness(profile: Profile, table: str, now: datetime) -> Iterator[str]:
    """A limit of age by the newest moment that is not in the future."""
    present = moment_ns(now) or 0
    moments = [
        (column.newest_ns, column)
        for column in profile.columns
        if column.newest_ns is not None and column.newest_ns <= present
    ]
    if not moments:
        return
    newest, column = max(moments, key=lambda item: item[0])
    seen = f"newest {remark(column.name)}: {_moment(column, newest)}"
    limit = next((days for days in _LIMITS if days * _DAY_NS >= 2 * (present - newest)), None)
    element = f"{table}.{column.name}"
    if "," in element or element != element.strip():
        yield f"# {seen}; an element with a comma or a space at its ends cannot be named here"
        return
    mark = "" if limit else "# "
    why = "" if limit else ", too old for a limit to follow from it"
    yield f"# {seen}{why}"
    yield f"{mark}slaProperties:"
    yield f"{mark}  - property: latency"
    yield f"{mark}    value: {limit or 1}"
    yield f"{mark}    unit: d"
    yield f"{mark}    element: {scalar(element)}"


def _moment(column: ColumnProfile, newest: int) -> str:
    shown = show_instant(newest)
    return shown.partition("T")[0] if column.kind.family == kinds.DATE else shown
