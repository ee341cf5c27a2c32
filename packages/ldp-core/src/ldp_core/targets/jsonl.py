"""JSON lines as a target: one object a row."""

from __future__ import annotations

from ldp_core.shape import Shape
from ldp_core.spi import Spec
from ldp_core.targets._files import MODE, NAME, PATH, FileTarget, compression_of

SHAPE = Shape(keys=(NAME, PATH, MODE), doc="A file with one JSON object a line; .gz and .zst are compressed.")


def copy_options(spec: Spec, path: str) -> str:
    """DuckDB's COPY options."""
    return f"FORMAT json, COMPRESSION {compression_of(path)}"


TARGET = FileTarget(SHAPE, copy_options, spills=True)
