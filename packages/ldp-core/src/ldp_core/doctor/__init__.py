"""What is installed, and what a config needs and lacks, each finding with the exact fix."""

from __future__ import annotations

from collections.abc import Sequence

from ldp_core.doctor._config import examine_config
from ldp_core.doctor._installation import examine_installation
from ldp_core.spi import DoctorLine

__all__ = ["examine", "examine_config", "examine_installation"]


def examine(configs: Sequence[str] = (), *, env: str | None = None) -> list[tuple[str, list[DoctorLine]]]:
    """Examine the installation and each config.

    Args:
        configs: Paths of config files.
        env: An environment of ``ldp.yaml``.

    Returns:
        (heading, findings): ``installation`` first, then one a config under its path.
    """
    parts = [("installation", examine_installation())]
    return parts + [(path, examine_config(path, env=env)) for path in configs]
