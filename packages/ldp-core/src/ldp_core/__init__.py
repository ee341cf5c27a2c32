"""The table platform of LDP."""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "CSV": "ldp_core.api",
    "CommitContext": "ldp_core.plan.keyed",
    "Config": "ldp_core.config",
    "ConfigError": "ldp_core.errors",
    "DataQualityError": "ldp_core.errors",
    "DuckDBEngine": "ldp_core.query.engine",
    "Iceberg": "ldp_core.api",
    "Json": "ldp_core.api",
    "LDPError": "ldp_core.errors",
    "LocalIcebergCatalog": "ldp_core.catalogs",
    "Parquet": "ldp_core.api",
    "Pipeline": "ldp_core.api",
    "PipelineResult": "ldp_core.run.result",
    "WriteResult": "ldp_core.spi",
    "create_pipeline": "ldp_core.api",
    "register_pipeline": "ldp_core.api",
    "run_config": "ldp_core.api",
    "run_demo": "ldp_core.run.demo",
    "table": "ldp_core.api",
}

__all__ = sorted(_WHERE)
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'ldp_core' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
