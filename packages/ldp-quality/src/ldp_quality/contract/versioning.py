"""Whether the version that a contract gives itself says what changed, in the terms of semantic versioning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from ldp_quality.contract._diff_change import BREAKING, INFORMATIONAL, ContractDiff

_SEMVER = re.compile(r"v?(\d+)(?:\.(\d+)(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?)?")


@total_ordering
@dataclass(frozen=True)
class Semver:
    """A semantic version; ``1`` and ``v1.4`` are read as ``1.0.0`` and ``1.4.0``.

    Attributes:
        major: Rises with a change that breaks.
        minor: Rises with one that does not.
        patch: Rises with one that promises nothing else.
        pre: What stands behind the hyphen of a version that is not final.
    """

    major: int
    minor: int = 0
    patch: int = 0
    pre: str = ""

    @classmethod
    def of(cls, text: str) -> Semver | None:
        """A version as it is written; None where it is no semantic one."""
        found = _SEMVER.fullmatch(text.strip())
        if found is None:
            return None
        return cls(int(found[1]), int(found[2] or 0), int(found[3] or 0), found[4] or "")

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}{f'-{self.pre}' if self.pre else ''}"

    def __lt__(self, other: Semver) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[Any, ...]:
        parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre.split(".")]
        return self.major, self.minor, self.patch, not self.pre, parts

    def next(self, impact: str) -> Semver:
        """The least version after it that says of a change what its class is."""
        if self.pre:
            return Semver(self.major, self.minor, self.patch)
        if impact == BREAKING and self.major:
            return Semver(self.major + 1)
        if impact == BREAKING or (impact != INFORMATIONAL and self.major):
            return Semver(self.major, self.minor + 1)
        return Semver(self.major, self.minor, self.patch + 1)

    def says(self, old: Semver, impact: str) -> bool:
        """Whether it has risen from another one as far as a change of this class asks.

        While the version of before is not final, or its major is 0, less is promised: there a final version
        may come, and the minor stands for the major.
        """
        if old.pre:
            return self > old
        if impact == BREAKING and old.major:
            return self.major > old.major
        if impact == BREAKING or (impact != INFORMATIONAL and old.major):
            return (self.major, self.minor) > (old.major, old.minor)
        return self > old or (impact == INFORMATIONAL and self == old)


@dataclass(frozen=True)
class Finding:
    """That a version does not say what changed.

    Attributes:
        refused: Whether it must not be saved like that: something breaks.
        message: Why.
        wanted: The version that would say it; None where nobody can tell.
    """

    refused: bool
    message: str
    wanted: str | None = None


def judge(changes: ContractDiff, old: str, new: str) -> Finding | None:
    """What is wrong with the version of a contract that changed.

    A change that breaks asks for the next major version and is refused without; a tightening or a loosening
    one asks for the next minor version, and a version that goes back is told, too. Versions that are not
    semantic are held to one thing: what breaks has another version than before.

    Args:
        changes: What changed.
        old: The version that the contract gave itself before.
        new: The one that it gives itself now.
    """
    worst = changes.worst
    if worst is None:
        return None
    before, after = Semver.of(old), Semver.of(new)
    if before is None or after is None:
        if worst == BREAKING and old == new:
            return Finding(True, _message(changes, old, new))
        return None
    if after.says(before, worst):
        return None
    if worst == INFORMATIONAL:
        return Finding(False, f"the version went back, from {old} to {new}")
    return Finding(worst == BREAKING, _message(changes, old, new), str(before.next(worst)))


def _message(changes: ContractDiff, old: str, new: str) -> str:
    worst = str(changes.worst)
    found = changes.of(worst)
    version = f"still {new}" if old == new else f"{new} after {old}"
    many = f"1 {worst} change" if len(found) == 1 else f"{len(found)} {worst} changes"
    return (
        f"the version is {version}, and there {'is' if len(found) == 1 else 'are'} {many}: {found[0].message}"
    )
