"""What is installed: Python, packages, plugins, extras, the temporary folder."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

from ldp_core import _entry_points
from ldp_core._progress import human_bytes
from ldp_core.doctor._extras import MODULES, install_command, installed
from ldp_core.spi import DoctorLine

GROUPS = (
    "ldp.commands",
    "ldp.sources",
    "ldp.targets",
    "ldp.catalogs",
    "ldp.transforms",
    "ldp.sections",
    "ldp.gates",
    "ldp.checks",
    "ldp.event_sinks",
    "ldp.kinds",
    "ldp.task_kinds",
    "ldp.demos",
    "ldp.doctor",
    "ldp.doctor_installation",
    "ldp.maintenance_engines",
)
LIBRARIES = ("duckdb", "pyarrow", "pyiceberg", "sqlalchemy", "click")
OLDEST = (3, 11)
LITTLE = 2_000_000_000
"""Bytes free in the temporary folder below which a large load may not find room to spill."""


def examine_installation() -> list[DoctorLine]:
    """Look at Python, the packages, every plugin (each is imported), the extras and the temporary folder."""
    return [
        _python(),
        *_packages(),
        *(line for group in GROUPS for line in _plugins(group)),
        *_extras(),
        _temporary(),
        *_of_plugins(),
    ]


def _python() -> DoctorLine:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    good = sys.version_info[:2] >= OLDEST
    return DoctorLine(good, "Python", found, None if good else "use Python 3.11 or later")


def _packages() -> Iterator[DoctorLine]:
    ours = {dist.name for dist in distributions() if (dist.name or "").startswith("ldp-")}
    for name in (*sorted(ours), *LIBRARIES):
        try:
            yield DoctorLine(True, name, version(name))
        except PackageNotFoundError:
            yield DoctorLine(False, name, "not installed", f"pip install {name}")


def _plugins(group: str) -> Iterator[DoctorLine]:
    """One line of the plugins that load, and one for each that does not."""
    good = []
    for name, points in sorted(_entry_points.in_group(group).items()):
        owners = " and ".join(sorted(point.owner for point in points))
        if len(points) > 1:
            yield DoctorLine(False, f"{group} {name}", f"offered by {owners}", "uninstall one of them")
            continue
        try:
            points[0].load()
        except Exception as error:  # whatever a plugin raises is what is to be told
            found = f"{owners} does not load: {type(error).__name__}: {error}"
            yield DoctorLine(False, f"{group} {name}", found, f"pip install --force-reinstall {owners}")
        else:
            good.append(name)
    if good:
        yield DoctorLine(True, group, ", ".join(good))


def _of_plugins() -> Iterator[DoctorLine]:
    """What the packages of ``ldp.doctor_installation`` say: functions that return lines."""
    for name, points in sorted(_entry_points.in_group("ldp.doctor_installation").items()):
        try:
            yield from points[0].load()()
        except Exception as error:
            yield DoctorLine(False, name, f"{type(error).__name__}: {error}")


def _extras() -> Iterator[DoctorLine]:
    for extra in MODULES:
        if installed(extra):
            yield DoctorLine(True, f"extra {extra}", "installed")
        else:
            yield DoctorLine(True, f"extra {extra}", f"not installed; {install_command(extra)}")


def _temporary() -> DoctorLine:
    folder = Path(tempfile.gettempdir())
    free = shutil.disk_usage(folder).free
    found = f"{folder}, {human_bytes(free)} free"
    fix = None if free >= LITTLE else "free some room, or set TMPDIR to a folder with more"
    return DoctorLine(fix is None, "temporary folder", found, fix)
