"""Where rows that cannot be read may go: into quarantine, beside a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ldp_core.config.names import entry_of
from ldp_core.config.pipeline import TARGET
from ldp_core.errors import Problem

if TYPE_CHECKING:
    from ldp_core.config.model import Config


def bad_rows_problems(config: Config) -> Iterator[Problem]:
    """``on_bad_rows: quarantine`` of a source whose rows do not go into a table.

    Args:
        config: Its parts may be of any shape.
    """
    source, target = config.metadata.get("source"), config.metadata.get("target")
    if not isinstance(source, Mapping) or not isinstance(target, Mapping):
        return
    entry = entry_of(TARGET, target)
    if source.get("on_bad_rows") == "quarantine" and entry is not None and entry != "ICEBERG":
        yield Problem(
            f"quarantine needs a target with format ICEBERG: rows of a {entry} file cannot be put aside",
            key="metadata.source.on_bad_rows",
            hint="leave it out",
        )
