"""Parquet files as a target."""

from __future__ import annotations

from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec
from ldp_core.targets._files import MODE, NAME, PATH, FileTarget

CODECS = ("zstd", "snappy", "gzip", "uncompressed")

SHAPE = Shape(
    keys=(
        NAME,
        PATH,
        MODE,
        Key(
            "compression", Text(choices=CODECS, ignore_case=True), "How pages are compressed.", default="zstd"
        ),
    ),
    doc="A Parquet file.",
)


def copy_options(spec: Spec, path: str) -> str:
    """DuckDB's COPY options."""
    return f"FORMAT parquet, COMPRESSION {str(spec.get('compression') or 'zstd').lower()}"


TARGET = FileTarget(SHAPE, copy_options, spills=False)
