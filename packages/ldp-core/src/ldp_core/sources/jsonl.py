"""JSON lines, or one array of objects: text whose types are decided over the whole input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core.errors import Problem
from ldp_core.shape import Key, MapOf, OneOf, Shape, Text
from ldp_core.sources import _files
from ldp_core.sources.csv import COLUMN, ON_BAD_ROWS, column_problems

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Extract, RunContext, Spec

SHAPE = Shape(
    doc="JSON files: an object a line, or an array of objects; one, a glob or a folder, plain or compressed.",
    keys=(
        Key("name", Text(), "What the source is called.", required=True),
        Key("path", Text(), "A file, a glob, a folder, or an s3://, gs:// or abfss:// URI.", required=True),
        Key(
            "compression",
            Text(choices=("auto", "none", "gzip", "zstd")),
            "By the end of the name.",
            default="auto",
        ),
        Key("columns", MapOf(OneOf((Text(), COLUMN))), "Types of columns on the first load, by name."),
        ON_BAD_ROWS,
    ),
)


class _JsonSource:
    """The source named ``JSONL``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """Types that nobody knows."""
        return column_problems(spec)

    def describe(self, spec: Spec) -> str:
        """The path."""
        return _files.describe_path(spec)

    def missing(self, spec: Spec) -> str | None:
        """Whether no file is there."""
        return _files.missing_path(spec, "JSON")

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Open for reading; see ``Source.open``.

        Raises:
            SourceNotFound: There is no file.
            NoData: It has no row, and neither table nor config tells its columns.
            SourceError: A file is broken, or empty beside others, or holds something else than objects.
            DriftError: A column of the table cannot be filled.
        """
        from ldp_core.sources.json_open import open_json

        return open_json(spec, ctx, wanted)


SOURCE = _JsonSource()
