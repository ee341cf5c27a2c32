"""CSV files: text whose types are decided over the whole input, or by the table that it goes into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core.errors import Problem
from ldp_core.shape import Bool, Int, Key, ListOf, MapOf, OneOf, Shape, Text
from ldp_core.sources import _files
from ldp_core.sources.csv_layouts import layout_problems
from ldp_core.sources.csv_types import known_word

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Extract, RunContext, Spec

COLUMN = Shape(
    keys=(
        Key("type", Text(), "The column's type; the table's, or that of its values, by default."),
        Key("loss", Text(choices=("allow",)), "allow: digits may be rounded and times cut."),
    ),
    doc="A column's type, and whether values may lose something on the way into it.",
)

LOSSES = Key(
    "columns",
    MapOf(
        Shape(
            keys=(
                Key(
                    "loss",
                    Text(choices=("allow",)),
                    "allow: digits may be rounded and times cut.",
                    required=True,
                ),
            ),
            doc="What values may lose on the way into the table.",
        )
    ),
    "Columns whose values may lose something, by name.",
)
"""The ``columns`` of sources that know their types."""

FILES = Shape(
    keys=(
        Key("order", Text(choices=("name",)), "The order of the files.", default="name"),
        Key(
            "union",
            Text(choices=("by_name",)),
            "by_name: columns may differ and are matched by name.",
        ),
    ),
    doc="How several files make one table.",
)

ON_BAD_ROWS = Key(
    "on_bad_rows",
    Text(choices=("error", "quarantine")),
    "What a row that cannot be read does: it stops the load, or it is put aside.",
    default="error",
)
"""What sources of text do with rows that break their format or the type of a column."""

SHAPE = Shape(
    doc="CSV files: one, a glob or a folder, plain or compressed, local or in an object store.",
    keys=(
        Key("name", Text(), "What the source is called.", required=True),
        Key("path", Text(), "A file, a glob, a folder, or an s3://, gs:// or abfss:// URI.", required=True),
        Key(
            "delimiter",
            Text(),
            "One character; seen in the first lines by default (, ; tab |).",
        ),
        Key("quote", Text(), "One character; empty for none.", default='"'),
        Key("escape", Text(), "One character; the quote itself by default: doubled quotes."),
        Key("header", Bool(), "Whether the first line has the names; else column0, column1.", default=True),
        Key("encoding", Text(), "How the text is encoded.", default="utf-8"),
        Key(
            "null_values",
            ListOf(Text(), or_single=True),
            "Unquoted texts that mean NULL, too.",
        ),
        Key("decimal", Text(choices=(".", ",")), "The decimal mark.", default="."),
        Key("date_format", Text(), "strptime format of dates."),
        Key("timestamp_format", Text(), "strptime format of timestamps."),
        Key("skip_rows", Int(min=0), "Lines before the header.", default=0),
        Key(
            "compression",
            Text(choices=("auto", "none", "gzip", "zstd")),
            "By the end of the name.",
            default="auto",
        ),
        Key("columns", MapOf(OneOf((Text(), COLUMN))), "Types of columns on the first load, by name."),
        ON_BAD_ROWS,
        Key("files", FILES, "How several files make one table."),
    ),
)


class _CsvSource:
    """The source named ``CSV``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """Characters that are no single character, encodings, formats and types that nobody knows."""
        found = [
            Problem(f"must be one character, not {spec.get(key)!r}", key=key)
            for key in ("delimiter", "quote", "escape")
            if not _one_character(spec.get(key), key)
        ]
        found += _encoding(spec) + layout_problems(spec) + column_problems(spec)
        if spec.get("delimiter") and spec.get("delimiter") == spec.get("quote", '"'):
            found.append(Problem("the delimiter and the quote are the same", key="delimiter"))
        return found

    def describe(self, spec: Spec) -> str:
        """The path."""
        return _files.describe_path(spec)

    def missing(self, spec: Spec) -> str | None:
        """Whether no file is there."""
        return _files.missing_path(spec, "CSV")

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Open for reading; see ``Source.open``.

        Raises:
            SourceNotFound: There is no file.
            SourceError: A file is empty, broken or badly encoded, or its header cannot be used.
            DriftError: A column of the table cannot be filled from text.
            ConfigError: ``columns`` names a column that is not there.
        """
        from ldp_core.sources.csv_open import open_csv

        return open_csv(spec, ctx, wanted)


def _one_character(value: object, key: str) -> bool:
    if value is None or (key == "quote" and value == ""):
        return True
    return isinstance(value, str) and (len(value) == 1 or (key == "delimiter" and value in ("\\t", "tab")))


def _encoding(spec: Spec) -> list[Problem]:
    import codecs

    try:
        codecs.lookup(str(spec.get("encoding", "utf-8")))
    except LookupError:
        return [
            Problem(f"no encoding is called {spec.get('encoding')!r}", key="encoding", hint="try latin-1")
        ]
    return []


def column_problems(spec: Spec) -> list[Problem]:
    """Types in ``columns`` that nobody knows."""
    found = []
    for name, declared in (spec.get("columns") or {}).items():
        word = declared if isinstance(declared, str) else declared.get("type")
        if isinstance(word, str) and not known_word(word):
            found.append(
                Problem(
                    f"{word!r} is no type",
                    key=f"columns.{name}",
                    hint="use text, int, long, float, double, decimal(P, S), boolean, date, time, timestamp, "
                    "timestamptz or uuid",
                )
            )
    return found


SOURCE = _CsvSource()
