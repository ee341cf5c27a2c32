"""Finding what is scheduled under a folder: workflow files and dataset configs with a schedule."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldp_core.config.load import YAML_SUFFIXES, load_document
from ldp_core.config.sections.schedule import derived
from ldp_core.errors import ConfigError, LDPError, Problem

from ldp_orchestration.fires import problem_of
from ldp_orchestration.load import load_workflow, workflow_problems
from ldp_orchestration.model import Workflow

SUFFIXES = (".json", *YAML_SUFFIXES)
LARGEST = 1_000_000
"""The size in bytes above which a file is data, not a config."""

_NOT_IN = frozenset({"node_modules", "venv", "env", "site-packages", "__pycache__"})
_WORDS = re.compile(rb"schedule|when")
_LOOKS_SCHEDULED = re.compile(r"""["']?schedule["']?\s*:""")
_LOOKS_OURS = re.compile(
    r"""["']?apiVersion["']?\s*:\s*["']?ldp/|["']?kind["']?\s*:\s*["']?(Workflow|Pipeline)\b"""
)


@dataclass(frozen=True)
class Found:
    """A scheduled file that is valid.

    Attributes:
        file: From the folder that was searched, with ``/``.
        kind: ``Workflow`` or ``Pipeline``.
        workflow: What it says.
    """

    file: str
    kind: str
    workflow: Workflow

    @property
    def path(self) -> Path:
        """The file, absolute."""
        return self.workflow.path


@dataclass(frozen=True)
class Invalid:
    """A scheduled file that is not valid.

    Attributes:
        file: From the folder that was searched, with ``/``.
        kind: ``Workflow`` or ``Pipeline``; None for a file that cannot be read.
        problems: What is wrong, each with file and line.
    """

    file: str
    kind: str | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Discovery:
    """What is scheduled under a folder, both sorted by ``file``.

    Attributes:
        found: The valid files.
        problems: The files that are not.
    """

    found: tuple[Found, ...] = ()
    problems: tuple[Invalid, ...] = ()


def discover(folder: str | Path, env: str | None = None) -> Discovery:
    """Find what is scheduled under a folder; each file and the configs that it names are checked.

    Folders whose name begins with a dot and those of Python and Node packages are not searched. A file is
    scheduled when it is a workflow file or a dataset config, and has a ``metadata.schedule`` or a ``when``
    that means one. Any other file is left out without a word.

    Args:
        folder: Where to look; links to folders are not followed.
        env: The environment of ``ldp.yaml``.

    Raises:
        ConfigError: There is no such folder.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ConfigError(f"{root} is {'a file, not a folder' if root.exists() else 'not there'}")
    found: list[Found] = []
    problems: list[Invalid] = []
    for path in sorted(candidates(root), key=lambda path: path.relative_to(root).as_posix()):
        one = _look(path, path.relative_to(root).as_posix(), env)
        if isinstance(one, Found):
            found.append(one)
        elif one is not None:
            problems.append(one)
    return Discovery(tuple(found), tuple(problems))


def scheduled_kind(data: Mapping[str, Any]) -> str | None:
    """``Workflow`` or ``Pipeline`` where the data of a file is one that has a schedule; else None."""
    metadata = data.get("metadata")
    said: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    when = data.get("when")
    if said.get("schedule") is None and derived(when if isinstance(when, str) else None) is None:
        return None
    kind = data.get("kind")
    if kind is None and "source" in said and "target" in said:
        return "Pipeline"
    return kind if kind in ("Workflow", "Pipeline") else None


def candidates(root: Path) -> Iterator[Path]:
    """The files under a folder that may be workflows or configs, in no order; none is opened."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _NOT_IN]
        for name in names:
            if name.lower().endswith(SUFFIXES) and not name.lower().endswith(".metadata.json"):
                yield Path(folder, name)


def _look(path: Path, file: str, env: str | None) -> Found | Invalid | None:
    """What a file is; None for one that nothing schedules."""
    try:
        if path.stat().st_size > LARGEST:
            return None
        raw = path.read_bytes()
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        problem = Problem(f"cannot be read: {error.strerror or error}", file=str(path))
        return None if gone else Invalid(file, None, (problem,))
    if not _WORDS.search(raw):
        return None
    try:
        kind = scheduled_kind(load_document(path).data)
    except ConfigError as error:
        return Invalid(file, None, _problems(error, path)) if _seems_scheduled(raw) else None
    return None if kind is None else _checked(path, file, kind, env)


def _checked(path: Path, file: str, kind: str, env: str | None) -> Found | Invalid:
    try:
        workflow = load_workflow(path, env)
        errors = tuple(one for one in workflow_problems(workflow) if one.severity == "error")
        never = problem_of(workflow.schedule) if workflow.schedule else None
        if never and not errors:
            errors = (Problem(never, "metadata.schedule", str(path)),)
    except LDPError as error:
        errors = _problems(error, path)
    else:
        if not errors:
            return Found(file, kind, workflow)
    return Invalid(file, kind, errors)


def _problems(error: LDPError, path: Path) -> tuple[Problem, ...]:
    carried = tuple(one for one in getattr(error, "problems", ()) if one.severity == "error")
    return carried or (
        Problem(error.message, error.key or "", error.file or str(path), error.line, error.hint),
    )


def _seems_scheduled(raw: bytes) -> bool:
    """Whether a file that is broken was meant to be scheduled: a typo must not stop the nights in silence."""
    text = raw.decode("utf-8", "replace")
    return bool(_LOOKS_SCHEDULED.search(text) and _LOOKS_OURS.search(text))
