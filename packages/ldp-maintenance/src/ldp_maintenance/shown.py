"""What a person is told of a run: each operation on a line, and the table's numbers before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldp_maintenance.maintenance import Maintained
    from ldp_maintenance.model import Outcome

_WORDS = {
    "done": "done",
    "preview": "to do",
    "nothing": "nothing to do",
    "refused": "refused",
    "failed": "failed",
    "skipped": "skipped",
}
_NUMBERS = ("data_files", "data_bytes", "delete_files", "manifests", "snapshots")
"""Of a layout, those that are shown."""


def lines_of(made: Maintained) -> Iterator[str]:
    """A run in lines."""
    yield f"Maintenance of Iceberg table {made.table} ({'dry run' if made.dry_run else 'applied'})"
    width = max((len(one.operation) for one in made.outcomes), default=0)
    for outcome in made.outcomes:
        yield f"  {outcome.operation:<{width}}  {_line(outcome)}"
        for line in outcome.lines:
            yield f"  {'':<{width}}    {line}"
    for text in made.notes:
        yield f"  {text}"
    if made.before is not None:
        yield ""
        yield from _numbers(made.before, made.after)


def _line(outcome: Outcome) -> str:
    word = _WORDS[outcome.status]
    return f"{word}: {outcome.reason}" if outcome.reason else word


def _numbers(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> Iterator[str]:
    """The numbers now, or before and after, and what that does for a scan."""
    columns = [before] if after is None else [before, after]
    cells = [[_number(name, column.get(name)) for column in columns] for name in _NUMBERS]
    heads = ["now"] if after is None else ["before", "after"]
    widths = [max(len(cell) for cell in column) for column in zip(heads, *cells, strict=True)]
    for name, row in zip(("", *_NUMBERS), (heads, *cells), strict=True):
        shown = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"  {name.replace('_', ' '):<14}{shown}"
    if after is not None:
        from ldp_maintenance.layout import speed_up

        speed = speed_up(before, after)
        if speed >= 1.05:
            yield f"  a full scan is expected to be {speed:.1f} times as fast"


def _number(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name.endswith("_bytes"):
        from ldp_core._progress import human_bytes

        return human_bytes(float(value))
    return f"{value:,}" if isinstance(value, int) else str(value)
