"""What ``ldp plan`` says: every problem of a config, or the stages of its load and the state they meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ldp_core.config import Config
from ldp_core.errors import LDPError, Problem
from ldp_core.plan.build import build, problems
from ldp_core.plan.keyed import NOTHING, Ask, has_placeholder
from ldp_core.plan.stages import Plan
from ldp_core.spi import TargetInfo
from ldp_core.window.model import Window
from ldp_core.window.placeholders import problem as broken_placeholder

_SHOWN = ("window", "idempotency_key")


@dataclass(frozen=True)
class Explanation:
    """A config explained.

    Attributes:
        config: The config.
        problems: Every finding.
        plan: The stages; None where the config has errors.
        info: The target as it is now; None where the config has errors or the catalog does not answer.
        notes: Lines for the user.
        sections: Lines (label, text) that sections say of themselves.
        source_schema: Column to type of the source, when asked for.
    """

    config: Config
    problems: tuple[Problem, ...]
    plan: Plan | None = None
    info: TargetInfo | None = None
    notes: tuple[str, ...] = ()
    sections: tuple[tuple[str, str], ...] = ()
    source_schema: dict[str, str] | None = field(default=None)

    @property
    def errors(self) -> list[Problem]:
        """What refuses a run."""
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def valid(self) -> bool:
        """Whether ``run`` would start."""
        return not self.errors

    def to_dict(self) -> dict[str, Any]:
        """As JSON; ``errors`` are texts, ``problems`` objects."""
        plan, info = self.plan, self.info
        body: dict[str, Any] = {
            "config": self.config.name,
            "identifier": self.config.identifier,
            "valid": self.valid,
            "errors": [_text(problem) for problem in self.errors],
            "problems": [problem.to_dict() for problem in self.problems],
            "notes": list(self.notes),
            **self._window(),
            "spec_hash": plan.spec_hash if plan else None,
            "route": plan.route if plan else None,
            "target": info.name if info else None,
            "write_mode": info.mode if info else None,
            "catalog": info.catalog if info else None,
            "checks": len(self.config.quality["checks"]) if plan else None,
            "state": _state(info),
            "stages": [{"stage": kind, "text": text} for kind, text in self.stages()],
        }
        if self.source_schema is not None:
            body["source_schema"] = self.source_schema
        return body

    def _window(self) -> dict[str, Any]:
        keyed = self.plan.keyed if self.plan else None
        window = Window(keyed.start, keyed.end) if keyed and keyed.start and keyed.end else None
        template = self.config.source.get("path")
        broken = isinstance(template, str) and broken_placeholder(template)
        path = self.plan.read.spec.get("path") if self.plan else template
        return {
            "window": str(window) if window else None,
            "idempotency_key": keyed.key if keyed else None,
            "source_path": None if broken else path,
            "source_path_template": None if broken else template,
        }

    def stages(self) -> list[tuple[str, str]]:
        """The stages as (kind, text); none where the config has errors."""
        if self.plan is None or self.info is None:
            return []
        return self.plan.stages(self.info.name, self.info.mode)

    def lines(self) -> list[str]:
        """For a person."""
        if self.plan is None:
            count = len(self.errors)
            head = f"{self.config.name}: {count} {'problem' if count == 1 else 'problems'}:"
            return [head, *(f"  - {problem}" for problem in self.errors)]
        pairs = [
            ("config", str(self.config.name)),
            ("identifier", self.config.identifier),
            ("spec_hash", self.plan.spec_hash),
            ("route", self.plan.route),
            *self._target_lines(),
            *self.sections,
            *((name, str(value)) for name, value in self._window().items() if name in _SHOWN and value),
        ]
        width = max(len(label) for label, _ in pairs)
        lines = [f"{label:<{width}}  {text}" for label, text in pairs]
        lines += [
            f"{'stages' if not at else '':<{width}}  {at + 1}. {kind:<9}  {text}"
            for at, (kind, text) in enumerate(self.stages())
        ]
        if self.source_schema is not None:
            lines += ["source", *(f"  {name}: {kind}" for name, kind in self.source_schema.items())]
        lines += [f"warning: {problem}" for problem in self.problems if problem.severity == "warning"]
        return lines + [f"note: {text}" for text in self.notes]

    def _target_lines(self) -> list[tuple[str, str]]:
        if self.info is None:
            return []
        info = self.info
        pairs = [("target", info.name), ("write_mode", info.mode)]
        if info.catalog:
            pairs.append(("catalog", info.catalog))
        if info.exists is False:
            pairs.append(("state", "does not exist yet"))
        elif info.exists:
            rows = "exists" if info.rows is None else f"{info.rows} rows"
            pairs.append(
                ("state", rows if info.snapshot_id is None else f"{rows}, snapshot {info.snapshot_id}")
            )
        return pairs


def explain(config: Config, mode: str | None = None, ask: Ask = NOTHING) -> Explanation:
    """Explain a config. Looks at the target's metadata and at whether the source is there; writes nothing.

    Args:
        config: The config.
        mode: A write mode that stands above the config's own.
        ask: The window or the key of the run.
    """
    found = problems(config, mode, ask)
    notes = [str(problem.message) for problem in found if problem.severity == "note"]
    if any(problem.severity == "error" for problem in found):
        return Explanation(config, found, notes=tuple(notes))
    try:
        plan = build(config, mode, ask)
    except LDPError as error:
        return Explanation(config, (*found, _problem(error, config)), notes=tuple(notes))
    info = None
    try:
        info = plan.write.target.describe(plan.write.spec, mode)
        notes += info.notes
    except LDPError as error:
        notes.append(f"the target cannot be looked at: {error}")
    missing = None if has_placeholder(plan) else plan.read.source.missing(plan.read.spec)
    if has_placeholder(plan):
        notes.append(
            "the source path has a window placeholder, so it is shown as written; "
            "pass --window to see the path of one window"
        )
    if missing:
        notes.append(f"not there yet: {missing}")
    return Explanation(config, found, plan, info, tuple(dict.fromkeys(notes)), tuple(config.explain()))


def _problem(error: LDPError, config: Config) -> Problem:
    return Problem(
        error.message, key=error.key or "", file=error.file or config.name, line=error.line, hint=error.hint
    )


def _text(problem: Problem) -> str:
    """A problem without its file: ``plan --json`` names that once."""
    return str(Problem(problem.message, key=problem.key, hint=problem.hint))


def _state(info: TargetInfo | None) -> dict[str, Any] | None:
    if info is None:
        return None
    snapshot = None if info.snapshot_id is None else str(info.snapshot_id)
    return {"exists": info.exists, "rows": info.rows, "snapshot_id": snapshot}
