"""Where the ``ldp`` is that a recipe calls."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from ldp_core.errors import ConfigError


def executable(given: str | None = None) -> Path:
    """The absolute path of ``ldp``.

    It is the one given, else the one that runs, else that of the PATH, else the one beside the Python.

    Raises:
        ConfigError: The one given is not there, or there is none.
    """
    if given is not None:
        found = shutil.which(given)
        if found is None:
            raise ConfigError(f"{given} is no program that can be run", key="--ldp")
        return Path(found).absolute()
    running = Path(sys.argv[0])
    beside = Path(sys.executable).with_name("ldp.exe" if os.name == "nt" else "ldp")
    for path in (running if running.stem == "ldp" else None, shutil.which("ldp"), beside):
        if path and os.access(path, os.X_OK) and Path(path).is_file():
            return Path(path).absolute()
    raise ConfigError("no ldp is on the PATH", hint="name it: --ldp PATH")
