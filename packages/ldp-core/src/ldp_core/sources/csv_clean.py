"""CSV files without the rows that no parser can split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.sources import _files, _rejects
from ldp_core.sources.csv_names import Group
from ldp_core.sources.csv_records import Piece, pieces, raw

if TYPE_CHECKING:
    from ldp_core.sources.csv_input import CsvInput
    from ldp_core.spi import RunContext

_numbers = count()


def cleaned(source: CsvInput, ctx: RunContext) -> CsvInput | None:
    """The input with a copy in place of each file that has broken rows; None when no file has.

    Raises:
        SourceError: A line is longer than the engine reads.
    """
    if source.aside:
        return None
    aside: list[str] = []
    origin: dict[str, str] = {}
    groups = []
    for group in source.groups:
        files = []
        for file in group.files:
            copy = ctx.scratch / f"whole-{next(_numbers)}.csv"
            found = _rejects.write(_copied(source, file, len(group.names), copy), ctx)
            if found is None:
                copy.unlink()
                files.append(file)
            else:
                aside.append(found)
                origin[str(copy)] = file
                files.append(str(copy))
        groups.append(Group(tuple(files), group.names))
    if not aside:
        return None
    shown = source.shown | {copy: source.shown[file] for copy, file in origin.items()}
    return replace(source, groups=tuple(groups), shown=shown, aside=tuple(aside), origin=origin)


def rows_of(source: CsvInput, file: str) -> Iterator[tuple[int | None, str]]:
    """The line and the text of each row of a file that is not broken."""
    width = next(len(group.names) for group in source.groups if file in group.files)
    for piece in _pieces(source, source.origin.get(file, file), width):
        if piece.kind == "row":
            yield piece.line, raw(piece)


def _copied(source: CsvInput, file: str, width: int, copy: Path) -> Iterator[_rejects.Reject]:
    """Copy all but the broken rows of a file; gives those."""
    with _writer(copy, source.dialect.compression) as out:
        for piece in _pieces(source, file, width):
            if piece.kind == "broken":
                shown = source.shown[file]
                yield _rejects.Reject(shown, piece.line, raw(piece), [_rejects.BROKEN], piece.trouble)
            else:
                out.write(piece.data)


def _pieces(source: CsvInput, file: str, width: int) -> Iterator[Piece]:
    packed = _files.compression_of(file, source.dialect.compression)
    with _files.open_stream(file, packed) as stream:
        yield from pieces(stream, source.dialect, width, name=source.shown[file])


def _writer(copy: Path, compression: str | None) -> Any:
    """A buffered stream into a copy, which is compressed only where all files are said to be."""
    import pyarrow as pa

    packed = compression if compression in ("gzip", "zstd") else None
    return pa.BufferedOutputStream(pa.output_stream(str(copy), compression=packed), 2**20)
