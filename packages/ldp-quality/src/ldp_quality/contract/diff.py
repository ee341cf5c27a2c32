"""What changed from one version of a contract to another, and what that means to those who rely on it.

``breaking``: someone must act before it: readers by the old contract fail or read something else, or writers
by the old contract are refused for their shape. ``tightening``: data that passed may now be refused.
``loosening``: data may now come that was refused, so readers may meet what they were promised not to.
``informational``: nothing is promised otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError

from ldp_quality.contract._diff_change import (
    BREAKING,
    IMPACTS,
    INFORMATIONAL,
    LOOSENING,
    Change,
    ContractDiff,
)
from ldp_quality.contract._diff_custom import custom, grading
from ldp_quality.contract._diff_match import ABSENT, CONTENT, by
from ldp_quality.contract._diff_schema import tables
from ldp_quality.contract._diff_sla import default_element, slas
from ldp_quality.contract._diff_walk import Differ, fields, members, plain, told
from ldp_quality.contract._variables import filled

if TYPE_CHECKING:
    from ldp_quality.contract.model import Contract

__all__ = ["IMPACTS", "Change", "ContractDiff", "diff"]

_NO_ADDRESS = ("customProperties", "description", "environment", "id", "roles")
"""What of a server says nothing about where the data is."""
_STAGES = {"retired": 0, "deprecated": 1, "active": 3}
"""How much a status promises; a draft and what is not known stand between."""


def diff(old: Contract | Mapping[str, Any], new: Contract | Mapping[str, Any]) -> ContractDiff:
    """Tell two versions of a contract apart.

    Args:
        old: The contract as it was, or its document as plain data.
        new: The contract as it is.

    Raises:
        ConfigError: Either is no contract, or they are not the same one: they have another ``id``.
    """
    before, after = _document("old", old), _document("new", new)
    ids = [written.get("id") for written in (before, after)]
    if None not in ids and ids[0] != ids[1]:
        raise ConfigError(
            f"these are two contracts, not two versions of one: the ids are {ids[0]} and {ids[1]}", key="id"
        )
    changes = sorted(
        chain(grading("", before, after), fields("", before, after, _SPECIAL)),
        key=lambda change: (IMPACTS.index(change.impact), change.path, change.kind, change.message),
    )
    known = ids[0] if ids[1] is None else ids[1]
    was, now = (_text(written.get("version")) for written in (before, after))
    return ContractDiff(_text(known), was, now, tuple(changes))


def _document(which: str, contract: Any) -> Mapping[str, Any]:
    written = contract if isinstance(contract, Mapping) else getattr(contract, "values", None)
    if not isinstance(written, Mapping):
        raise ConfigError(f"the {which} contract must be an object, not {type(contract).__name__}")
    return filled(written)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _status(path: str, old: Any, new: Any) -> Iterator[Change]:
    was, now = (_STAGES.get(str(value).lower(), 2) for value in (old, new))
    if now == 0 != was:
        yield from told(path, old, new, BREAKING, "nobody keeps it any longer")
    elif ABSENT not in (old, new) and now < was:
        yield from told(path, old, new, LOOSENING, "it promises less")
    else:
        yield from told(path, old, new, INFORMATIONAL)


def _servers(path: str, old: Any, new: Any) -> Iterator[Change]:
    yield from members(
        path, old, new, (by("id"), by("server", "environment"), by("server"), CONTENT), _server
    )


def _server(path: str, old: Any, new: Any) -> Iterator[Change]:
    if new is ABSENT:
        yield from told(path, old, new, BREAKING, "readers find no data there")
    elif old is ABSENT:
        yield from told(path, old, new, INFORMATIONAL)
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from fields(path, old, new, dict.fromkeys(_NO_ADDRESS, plain), other=_address)
    else:
        yield from plain(path, old, new)


def _address(path: str, old: Any, new: Any) -> Iterator[Change]:
    yield from told(path, old, new, BREAKING, "readers look for the data elsewhere")


_SPECIAL: dict[str, Differ] = {
    "customProperties": custom,
    "schema": tables,
    "servers": _servers,
    "slaDefaultElement": default_element,
    "slaProperties": slas,
    "status": _status,
}
