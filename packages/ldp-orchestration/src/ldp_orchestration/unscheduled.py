"""Workflow files and dataset configs under a folder that nothing schedules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ldp_core.config.load import load_document
from ldp_core.errors import LDPError

from ldp_orchestration.discovery import LARGEST, Found, candidates
from ldp_orchestration.kinds.pipeline import OpenPipeline
from ldp_orchestration.load import load_workflow
from ldp_orchestration.model import Workflow


def unscheduled(folder: Path, known: Iterable[str], env: str | None = None) -> list[Found]:
    """Those that are right; what is wrong with a file that nobody schedules is told when it runs.

    Args:
        folder: Where to look.
        known: The files that are known, from the folder.
        env: The environment of ``ldp.yaml``.
    """
    left_out = set(known)
    found = []
    for path in sorted(candidates(folder)):
        file = path.relative_to(folder).as_posix()
        workflow = None if file in left_out else _read(path, env)
        if workflow is not None and workflow.schedule is None:
            found.append(Found(file, workflow.kind, workflow))
    return found


def named_by(workflows: Iterable[Workflow]) -> Iterator[Path]:
    """The configs that tasks of workflow files name."""
    for workflow in workflows:
        for opened in workflow.opened.values() if workflow.kind == "Workflow" else ():
            if isinstance(opened, OpenPipeline) and opened.config and opened.config.path:
                yield Path(opened.config.path).resolve()


def _read(path: Path, env: str | None) -> Workflow | None:
    try:
        if path.stat().st_size > LARGEST or b"identifier" not in path.read_bytes():
            return None
        data = load_document(path).data
        metadata = data.get("metadata")
        config = isinstance(metadata, dict) and "source" in metadata and "target" in metadata
        if data.get("kind", "Pipeline" if config else None) not in ("Workflow", "Pipeline"):
            return None
        return load_workflow(path, env)
    except (LDPError, OSError):
        return None
