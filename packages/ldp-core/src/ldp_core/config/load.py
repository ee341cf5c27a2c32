"""A config file as plain data that knows on which line each key stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError

YAML_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class Document:
    """A parsed file.

    Attributes:
        data: The object at its top.
        lines: The line of every key and list item, by dotted key: ``metadata.quality.checks[0].min``.
        path: The file.
        name: The file as the user named it.
    """

    data: dict[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)
    path: Path | None = None
    name: str | None = None

    def line_of(self, key: str) -> int | None:
        """The line of a key, from 1; of the nearest object around it where the key itself is absent."""
        while key:
            if key in self.lines:
                return self.lines[key]
            key = parent(key)
        return self.lines.get("")


def parent(key: str) -> str:
    """The dotted key of the object or list around a key: ``a.b[0]`` is in ``a.b``, that in ``a``."""
    return key[: max(key.rfind("."), key.rfind("["), 0)]


def child(key: str, name: str) -> str:
    """The dotted key of a member of an object."""
    return f"{key}.{name}" if key else name


def load_document(path: str | Path, *, as_json: bool | None = None, name: str | None = None) -> Document:
    """Read a JSON or YAML file.

    YAML (``.yaml``, ``.yml``) is the 1.2 core schema, so a config in JSON and in YAML is the same data.
    Any other name is read as JSON.

    Args:
        path: The file.
        as_json: Read it as JSON (or as YAML) whatever its name.
        name: What messages call the file; its path by default.

    Raises:
        ConfigError: It is not there, not UTF-8, not JSON or YAML, or not an object; names file and line.
    """
    name, file = name or str(path), Path(path)
    text = _read(file, name)
    if as_json is None:
        as_json = file.suffix.lower() not in YAML_SUFFIXES
    if not text.strip():
        raise ConfigError("the file is empty", file=name)
    if as_json:
        from ldp_core.config._json import parse_json as parse
    else:
        from ldp_core.config._yaml import parse_yaml as parse
    data, lines = parse(text, name)
    if not isinstance(data, dict):
        raise ConfigError(
            f"the top level must be an object, not {kind_of(data)}", file=name, line=lines.get("", 1)
        )
    return Document(data, lines, file, name)


def _read(file: Path, name: str) -> str:
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"config file not found: {name}") from None
    except IsADirectoryError:
        raise ConfigError(f"{name} is a folder, not a config file") from None
    except OSError as error:
        raise ConfigError(f"cannot read {name}: {error.strerror or error}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("the file is not UTF-8", file=name, line=line, hint="save it as UTF-8") from None


def kind_of(value: Any) -> str:
    """The kind of a JSON value in a user's words: ``a list``, ``null``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else type(value).__name__
