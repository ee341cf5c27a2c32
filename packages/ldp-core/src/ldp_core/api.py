"""The public Python API: pipelines, configs, tables and formats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.config import Config
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


def table(name: str, **options: Any) -> TableHandle:
    """A table, to be read: ``table("nyc.rides", ...).to_arrow()``; see ``ldp_core.query.handle``."""
    from ldp_core.query import handle

    return handle.table(name, **options)
