"""Service levels: what is promised of when data comes and how long it stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ldp_quality.contract._diff_change import INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_match import ABSENT, CONTENT, By, by, freeze
from ldp_quality.contract._diff_options import ordered
from ldp_quality.contract._diff_walk import Differ, fields, joint, members, nothing, plain, told

_SYNONYMS = {
    "av": "availability",
    "th": "throughput",
    "er": "errorrate",
    "ga": "generalavailability",
    "es": "endofsupport",
    "el": "endoflife",
    "re": "retention",
    "fy": "frequency",
    "ly": "latency",
    "td": "timetodetect",
    "tn": "timetonotify",
    "tr": "timetorepair",
}
_LESS_IS_BETTER = frozenset(
    {
        "errorrate",
        "frequency",
        "freshness",
        "generalavailability",
        "latency",
        "timeofavailability",
        "timetodetect",
        "timetonotify",
        "timetorepair",
    }
)
_MORE_IS_BETTER = frozenset({"availability", "throughput", "retention", "endofsupport", "endoflife"})
_SECONDS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), Fraction(1, 1000)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("m", "min", "minute", "minutes"), Fraction(60)),
    **dict.fromkeys(("h", "hr", "hour", "hours"), Fraction(3600)),
    **dict.fromkeys(("d", "day", "days"), Fraction(86_400)),
    **dict.fromkeys(("w", "week", "weeks"), Fraction(7 * 86_400)),
    **dict.fromkeys(("mo", "month", "months"), Fraction(365_25 * 864, 12)),
    **dict.fromkeys(("y", "yr", "year", "years"), Fraction(365_25 * 864)),
}


def slas(path: str, old: Any, new: Any) -> Iterator[Change]:
    """Two lists of ``slaProperties``."""
    yield from members(path, old, new, _WAYS, _sla)


def default_element(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The ``slaDefaultElement``."""
    if old is ABSENT or new is ABSENT:
        yield from plain(path, old, new)
    else:
        yield from told(path, old, new, TIGHTENING, "service levels are measured on another element")


def _of(*others: str, alone: bool = False) -> By:
    def key(sla: Any) -> Any:
        if not isinstance(sla, Mapping) or "property" not in sla:
            return None
        return (_property(sla), *(freeze(sla.get(name, ABSENT)) for name in others))

    return By(key, alone)


_WAYS = (by("id"), _of("element", "driver"), _of("element", alone=True), _of(alone=True), CONTENT)


def _property(sla: Mapping[str, Any]) -> str:
    name = str(sla.get("property")).lower().replace("_", "").replace("-", "")
    return _SYNONYMS.get(name, name)


def _sla(path: str, old: Any, new: Any) -> Iterator[Change]:
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        impact, means = (
            (TIGHTENING, "it is promised now") if old is ABSENT else (LOOSENING, "it is promised no more")
        )
        yield from told(path, old, new, impact, means)
        return
    if _property(old) != _property(new):
        yield from told(path, old, new, TIGHTENING, "another service level is promised")
        return
    yield from joint(path, ("value", "unit"), old, new, lambda: _judged(_compared(old, new)))
    special: dict[str, Differ] = {"value": nothing, "unit": nothing, "element": _other, "valueExt": _other}
    yield from fields(path, old, new, special)


def _other(path: str, old: Any, new: Any) -> Iterator[Change]:
    yield from told(path, old, new, TIGHTENING, "something else is promised")


def _judged(impact: str) -> tuple[str, str]:
    return impact, {
        TIGHTENING: "more is promised, or something else",
        LOOSENING: "less is promised",
        INFORMATIONAL: "it means the same",
    }[impact]


def _compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    was, now = _measure(old), _measure(new)
    if was == now:
        return INFORMATIONAL
    name = _property(new)
    if was[:2] != now[:2] or not was[0] or name not in _LESS_IS_BETTER | _MORE_IS_BETTER:
        return TIGHTENING
    return LOOSENING if (now[2] > was[2]) == (name in _LESS_IS_BETTER) else TIGHTENING


def _measure(sla: Mapping[str, Any]) -> tuple[str, str, Any]:
    """What kind of value it is, in what unit, and how much; no kind for what cannot be compared."""
    unit = str(sla.get("unit", "")).strip().lower()
    kind, number = ordered(sla.get("value"))
    if kind == "number" and unit in _SECONDS:
        return "time", "", number * _SECONDS[unit]
    if not kind:
        zoned = str(sla.get("value")).strip()
        kind, number = ordered(f"1970-01-01T{zoned}")
    return kind, unit, number if kind else freeze(sla.get("value"))
