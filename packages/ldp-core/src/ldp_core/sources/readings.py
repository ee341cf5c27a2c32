"""CSV files that many windows read are read once: their text is kept as Parquet, ordered by window.

What a window then gets is what it gets from the files. Types, guards and messages are those of the text; only
where every value of every column is known to fit its type are the rows of other windows left out, and until
then all of them are looked at. Files that change are read again.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core._duck import text
from ldp_core.errors import ConfigError
from ldp_core.sources.csv_guard import fits, value
from ldp_core.sources.csv_input import CsvInput, total_size
from ldp_core.tables.window_rows import bounds, has_filter
from ldp_core.window.model import Window

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.sources.csv_extract import Column
    from ldp_core.spi import Keyed, RunContext, Spec

_ROOM = 3
"""How often the files must fit into what is free where the copies go."""
_GROUP = 16_384
"""Rows of a row group: what is read at least of a window."""
Stamp = tuple[tuple[str, int, int], ...]


@dataclass
class Readings:
    """What was read of text files, shared by the windows of one backfill.

    Attributes:
        folder: Where the copies go; whoever makes it removes it.
        windows: The windows that will be asked for, end to end.
        reads: How often files were read to be copied.
    """

    folder: Path
    windows: Sequence[Window]
    reads: int = 0
    _copies: dict[tuple[str, ...], _Copy] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, source: CsvInput, spec: Spec, ctx: RunContext) -> CsvInput:
        """The source, read from its copy; the source itself where it has to be read from its files.

        The copy is made by the first who asks. Where it cannot be made the files tell why.
        """
        if not _may_share(source, spec, ctx):
            return source
        with self._lock:
            copy = self._copies.get(source.files)
            stamp = _stamp(source)
            if copy is None or copy.stamp != stamp or copy.names != source.names:
                copy = self._made(source, stamp, ctx)
                self._copies[source.files] = copy
        if copy.path is None:
            return source
        return CopiedCsv(**vars(source), copy=copy, readings=self)

    def _made(self, source: CsvInput, stamp: Stamp, ctx: RunContext) -> _Copy:
        import duckdb

        nothing = _Copy(None, stamp, source.names)
        self.folder.mkdir(parents=True, exist_ok=True)
        if total_size(source) * _ROOM > shutil.disk_usage(self.folder).free:
            return nothing
        self.reads += 1
        path = self.folder / f"text-{self.reads}.parquet"
        try:
            ctx.con.execute(f"COPY ({source.text_sql()}) TO {text(str(path))} (FORMAT parquet)")
        except duckdb.InterruptException:
            raise
        except duckdb.Error:
            return nothing
        return replace(nothing, path=path) if _stamp(source) == stamp else nothing

    def ordered(self, copy: _Copy, columns: tuple[Column, ...], keyed: Keyed, ctx: RunContext) -> str | None:
        """The copy ordered by window; None where not every value fits its type, so that all must be seen.

        Raises:
            ConfigError: As for ``window_rows.bounds``.
        """
        import duckdb

        with self._lock:
            if columns not in copy.ordered:
                try:
                    fit = copy.all_fit(columns, ctx)
                    copy.ordered[columns] = self._by_window(copy, columns, keyed, ctx) if fit else None
                except duckdb.InterruptException:
                    raise
                except duckdb.Error:  # such as no room: all rows are looked at
                    copy.ordered[columns] = None
            return copy.ordered[columns]

    def _by_window(self, copy: _Copy, columns: tuple[Column, ...], keyed: Keyed, ctx: RunContext) -> str:
        at = next(at for at, column in enumerate(columns) if column.name == keyed.column)
        path = self.folder / f"{Path(str(copy.path)).stem}-{len(copy.ordered)}.parquet"
        # Of windows that begin with one value, all but the last hold none: a clock that is put back.
        places = dict(_lows(self.windows, keyed, columns[at]))
        lows = ", ".join(f"({low}, {place})" for low, place in places.items())
        rows = (
            "SELECT * EXCLUDE (file_row_number), file_row_number AS row, "
            f"{value(columns[at].cast, f'c{at}')} AS v "
            f"FROM read_parquet({text(str(copy.path))}, file_row_number=true)"
        )
        ctx.con.execute(
            f"COPY (SELECT rows.* EXCLUDE (v, row), lows.place FROM ({rows}) AS rows "
            f"ASOF LEFT JOIN (VALUES {lows}) AS lows(low, place) ON rows.v >= lows.low "
            f"ORDER BY place NULLS LAST, row) "
            f"TO {text(str(path))} (FORMAT parquet, ROW_GROUP_SIZE {_GROUP})"
        )
        return str(path)


@dataclass(frozen=True)
class _Copy:
    """The text of files.

    Attributes:
        path: A Parquet file of columns ``c0`` to ``c<n-1>``, rows as in the files; None where there is none.
        stamp: The files when they were read.
        names: The columns.
        ordered: By the columns as they are read: the copy ordered by window, or that there can be none.
    """

    path: Path | None
    stamp: Stamp
    names: tuple[str, ...]
    ordered: dict[tuple[Column, ...], str | None] = field(default_factory=dict, compare=False)

    def all_fit(self, columns: tuple[Column, ...], ctx: RunContext) -> bool:
        """Whether no guard would object to any value of the files."""
        tests = [
            f"(c{at} IS NOT NULL AND NOT {fits(column.cast, f'c{at}')})"
            for at, column in enumerate(columns)
            if column.cast.kind != "text"
        ]
        if not tests:
            return True
        sql = f"SELECT count(*) FROM read_parquet({text(str(self.path))}) WHERE {' OR '.join(tests)}"
        return int(ctx.con.execute(sql).fetchall()[0][0]) == 0


@dataclass(frozen=True)
class CopiedCsv(CsvInput):
    """A CSV source whose rows are read from a copy, and everything else from its files.

    Attributes:
        copy: The copy.
        readings: Who made it.
    """

    copy: _Copy = field(kw_only=True)
    readings: Readings = field(kw_only=True)

    def text_sql(self, files: list[str] | None = None, more: str = "") -> str:
        """See ``CsvInput``."""
        if files is not None or more:
            return super().text_sql(files, more)
        return self._select(str(self.copy.path))

    def within_sql(self, keyed: Keyed, columns: tuple[Column, ...], ctx: RunContext) -> str | None:
        """A SELECT of at least the rows of a window, as ``text_sql``; None where that has to be asked."""
        window = Window(keyed.start, keyed.end) if keyed.start and keyed.end else None
        if window is None or window not in self.readings.windows:
            return None
        if any(column.cast.kind == "unknown" for column in columns):
            return None
        try:
            path = self.readings.ordered(self.copy, columns, keyed, ctx)
        except ConfigError:
            return None  # the run says so itself
        place = list(self.readings.windows).index(window)
        return None if path is None else f"{self._select(path)} WHERE place = {place}"

    def _select(self, path: str) -> str:
        fields = ", ".join(f"c{at}" for at in range(len(self.names)))
        return f"SELECT {fields} FROM read_parquet({text(path)})"


def _may_share(source: CsvInput, spec: Spec, ctx: RunContext) -> bool:
    """Whether a source may be read from a copy: local files, of which a window takes some rows."""
    filtered = ctx.keyed is not None and has_filter(ctx.keyed) and ctx.keyed.column in source.names
    return filtered and spec.get("on_bad_rows") != "quarantine" and all(map(fs.is_local, source.files))


def _stamp(source: CsvInput) -> Stamp:
    found = [(file, fs.local_path(file).stat()) for file in source.files]
    return tuple((file, stat.st_size, stat.st_mtime_ns) for file, stat in found)


def _lows(windows: Sequence[Window], keyed: Keyed, column: Column) -> list[tuple[str, int]]:
    """The first value of each window, and its place; -1 for what follows the last."""
    import pyarrow as pa

    schema: pa.Schema = pa.schema([(column.name, column.cast.arrow())])
    found = [bounds(replace(keyed, start=each.start, end=each.end), schema) for each in windows]
    lows = [(each.low, place) for place, each in enumerate(found)]
    ends = [(each.high, -1) for each in found]
    known = {low for low, _ in lows}
    return [*lows, *(end for end in ends if end[0] not in known)]
