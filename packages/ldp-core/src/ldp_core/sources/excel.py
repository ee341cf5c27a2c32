"""Excel workbooks: one sheet, its cells typed like text."""

from __future__ import annotations

import csv
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core.errors import ConfigError, EngineNotFound, Problem, SourceError, SourceNotFound
from ldp_core.shape import Int, Key, MapOf, OneOf, Shape, Text
from ldp_core.sources import _files
from ldp_core.sources.csv import COLUMN, column_problems

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Extract, RunContext, Spec

SHAPE = Shape(
    doc="One sheet of a workbook.",
    keys=(
        Key("name", Text(), "What the source is called.", required=True),
        Key("path", Text(), "The workbook.", required=True),
        Key("sheet", OneOf((Int(min=0), Text())), "Its name, or its position from 0.", default=0),
        Key("header_row", Int(min=1), "The row with the names, from 1.", default=1),
        Key("columns", MapOf(OneOf((Text(), COLUMN))), "Types of columns on the first load, by name."),
    ),
)


class _ExcelSource:
    """The source named ``XLSX``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """Types that nobody knows."""
        return column_problems(spec)

    def describe(self, spec: Spec) -> str:
        """The path and the sheet."""
        sheet = spec.get("sheet", 0)
        return f"{spec.get('path')} ({f'sheet {sheet}' if isinstance(sheet, int) else sheet})"

    def missing(self, spec: Spec) -> str | None:
        """Whether the workbook is not there."""
        return _files.missing_path(spec, "Excel")

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Copy the sheet's cells as text into the run's folder and type them; see ``Source.open``.

        Raises:
            EngineNotFound: python-calamine is not installed.
            SourceNotFound: The workbook is not there.
            SourceError: It cannot be read, or has no such sheet or row.
        """
        from ldp_core.sources.csv_dialect import Dialect
        from ldp_core.sources.csv_input import CsvInput
        from ldp_core.sources.csv_names import Group, checked
        from ldp_core.sources.csv_open import open_text

        path = spec.path(str(spec.get("path")))
        if not fs.is_local(path):
            raise ConfigError("a workbook must be a local file", file=spec.file, key=f"{spec.key}.path")
        if not fs.local_path(path).is_file():
            raise SourceNotFound(f"Excel file not found: {path}")
        name = _files.shown(path, spec.base_dir)
        head, *rows = _rows(fs.local_path(path), spec, name)
        header = [_text(cell) for cell in head]
        moments = {at for row in rows for at, cell in enumerate(row) if isinstance(cell, datetime)}
        width = max((at + 1 for at, cell in enumerate(header) if cell), default=0)
        names = checked(header[:width], file=name, warn=ctx.warn)
        copy = ctx.scratch / "sheet.csv"
        with copy.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL)
            writer.writerow([f"c{at}" for at in range(width)])
            for row in rows:
                cells = [_text(cell, at in moments) for at, cell in enumerate(row[:width])]
                if any(row[width:]):
                    extra = next(_text(cell) for cell in row[width:] if cell)
                    raise SourceError(f"a row has the value {extra!r} in a column without a name", file=name)
                if any(cells):
                    writer.writerow(cells + [""] * (width - len(cells)))
        source = CsvInput(
            dialect=Dialect(compression="none"),
            groups=(Group((str(copy),), names),),
            names=names,
            shown={str(copy): name},
            files=(path,),
        )
        return open_text(source, spec, ctx, wanted)


def _rows(path: Path, spec: Spec, name: str) -> list[list[Any]]:
    """The rows of the sheet from the header row on."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError as error:
        raise EngineNotFound(
            "XLSX needs python-calamine, which is not installed", hint='pip install "ldp-core[excel]"'
        ) from error
    try:
        book = CalamineWorkbook.from_path(str(path))
    except Exception as error:
        raise SourceError(f"is no workbook: {error}", file=name) from error
    sheet, names = spec.get("sheet", 0), book.sheet_names
    if isinstance(sheet, str) and sheet not in names:
        raise SourceError(f"has no sheet {sheet!r}; it has {', '.join(names)}", file=name)
    if isinstance(sheet, int) and sheet >= len(names):
        raise SourceError(f"has no sheet {sheet}: it has {len(names)}, counted from 0", file=name)
    opened = book.get_sheet_by_name(sheet) if isinstance(sheet, str) else book.get_sheet_by_index(sheet)
    header_row = int(spec.get("header_row", 1))
    rows = opened.to_python(skip_empty_area=False)
    if len(rows) < header_row or not any(cell not in ("", None) for cell in rows[header_row - 1]):
        raise SourceError(f"row {header_row} of the sheet holds no names", file=name)
    return rows[header_row - 1 :]


def _text(cell: Any, moment: bool = False) -> str:
    """A cell as CSV would hold it: whole numbers without a point, times in ISO form.

    Args:
        cell: The value.
        moment: The column has times of day, so a date alone is its midnight (readers give it as a date).
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if moment and isinstance(cell, date):
        return f"{cell.isoformat()} 00:00:00"
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)


SOURCE = _ExcelSource()
