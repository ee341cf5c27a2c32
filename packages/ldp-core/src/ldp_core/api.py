"""The public Python API: pipelines, configs, tables and formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.config import Config
from ldp_core.errors import TableNotFound
from ldp_core.run.pipeline import Pipeline
from ldp_core.run.registered import (
    get_pipeline_class,
    register_pipeline,
    registered_pipelines,
    run_config,
)
from ldp_core.run.result import PipelineResult
from ldp_core.targets.formats import CSV, Iceberg, Json, Parquet

if TYPE_CHECKING:
    from ldp_core.query.handle import TableHandle

__all__ = [
    "CSV",
    "Iceberg",
    "Json",
    "Parquet",
    "Pipeline",
    "PipelineResult",
    "create_pipeline",
    "get_pipeline_class",
    "register_pipeline",
    "registered_pipelines",
    "run_config",
    "table",
]


def create_pipeline(config: Config | Mapping[str, Any] | str | Path) -> Any:
    """The pipeline that a config describes: of the class registered for its route, else a ``Pipeline``.

    Args:
        config: A config, the data of one, or its file.

    Raises:
        PipelineNotFound: No installed source or target has the name.
        ConfigError: The config has errors.
    """
    if isinstance(config, str | Path):
        config = Config.from_file(config)
    elif isinstance(config, Mapping):
        config = Config.from_dict(config)
    source, target = config.source, config.target
    made = get_pipeline_class(
        str(source.get("format")), str(target.get("format")), source.get("engine") or None
    )
    return made(config)


def table(
    name: str,
    where: str | Path | Sequence[str | Path] = ".",
    *,
    snapshot_id: int | None = None,
    as_of: datetime | None = None,
    branch: str | None = None,
    env: str | None = None,
) -> TableHandle:
    """A table, to be read: ``table("nyc.rides", "configs").to_arrow()``. Creates nothing.

    Args:
        name: ``namespace.table``, or the bare name where it is unique.
        where: Config files, folders of configs, or folders with local catalogs.
        snapshot_id: An older state by its id.
        as_of: The state at a moment; UTC where it has no offset.
        branch: The state of a branch or a tag.
        env: An environment of ``ldp.yaml``.

    Raises:
        TableNotFound: No table has the name; the message lists those that there are.
    """
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.refs import find_tables
    from ldp_core.query.travel import Travel

    refs = find_tables([where] if isinstance(where, str | Path) else where, env)
    found = [ref for ref in refs if ref.label == name] or [ref for ref in refs if ref.name == name]
    if len(found) != 1:
        labels = ", ".join(ref.label for ref in (found or refs))
        what = "several tables are" if found else "no table is"
        raise TableNotFound(f"{what} called {name!r}; there are {labels}")
    moment = as_of.replace(tzinfo=UTC) if as_of is not None and as_of.tzinfo is None else as_of
    return TableHandle(found[0], Travel(snapshot_id, moment, branch))
