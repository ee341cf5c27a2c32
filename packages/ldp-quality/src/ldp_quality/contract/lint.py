"""What is wrong with a contract file, and which of its rules run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError, Problem


@dataclass(frozen=True)
class LintReport:
    """What ``ldp contract lint`` says of one file.

    Attributes:
        file: As it was given.
        problems: What is wrong; only errors make it unusable.
    """

    file: str
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it has no errors."""
        return not any(problem.severity == "error" for problem in self.problems)

    def lines(self) -> list[str]:
        """One line a problem, and one that sums up."""
        return [*(str(problem) for problem in self.problems), *([f"{self.file}: ok"] if self.ok else [])]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"file": self.file, "ok": self.ok, "problems": [item.to_dict() for item in self.problems]}


def lint(path: str | Path) -> LintReport:
    """Judge a contract file; what cannot be read is a problem too."""
    from ldp_quality.contract.load import load

    try:
        loaded = load(path)
    except ConfigError as error:
        own = Problem(error.message, error.key or "", error.file or str(path), error.line, error.hint)
        return LintReport(str(path), error.problems or (own,))
    return LintReport(str(path), loaded.problems)
