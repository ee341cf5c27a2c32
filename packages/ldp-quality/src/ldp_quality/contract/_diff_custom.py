"""How bad a broken rule is, and which rows it is about: severity and our ``customProperties``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ldp_core.config.load import child

from ldp_quality.contract._diff_change import INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_drift import drift
from ldp_quality.contract._diff_match import ABSENT, CONTENT, by
from ldp_quality.contract._diff_walk import Differ, fields, judged, members, nothing, plain, promise, told
from ldp_quality.contract._extras import severity_of

_POLICIES = ("warn", "quarantine", "fail")
_WARN_ROWS, _WARN_SHARE, _FAIL_ROWS, _FAIL_SHARE = range(4)
_LIMITS: dict[str, tuple[int | None, int]] = {
    "warnabove": (_WARN_ROWS, _WARN_SHARE),
    "failabove": (_FAIL_ROWS, _FAIL_SHARE),
    "warnifgreaterthan": (_WARN_ROWS, _WARN_SHARE),
    "failifgreaterthan": (_FAIL_ROWS, _FAIL_SHARE),
    "warnifpercentgreaterthan": (None, _WARN_SHARE),
    "failifpercentgreaterthan": (None, _FAIL_SHARE),
}
"""Where each stands among the limits when it is a number of rows, and when it is a share."""
GRADING = frozenset({*_LIMITS, "severity"})
"""The plain names of what ``grading`` compares."""
_MEANS = {
    TIGHTENING: "fewer bad rows are tolerated",
    LOOSENING: "more bad rows are tolerated",
    INFORMATIONAL: "it means the same",
}
_WAYS = (by("property"), by("id"), CONTENT)


def grading(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Severity and tolerances, judged together: from how many bad rows on a rule warns, and fails.

    Args:
        path: Of the rule, or of the column, table or contract that says it for all its rules.
        old: It before.
        new: It after.
    """
    was, now = _graded(old), _graded(new)
    impact = _compared(_reach(was), _reach(now))
    for place in sorted({*was, *now}):
        before, after = (graded[place][1] if place in graded else ABSENT for graded in (was, now))
        yield from told(child(path, place), before, after, impact, _MEANS[impact])


def custom(path: str, old: Any, new: Any) -> Iterator[Change]:
    """A list of ``customProperties``, without what ``grading`` tells of it."""
    yield from members(path, old, new, _WAYS, _one)


def named(mapping: Mapping[str, Any]) -> dict[str, Differ]:
    """How to tell apart the keys of an object that are ours, by the names it writes them with."""
    known = {key: _KNOWN[_plain(key)] for key in mapping if _plain(key) in _KNOWN}
    return known | {key: nothing for key in mapping if _plain(key) in GRADING}


def _one(path: str, old: Any, new: Any) -> Iterator[Change]:
    if not (isinstance(old or {}, Mapping) and isinstance(new or {}, Mapping)):
        yield from plain(path, old, new)
        return
    name = _name(old or new)
    differ = nothing if name in GRADING else _KNOWN.get(name)
    if differ is None:
        yield from plain(path, old, new)
    elif old and new:
        yield from fields(path, old, new, {"value": differ})
    else:
        yield from differ(path, *(item.get("value") if item else ABSENT for item in (old, new)))


def _name(item: Any) -> str:
    """The plain name of a custom property that is ours; empty for one of another vendor."""
    if not isinstance(item, Mapping) or item.get("vendor") not in (None, "ldp"):
        return ""
    return _plain(item.get("property"))


def _plain(name: Any) -> str:
    """A name however it is written: ``failAbove`` and ``fail_above`` are one."""
    return str(name).lower().replace("_", "")


def _policy(path: str, old: Any, new: Any) -> Iterator[Change]:
    was, now = (_POLICIES.index(word) if word in _POLICIES else 2 for word in (_word(old), _word(new)))
    impact = INFORMATIONAL if was == now else TIGHTENING if now > was else LOOSENING
    yield from told(path, old, new, *judged(impact))


def _word(value: Any) -> str:
    return "fail" if value is ABSENT else str(value).lower()


def _where(path: str, old: Any, new: Any) -> Iterator[Change]:
    if old is ABSENT or new is ABSENT:
        impact = LOOSENING if old is ABSENT else TIGHTENING
        why = "only some rows are looked at" if old is ABSENT else "all rows are looked at"
        yield from told(path, old, new, impact, why)
    else:
        yield from told(path, old, new, TIGHTENING, "other rows are looked at")


def _cap(path: str, old: Any, new: Any) -> Iterator[Change]:
    was, now = (_part(value) for value in (old, new))
    impact = TIGHTENING
    if was is not None and now is not None:
        impact = INFORMATIONAL if was == now else TIGHTENING if now < was else LOOSENING
    yield from told(path, old, new, *judged(impact))


def _part(value: Any) -> float | None:
    number = math.inf if value is ABSENT else _number(value)
    return number / 100 if number is not None and _is_share(value) else number


_KNOWN: dict[str, Differ] = {
    "where": _where,
    "onfailure": _policy,
    "onfail": _policy,
    "maxshare": _cap,
    "scope": promise,
    "schemadrift": drift,
}


def _graded(rule: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """What grades a rule: where it stands, to its plain name and its value."""
    found = {"severity": ("severity", rule["severity"])} if "severity" in rule else {}
    listed = rule.get("customProperties")
    for item in listed if isinstance(listed, list | tuple) else ():
        if _name(item) in GRADING:
            found[f"customProperties.{item['property']}"] = (_name(item), item.get("value"))
    implementation = rule.get("implementation")
    for key, value in implementation.items() if isinstance(implementation, Mapping) else ():
        if _plain(key) in GRADING:
            found[f"implementation.{key}"] = (_plain(key), value)
    return found


def _reach(graded: Mapping[str, tuple[str, Any]]) -> tuple[float, ...] | None:
    """How many bad rows, and which share, it takes to warn, then to fail; None where that cannot be read."""
    limits: list[float | None] = [None] * 4
    said = dict(graded.values())
    for name, (rows, share) in _LIMITS.items():
        value = said.get(name, ())
        for part in value if isinstance(value, list | tuple) else (value,):
            number = _number(part)
            if number is None:
                return None
            limits[share if rows is None or _is_share(part) else rows] = number
    warn, fail = (_limit(limits[i : i + 2]) for i in (_WARN_ROWS, _FAIL_ROWS))
    never, always = (math.inf, math.inf), (0.0, 0.0)
    if warn is None and fail is None:
        mild = severity_of(said.get("severity")) == "warn"
        return (*always, *(never if mild else always))
    most = fail or never
    # What fails does not warn, however much it takes to warn.
    least = tuple(map(min, warn or always, most))
    return (*least, *most)


def _limit(parts: list[float | None]) -> tuple[float, float] | None:
    if parts == [None, None]:
        return None
    rows, share = (math.inf if part is None else part for part in parts)
    # One bad row is above either zero, and no share is above the whole.
    return (0.0, 0.0) if 0 in (rows, share) else (rows, share if share < 100 else math.inf)


def _is_share(value: Any) -> bool:
    return isinstance(value, str) and value.strip().endswith("%")


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value.strip().removesuffix("%") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return None
    return number if number >= 0 else None


def _compared(was: tuple[float, ...] | None, now: tuple[float, ...] | None) -> str:
    if was is None or now is None:
        return TIGHTENING
    if was == now:
        return INFORMATIONAL
    return LOOSENING if all(b >= a for a, b in zip(was, now, strict=True)) else TIGHTENING
