"""CSV files as a target."""

from __future__ import annotations

from ldp_core._duck import text
from ldp_core.shape import Bool, Key, Shape, Text
from ldp_core.spi import Spec
from ldp_core.targets._files import MODE, NAME, PATH, FileTarget, compression_of

SHAPE = Shape(
    keys=(
        NAME,
        PATH,
        MODE,
        Key("delimiter", Text(pattern='^[^\\r\\n"]$'), "One character.", default=","),
        Key("header", Bool(), "Whether the first line names the columns.", default=True),
        Key(
            "null_value",
            Text(),
            "What stands for no value; an empty text is written in quotes and stays apart from it.",
            default="",
        ),
    ),
    doc="A CSV file; .gz and .zst are compressed.",
)


def copy_options(spec: Spec, path: str) -> str:
    """DuckDB's COPY options."""
    return (
        f"FORMAT csv, HEADER {'true' if spec.get('header', True) else 'false'}, "
        f"DELIMITER {text(str(spec.get('delimiter') or ','))}, "
        f"NULLSTR {text(str(spec.get('null_value') or ''))}, "
        f"COMPRESSION {compression_of(path)}"
    )


TARGET = FileTarget(SHAPE, copy_options, spills=True)
