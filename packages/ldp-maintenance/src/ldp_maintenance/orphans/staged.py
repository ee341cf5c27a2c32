"""Files of runs that are still at work: they are in no snapshot yet, and theirs all the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core.commit import _process
from ldp_core.commit._store import Store
from ldp_core.commit.recover import _may_arrive
from ldp_core.commit.stage import DEAD_SECONDS, Manifest, staged_folder

if TYPE_CHECKING:
    from ldp_core.commit.change import Base


@dataclass(frozen=True)
class Stages:
    """What the staged manifests of a table tell.

    Attributes:
        live: Those of runs that are not known to be dead.
        dead: Where those of dead runs are.
    """

    live: tuple[Manifest, ...] = ()
    dead: tuple[str, ...] = ()


def stages_of(base: Base) -> Stages:
    """Look through the staged manifests of a table; the rules are those of the sweep that runs begin with."""
    store = Store(dict(base.io.properties))
    live: list[Manifest] = []
    dead: list[str] = []
    for item in store.list(staged_folder(base.metadata.location)):
        content = store.read(item.uri)
        manifest = Manifest.from_bytes(content) if content is not None else None
        if manifest is None:
            continue
        fresh = time.time() - item.modified <= DEAD_SECONDS
        gone = _process.is_dead(manifest.host, manifest.pid, manifest.started)
        if manifest.state == "abandoned" or gone:
            is_dead = not (fresh and _may_arrive(base, manifest))
        else:
            is_dead = not fresh and manifest.host != _process.host()
        if is_dead:
            dead.append(item.uri)
        else:
            live.append(manifest)
    return Stages(tuple(live), tuple(dead))


def belongs(stages: Iterable[Manifest]) -> Callable[[str], bool]:
    """Whether a path, below a table's folder, is of one of some runs."""
    folders = {stage.folder for stage in stages}
    commits = {stage.commit_uuid for stage in stages}

    def of_a_run(relative: str) -> bool:
        *parents, name = relative.split("/")
        return not folders.isdisjoint(parents) or any(commit in name for commit in commits)

    return of_a_run
