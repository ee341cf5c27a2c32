"""One plugin's part of a config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldp_core.fs import is_local, local_path


@dataclass(frozen=True)
class Spec:
    """One plugin's part of a config, already checked against its shape.

    Attributes:
        values: The mapping as written (aliases resolved, defaults not filled in).
        base_dir: The folder that relative paths start from.
        key: Its dotted place in the config, for messages: ``metadata.source``.
        file: The config file as the user named it, for messages.
    """

    values: Mapping[str, Any]
    base_dir: Path
    key: str = ""
    file: str | None = None

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self.values.get(name, default)

    def path(self, text: str) -> str:
        """A path, or the URI of a store as it is; a relative path starts at ``base_dir``.

        A ``file:`` URI gives its path: to who opens it as a file it would be a folder called ``file:``.
        """
        if not is_local(text):
            return text
        return str(Path(self.base_dir, local_path(text).expanduser()))

    def sub(self, name: str) -> Spec:
        """The spec of a nested object, such as ``catalog``."""
        return Spec(self.values.get(name) or {}, self.base_dir, f"{self.key}.{name}", self.file)
