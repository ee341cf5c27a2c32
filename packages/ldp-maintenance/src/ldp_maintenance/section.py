"""``metadata.maintenance``: how the config's table is looked after. Not hashed: it changes no row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.errors import Problem
from ldp_core.shape import Type
from ldp_core.spi import Spec

from ldp_maintenance.config.problems import setting_problems
from ldp_maintenance.config.shapes import SETTINGS


class MaintenanceSection:
    """The section: the settings of one table of a table-config file."""

    shape: Type = SETTINGS
    hashed = False

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """What the shape cannot say, and that there is a table at all."""
        target = spec.get("target")
        kind = str(target.get("format", "")).upper() if isinstance(target, Mapping) else "ICEBERG"
        if kind and kind != "ICEBERG":
            return [Problem(f"the target is {kind}, and only an Iceberg table is looked after")]
        return setting_problems(value)

    def canonical(self, value: Any, spec: Spec) -> Any:
        """As written."""
        return value

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """One line: the settings that differ from the defaults."""
        from ldp_maintenance.config.resolve import resolve
        from ldp_maintenance.config.show import shown, value_text

        listed = [
            f"{key} {value_text(item)}"
            for key, item, origin in shown(resolve(section=value))
            if origin == "config"
        ]
        return [("maintenance", ", ".join(listed) or "the defaults")]


SECTION = MaintenanceSection()
