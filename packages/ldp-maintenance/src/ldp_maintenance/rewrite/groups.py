"""Files that are rewritten together, and whether that is worth it.

A group is of one partition of one spec. What comes of it is counted by the rule that the writer keeps: files
of the target size, and a rest that is too small to stand alone goes to the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ldp_core.tables.scan_plan import partition_key

from ldp_maintenance.policy import Rewrite
from ldp_maintenance.rewrite.candidates import Item, Reason, reasons

MOST_BYTES = 8 * 1024**3
"""Data of a group, unless the target is larger: what is lost at most when one is lost."""


@dataclass(frozen=True)
class Group:
    """Files that are rewritten together.

    Attributes:
        items: The files, in the order in which their rows arrived.
        spec_id: Their partition spec.
        partition: Their partition values.
        expected: How many files are expected to come of them.
        reasons: Why they are rewritten.
        output_spec: The partition spec of what comes of them.
    """

    items: tuple[Item, ...]
    spec_id: int
    partition: tuple[Any, ...]
    expected: int
    reasons: frozenset[Reason]
    output_spec: int = 0

    @property
    def bytes(self) -> int:
        """Bytes that are read."""
        return sum(item.size for item in self.items)

    @property
    def saved(self) -> int:
        """Data files fewer than before."""
        return len(self.items) - self.expected


def outputs(size: float, target: int, policy: Rewrite) -> int:
    """How many files so many bytes become."""
    whole, rest = divmod(size, target)
    count = int(whole) + (1 if rest >= policy.min_file_size_ratio * target else 0)
    return max(count, 1)


def plan(files: Sequence[Item], policy: Rewrite, target: int) -> list[Group]:
    """The groups that are worth rewriting, best first: files saved for each byte read.

    Args:
        files: Those that may be rewritten.
        policy: When files are rewritten.
        target: Bytes of a file.
    """
    parts: dict[tuple[int, tuple[Any, ...]], list[tuple[Item, frozenset[Reason]]]] = {}
    for item in files:
        why = reasons(item, policy, target) if item.parquet else frozenset()
        if why:
            parts.setdefault((item.spec_id, partition_key(item.partition)), []).append((item, why))
    found = []
    for (spec_id, _), members in parts.items():
        partition = members[0][0].partition
        members.sort(key=lambda member: (member[0].sequence, member[0].index))
        for bin_ in _bins(members, max(MOST_BYTES, 4 * target), target):
            group = _group(bin_, spec_id, partition, policy, target)
            if group is not None:
                found.append(group)
    return best_first(found)


def best_first(groups: Sequence[Group]) -> list[Group]:
    """Groups in the order of the files that they save for each byte read."""
    return sorted(groups, key=_worth, reverse=True)


def _worth(group: Group) -> tuple[float, int]:
    return max(group.saved, 0) / max(group.bytes, 1), -group.bytes


def _bins(
    members: Sequence[tuple[Item, frozenset[Reason]]], most: int, target: int
) -> list[list[tuple[Item, frozenset[Reason]]]]:
    """Consecutive files of at most so many bytes; the last ones go along if they make no whole file."""
    bins: list[list[tuple[Item, frozenset[Reason]]]] = [[]]
    size = 0
    for member in members:
        if bins[-1] and size + member[0].size > most:
            bins.append([])
            size = 0
        bins[-1].append(member)
        size += member[0].size
    if len(bins) > 1 and size < target:
        last = bins.pop()
        bins[-1] += last
    return bins


def _group(
    members: Sequence[tuple[Item, frozenset[Reason]]],
    spec_id: int,
    partition: tuple[Any, ...],
    policy: Rewrite,
    target: int,
) -> Group | None:
    """The group of some candidates of a partition, or None where rewriting them wins nothing."""
    files = [item for item, _ in members]
    every = frozenset(reason for _, why in members for reason in why)
    expected = outputs(sum(item.live_bytes for item in files), target, policy)
    if all(item.live_bytes <= 0 for item in files):
        expected = 0
    needed = every - {"small"}
    if needed == {"large"} and expected <= sum("large" in why for _, why in members):
        # Nothing would be split after all: too few rows, or deletes take the rest.
        needed = frozenset()
    fewer = expected < len(files) and len(files) >= policy.min_input_files
    if not needed and not fewer:
        return None
    output = spec_id if policy.output_spec is None else policy.output_spec
    return Group(tuple(files), spec_id, partition, expected, every, output)
