"""What is wrong with a contract file, and which of its rules run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, Problem

if TYPE_CHECKING:
    from ldp_quality.contract.rules import ContractRule


@dataclass(frozen=True)
class LintReport:
    """What ``ldp contract lint`` says of one file.

    Attributes:
        file: As it was given.
        problems: What is wrong; only errors make it unusable.
        rules: Its rules, as far as it could be read.
        variables: The names of its variables.
    """

    file: str
    problems: tuple[Problem, ...] = ()
    rules: tuple[ContractRule, ...] = ()
    variables: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it has no errors."""
        return not any(problem.severity == "error" for problem in self.problems)

    @property
    def not_run(self) -> tuple[ContractRule, ...]:
        """The rules that LDP cannot run."""
        return tuple(rule for rule in self.rules if rule.reason is not None)

    def lines(self) -> list[str]:
        """One line a problem, one that sums up, and one a rule that does not run."""
        found = [_line(problem) for problem in self.problems]
        if not self.ok:
            return found
        total, idle = len(self.rules), len(self.not_run)
        word = "rule" if total == 1 else "rules"
        runs = "" if not total else ", all run" if not idle else f", {idle} cannot run"
        found.append(f"{self.file}: ok, {total} {word}{runs}")
        return [*found, *(f"  not run: {rule.origin}: {rule.name}: {rule.reason}" for rule in self.not_run)]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "file": self.file,
            "ok": self.ok,
            "problems": [item.to_dict() for item in self.problems],
            "variables": list(self.variables),
            "rules": len(self.rules),
            "run": len(self.rules) - len(self.not_run),
            "not_run": [
                {
                    "name": rule.name,
                    "table": rule.table,
                    "file": rule.origin.file,
                    "line": rule.origin.line,
                    "key": rule.origin.key,
                    "reason": rule.reason,
                }
                for rule in self.not_run
            ],
        }


def lint(path: str | Path, variables: Mapping[str, Any] | None = None) -> LintReport:
    """Judge a contract file; what cannot be read is a problem too.

    Args:
        path: A JSON or YAML file.
        variables: Values of its variables, above those that it gives itself.
    """
    from ldp_quality.contract.read import read

    try:
        contract, problems = read(path, variables)
    except ConfigError as error:
        own = Problem(error.message, error.key or "", error.file or str(path), error.line, error.hint)
        return LintReport(str(path), error.problems or (own,))
    if contract is None:
        return LintReport(str(path), problems)
    return LintReport(str(path), problems, contract.rules(), contract.variables)


def _line(problem: Problem) -> str:
    return str(problem) if problem.severity == "error" else f"{problem.severity}: {problem}"
