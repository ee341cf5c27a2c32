"""What one config needs and lacks: plugins, extras, environment variables, files, a warehouse."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ldp_core import _entry_points, registry
from ldp_core.config import Config
from ldp_core.doctor._extras import SCHEMES, need
from ldp_core.errors import LDPError
from ldp_core.fs import is_local, local_path
from ldp_core.spi import DoctorLine, Spec

KINDS = {"XLSX": "excel", "BIGQUERY": "bigquery"}
"""Sources that need an extra whatever their path is."""


def examine_config(path: str, *, env: str | None = None) -> list[DoctorLine]:
    """Look at all that a config names. Reads no data, opens no catalog, creates nothing.

    Args:
        path: The config file.
        env: An environment of ``ldp.yaml``.
    """
    try:
        config = Config.from_file(path, env=env)
    except (LDPError, OSError) as error:
        return [DoctorLine(False, "config", str(error), "mend the file")]
    errors = [problem for problem in config.problems() if problem.severity == "error"]
    if errors:
        return [DoctorLine(False, "config", str(problem), problem.hint) for problem in errors]
    lines = [DoctorLine(True, "config", f"{config.identifier}: {config.route()}")]
    ends = {name: config.spec(name) for name in ("source", "target")}
    lines += _environment({**config.metadata, **{name: spec.values for name, spec in ends.items()}})
    lines += _source(config)
    for name, spec in ends.items():
        lines += _end(name, spec)
    lines += _target(config)
    lines += _plugin_lines(config)
    return list(dict.fromkeys(lines))


def _environment(value: Any, key: str = "metadata") -> Iterator[DoctorLine]:
    """The environment variables that keys ending in ``_env`` name, at any depth."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _environment(item, f"{key}[{number}]")
    if not isinstance(value, Mapping):
        return
    for name, item in value.items():
        place = f"{key}.{name}"
        if str(name).endswith("_env") and isinstance(item, str):
            yield _variable(place, item)
        elif str(name).endswith("_env") and isinstance(item, Mapping):
            yield from (_variable(f"{place}.{part}", str(variable)) for part, variable in item.items())
        else:
            yield from _environment(item, place)


def _variable(place: str, name: str) -> DoctorLine:
    if os.environ.get(name):
        return DoctorLine(True, place, f"{name} is set")
    return DoctorLine(False, place, f"{name} is not set", f"export {name}=...")


def _source(config: Config) -> Iterator[DoctorLine]:
    """Whether the source is there."""
    kind, spec = config.source_kind(), config.spec("source")
    if kind in KINDS:
        yield need(KINDS[kind], f"{kind} source")
    try:
        source = registry.load("ldp.sources", kind)
        missing = source.missing(spec)
    except (LDPError, OSError, ImportError) as error:
        yield DoctorLine(False, "source", str(error), getattr(error, "hint", None))
        return
    if missing:
        yield DoctorLine(False, "source", missing, "put it there, or mend metadata.source")
    else:
        yield DoctorLine(True, "source", source.describe(spec))


def _target(config: Config) -> Iterator[DoctorLine]:
    """Whether the target, where it can be looked at without a client, is whole."""
    try:
        notes = registry.load("ldp.targets", config.target_kind()).describe(config.spec("target")).notes
    except LDPError as error:
        notes = (str(error),)
    for note in notes:
        yield DoctorLine(False, "target", note)


def _end(name: str, spec: Spec) -> Iterator[DoctorLine]:
    """The extras, files and folders that a source or a target needs."""
    for place in (spec.get("path"), spec.get("register")):
        if isinstance(place, str):
            yield from _scheme(f"{name} path", place)
    credentials = spec.get("credentials")
    if isinstance(credentials, Mapping) and credentials.get("path"):
        yield _file(f"{name} credentials", spec.path(str(credentials["path"])))
    if name == "target" and spec.get("path"):
        yield from _writable("target folder", str(Path(spec.path(str(spec.get("path")))).parent))
    if spec.get("catalog"):
        yield from _catalog(name, spec.sub("catalog"))


def _catalog(name: str, spec: Spec) -> Iterator[DoctorLine]:
    """The driver of a catalog and the place of its tables."""
    kind = str(spec.get("type") or "local").lower()
    if kind == "glue":
        yield need("glue", f"{name} catalog glue")
    if str(spec.get("uri") or "").startswith("postgres"):
        yield need("postgres", f"{name} catalog PostgreSQL")
    warehouse = spec.get("warehouse_path") or spec.get("warehouse")
    if not isinstance(warehouse, str) or kind == "rest":
        return
    yield from _scheme(f"{name} warehouse", warehouse)
    if name == "target":
        yield from _writable("warehouse", spec.path(warehouse))


def _scheme(what: str, place: str) -> Iterator[DoctorLine]:
    extra = SCHEMES.get(place.partition("://")[0].lower()) if "://" in place else None
    if extra:
        yield need(extra, f"{what} {place}")


def _file(what: str, path: str) -> DoctorLine:
    if Path(path).is_file() and os.access(path, os.R_OK):
        return DoctorLine(True, what, f"{path} is readable")
    return DoctorLine(False, what, f"{path} is not a readable file", "put it there, or mend the path")


def _writable(what: str, place: str) -> Iterator[DoctorLine]:
    """Whether a local folder can be written, or made, by this user."""
    if not is_local(place):
        return
    folder = nearest = local_path(place)
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        state = "is writable" if folder == nearest else "will be made"
        yield DoctorLine(True, what, f"{folder} {state}")
    elif nearest.is_dir():
        yield DoctorLine(False, what, f"{nearest} is not writable", f"chmod u+wx '{nearest}'")
    else:
        yield DoctorLine(False, what, f"{nearest} is a file", "name a folder")


def _plugin_lines(config: Config) -> Iterator[DoctorLine]:
    """What the packages of ``ldp.doctor`` say: functions that take a Config and return lines."""
    for name in sorted(_entry_points.in_group("ldp.doctor")):
        yield from registry.load("ldp.doctor", name)(config)
