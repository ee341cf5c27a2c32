"""The numbers of rules over time, drawn."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ldp_core._output import print_table, say
from ldp_core.errors import UsageError

from ldp_quality.commands._draw import bars_for, spark
from ldp_quality.commands._words import minute, number, percent, right
from ldp_quality.store.records import Point, RunRecord

_Run = tuple[datetime, str, int]


def series_of(points: Sequence[Point], rule: str | None, dataset: str) -> dict[str, list[Point]]:
    """The points of each rule; rules of one run that share a name are numbered.

    Args:
        points: All points.
        rule: The one rule that is wanted.
        dataset: What they are of, for the message.

    Raises:
        UsageError: There is no such rule.
    """
    found: dict[str, list[Point]] = {}
    seen: Counter[tuple[str, datetime, str, int]] = Counter()
    for point in points:
        if rule not in (None, point.rule):
            continue
        key = (point.rule, *_run(point))
        seen[key] += 1
        name = point.rule if seen[key] == 1 else f"{point.rule} #{seen[key]}"
        found.setdefault(name, []).append(point)
    if rule is not None and not found:
        known = ", ".join(dict.fromkeys(point.rule for point in points))
        raise UsageError(f"no rule {rule!r} in these runs of {dataset}", hint=f"they have {known}")
    return found


def no_numbers(records: Sequence[RunRecord], rule: str | None, metric: str, dataset: str) -> UsageError:
    """The error that no rule has such a number; names those that they have."""
    rules = [item for record in records for item in record.rules if rule in (None, item.name)]
    known = dict.fromkeys(name for item in rules for name in sorted(item.metrics))
    listed = ", ".join(["failing_rows", "share", "rows", *known])
    return UsageError(f"no metric {metric!r} in these runs of {dataset}", hint=f"there are {listed}")


def draw(series: dict[str, list[Point]], metric: str, dataset: str) -> None:
    """Print one line a rule; all lines have the same runs below each other.

    Args:
        series: The points of each rule; a rule without any number is left out.
        metric: What they are.
        dataset: What they are of.
    """
    order = sorted({_run(point) for line in series.values() for point in line})
    runs = f"{len(order)} run{'' if len(order) == 1 else 's'}"
    span = dict.fromkeys((minute(order[0][0]), minute(order[-1][0])))
    say(f"{metric} of {dataset}, {runs}, {' to '.join(span)}:")
    bars = bars_for(getattr(sys.stdout, "encoding", None))
    text = percent if metric == "share" else number
    counted = {name: line for name, line in series.items() if any(point.value is not None for point in line)}
    columns = {
        "rule": list(counted),
        "trend": [spark(_values(line, order), bars) for line in counted.values()],
    }
    bounds = [_bounds([point.value for point in line]) for line in counted.values()]
    for name, column in zip(("min", "max", "last"), zip(*bounds, strict=True), strict=True):
        columns[name] = right(name, [text(value) for value in column])
    broken = [f"{_broken(line)} of {len(line)}" for line in counted.values()]
    columns["broken"] = right("broken", broken)
    columns["status"] = [line[-1].status for line in counted.values()]
    print_table(tuple(columns), list(zip(*columns.values(), strict=True)), footer=False)


def line_json(rule: str, line: Sequence[Point]) -> dict[str, Any]:
    """One line as JSON."""
    least, most, last = _bounds([point.value for point in line])
    points = [point.to_dict() for point in line]
    return {"rule": rule, "min": least, "max": most, "last": last, "points": points}


def _values(line: Sequence[Point], order: Sequence[_Run]) -> list[int | float | None]:
    by_run = {_run(point): point.value for point in line}
    return [by_run.get(run) for run in order]


def _broken(line: Sequence[Point]) -> int:
    """In how many runs it did not pass."""
    return sum(point.status != "pass" for point in line)


def _bounds(values: Sequence[int | float | None]) -> tuple[int | float | None, ...]:
    """The least, the most and the last number."""
    known = [value for value in values if value is not None]
    return (min(known), max(known), known[-1]) if known else (None, None, None)


def _run(point: Point) -> _Run:
    return point.moment, point.run_id, point.attempt
