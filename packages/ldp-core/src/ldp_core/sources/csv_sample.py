"""A sample of large CSV files: rows from the start, the middle and the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core.sources import _files
from ldp_core.sources.csv_names import Group

if TYPE_CHECKING:
    from pathlib import Path

    from ldp_core.sources.csv_input import CsvInput
    from ldp_core.spi import RunContext

SMALL = 128 * 2**10
"""Bytes up to which an input is looked at whole instead."""

_CHUNK = 32 * 2**10


def sample_sql(source: CsvInput, ctx: RunContext) -> str:
    """A SELECT of rows of text from the start, middle and end of some files of each header.

    The rows are copied into the run's scratch folder. Rows that a cut has broken are passed over.
    """
    groups = []
    for number, group in enumerate(source.groups):
        chosen = sorted({0, len(group.files) // 2, len(group.files) - 1})
        copies = []
        for at in chosen:
            copy = ctx.scratch / f"sample-{number}-{at}.csv"
            _copy(group.files[at], source.dialect.compression, copy)
            copies.append(str(copy))
        groups.append(Group(tuple(copies), group.names))
    dialect = replace(source.dialect, compression="none")
    part = replace(source, groups=tuple(groups), dialect=dialect)
    return part.text_sql(more=", ignore_errors=true")


def _copy(file: str, compression: str | None, copy: Path) -> None:
    packed = _files.compression_of(file, compression)
    if packed:
        with _files.open_stream(file, packed) as stream:
            copy.write_bytes(_whole_lines(stream.read(4 * _CHUNK), first=True))
        return
    filesystem, inner = fs.arrow_fs(file)
    with filesystem.open_input_file(inner) as handle, copy.open("wb") as out:
        size = handle.size()
        for start in sorted({0, max(0, size // 2), max(0, size - _CHUNK)}):
            handle.seek(start)
            out.write(_whole_lines(handle.read(_CHUNK), first=start == 0))


def _whole_lines(data: bytes, *, first: bool) -> bytes:
    """The lines of a piece of a file that are not cut."""
    end = b"\n" if b"\n" in data else b"\r"
    if end not in data:
        return data if first else b""
    start = 0 if first else data.index(end) + 1
    return data[start : data.rindex(end) + 1]
