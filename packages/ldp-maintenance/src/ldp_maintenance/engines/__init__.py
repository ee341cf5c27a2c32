"""Who does an operation: this process (``local``), or an engine that another package brings."""

from __future__ import annotations

from ldp_maintenance.engines.find import GROUP, abilities, engine, engines, operation_on
from ldp_maintenance.engines.protocol import Capability, Engine

__all__ = ["GROUP", "Capability", "Engine", "abilities", "engine", "engines", "operation_on"]
