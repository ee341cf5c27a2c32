"""The engines of this package, as the entry-point group ``ldp.check_executors`` holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, Number, Shape, Text

from ldp_quality.executors.source import Source

GROUP = "ldp.check_executors"


@dataclass(frozen=True)
class NamedEngine:
    """An engine whose keys are the arguments of its source.

    Attributes:
        shape: What says where the rows are.
        make: The source; its parameters are the keys of the shape.
    """

    shape: Shape
    make: Callable[..., Source]

    def source(self, values: Mapping[str, Any]) -> Source:
        """The rows that such a description means. Reads nothing.

        Raises:
            ConfigError: A key is unknown, missing or wrong.
        """
        from ldp_core.config.validate import check

        problems = check(self.shape, dict(values))
        if problems:
            raise ConfigError.from_problems(tuple(problems))
        return self.make(**values)


def _file(**values: Any) -> Source:
    from ldp_quality.executors.stored import FileTable

    return FileTable(**values)


def _postgres(**values: Any) -> Source:
    from ldp_quality.executors.postgres import PostgresTable

    return PostgresTable(**values)


DUCKDB = NamedEngine(
    Shape(
        (
            Key(
                "path", Text(), "A file, a glob, a folder, or an s3://, gs:// or abfss:// URI.", required=True
            ),
            Key("format", Text(), "PARQUET, CSV, ...; from the ending of the path by default."),
        ),
        doc="Files, read by DuckDB in this process.",
    ),
    _file,
)
POSTGRES = NamedEngine(
    Shape(
        (
            Key("uri", Text(), "postgresql://user@host/database; no password.", required=True),
            Key("table", Text(), "schema.table; a view, too.", required=True),
            Key("timeout", Number(above=0), "Seconds that one query may take.", default=300),
            Key("password_env", Text(), "The environment variable that holds the password."),
        ),
        doc="A table of a PostgreSQL database, answered there.",
    ),
    _postgres,
)
