"""What a table says of drift, before and after: is more refused than it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ldp_quality.checks.drift import GRADES, IGNORE
from ldp_quality.checks.logical import COMPARE, LOGICALLY
from ldp_quality.contract._diff_change import INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_walk import judged, told
from ldp_quality.grade import FAIL

_STRICTEST_FIRST = {"missing": GRADES, "added": GRADES, "type": GRADES, "compare": COMPARE}
_UNSAID = {"missing": FAIL, "added": IGNORE, "type": FAIL, "compare": LOGICALLY}


def drift(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The change of ``schemaDrift`` as one: it tightens where any part of it does."""
    was, now = _ranks(old), _ranks(new)
    impact = TIGHTENING
    if was is not None and now is not None:
        stricter = any(after < before for before, after in zip(was, now, strict=True))
        impact = INFORMATIONAL if was == now else TIGHTENING if stricter else LOOSENING
    yield from told(path, old, new, *judged(impact))


def _ranks(value: Any) -> list[int] | None:
    """Where each part stands, 0 for the strictest; None where that cannot be read."""
    said = value if isinstance(value, Mapping) else {}
    words = [(said.get(part, _UNSAID[part]), order) for part, order in _STRICTEST_FIRST.items()]
    known = all(word in order for word, order in words)
    return [order.index(word) for word, order in words] if known else None
