"""The files of one CSV source, opened: dialect and headers known, readable as text by SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core.errors import LDPError, SourceError
from ldp_core.sources import _files
from ldp_core.sources.csv_dialect import Dialect, from_spec, header_names, not_encoded, read_head, sniff
from ldp_core.sources.csv_names import Group, all_names, checked, grouped

if TYPE_CHECKING:
    from ldp_core.spi import RunContext, Spec

_CHUNK = 4 * 2**20


@dataclass(frozen=True)
class CsvInput:
    """A CSV source as text.

    Attributes:
        dialect: How the files are written (as DuckDB reads them: UTF-8).
        groups: Runs of files with one header.
        names: All columns.
        shown: A file as DuckDB names it to its name for messages.
        files: The files of the source.
        aside: See ``TextInput``.
        origin: A copy that lacks rows to the file that it was made of.
    """

    dialect: Dialect
    groups: tuple[Group, ...]
    names: tuple[str, ...]
    shown: dict[str, str]
    files: tuple[str, ...]
    aside: tuple[str, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)

    @property
    def readable(self) -> list[str]:
        """The files as DuckDB opens them, in order."""
        return [file for group in self.groups for file in group.files]

    def text_sql(self, files: list[str] | None = None, more: str = "") -> str:
        """A SELECT of all columns as text, named ``c0`` to ``c<n-1>``; NULL where a file lacks one.

        Args:
            files: Only these; all by default.
            more: Further options of ``read_csv``.
        """
        parts = []
        for group in self.groups:
            chosen = [file for file in group.files if files is None or file in files]
            if chosen:
                parts.append(self._group_sql(chosen, group, more))
        return " UNION ALL ".join(parts)

    def _group_sql(self, files: list[str], group: Group, more: str) -> str:
        at = {name: position for position, name in enumerate(group.names)}
        fields = ", ".join(
            (f"c{at[name]}" if name in at else "NULL::VARCHAR") + f" AS c{position}"
            for position, name in enumerate(self.names)
        )
        if group.names == self.names:
            fields = "*"
        return f"SELECT {fields} FROM {self.dialect.read_sql(files, len(group.names), more=more)}"

    def numbered_sql(self, file: str) -> str:
        """See ``TextInput``."""
        return f"SELECT row_number() OVER () AS row, * FROM ({self.text_sql([file])})"

    def count_sql(self, file: str) -> str:
        """See ``TextInput``."""
        return f"SELECT count(*) FROM ({self.text_sql([file])})"

    def records(self, file: str, ctx: RunContext) -> Iterator[tuple[int | None, str]]:
        """See ``TextInput``."""
        from ldp_core.sources.csv_clean import rows_of

        return rows_of(self, file)

    def without_broken(self, ctx: RunContext) -> CsvInput | None:
        """See ``TextInput``: a file with such rows is copied without them into the run's scratch folder."""
        from ldp_core.sources.csv_clean import cleaned

        return cleaned(self, ctx)

    def explain(self, error: Exception) -> LDPError | None:
        """The error of a broken file, with file and line."""
        from ldp_core.sources.csv_errors import parser_error

        return parser_error(error, self)


def open_input(spec: Spec, ctx: RunContext) -> CsvInput:
    """Find the files, learn how they are written and read every header.

    Raises:
        SourceNotFound: There is no file.
        SourceError: A file is empty, badly encoded, or its header cannot be used.
    """
    files = _files.resolve(spec, "CSV")
    _files.attach_stores(ctx.con, files)
    declared = from_spec(spec)
    dialect = declared
    headers: list[tuple[str, str, tuple[str, ...]]] = []
    for at, file in enumerate(files):
        name = _files.shown(file, spec.base_dir)
        head = read_head(file, declared, name=name, lenient=spec.get("on_bad_rows") == "quarantine")
        if not at:
            skip = declared.skip_rows + head.blank * declared.header
            dialect = replace(declared, delimiter=declared.delimiter or sniff(head, declared), skip_rows=skip)
        elif declared.header and declared.skip_rows + head.blank != dialect.skip_rows:
            raise SourceError(
                "has another number of blank lines before its header than the first file",
                file=name,
                hint="remove them",
            )
        names = header_names(head, dialect, name=name)
        if dialect.header and any("\ufffd" in each for each in names):
            read_head(file, declared, name=name)  # a header that is not in the encoding is no bad row
        if len(names) == 1 and (blank := _blank_end(file, declared)):
            lines = "line" if blank == 1 else "lines"
            ctx.warn(
                f"{name}: {blank} blank {lines} at its end read as rows without a value, "
                "because it has one column"
            )
        readable = _as_utf8(file, dialect, ctx.scratch / f"utf8-{at}.csv", name)
        headers.append((readable, name, checked(names, file=name, warn=ctx.warn)))
    options = spec.get("files") or {}
    groups = grouped(headers, by_name=options.get("union") == "by_name")
    if not _is_utf8(dialect.encoding):
        dialect = replace(dialect, encoding="utf-8", compression="none")
    return CsvInput(
        dialect=dialect,
        groups=tuple(groups),
        names=all_names(groups),
        shown={readable: name for readable, name, _ in headers},
        files=tuple(files),
    )


def total_size(source: CsvInput) -> int:
    """Bytes of the files as they are stored."""
    return sum(fs.size(file) for file in source.readable)


def _blank_end(file: str, dialect: Dialect) -> int:
    """How many blank lines end a file; 0 for a compressed one, whose end cannot be looked at alone."""
    if _files.compression_of(file, dialect.compression) or not _is_utf8(dialect.encoding):
        return 0
    filesystem, inner = fs.arrow_fs(file)
    with filesystem.open_input_file(inner) as handle:
        handle.seek(max(0, handle.size() - 4096))
        tail: bytes = handle.read()
    ended = tail.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return max(0, len(ended) - len(ended.rstrip(b"\n")) - 1)


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def _as_utf8(file: str, dialect: Dialect, copy: Path, name: str) -> str:
    """The file itself, or a copy in UTF-8 in the run's scratch folder, made in bounded memory."""
    if _is_utf8(dialect.encoding):
        return file
    with copy.open("w", encoding="utf-8", newline="") as out:
        for piece in decoded(file, dialect, name):
            out.write(piece)
    return str(copy)


def decoded(file: str, dialect: Dialect, name: str) -> Iterator[str]:
    """The text of a file, piece by piece.

    Raises:
        SourceError: It is not in the encoding.
    """
    import codecs

    decoder = codecs.getincrementaldecoder(dialect.encoding)()
    with _files.open_stream(file, _files.compression_of(file, dialect.compression)) as stream:
        while data := stream.read(_CHUNK):
            try:
                yield decoder.decode(data)
            except UnicodeDecodeError as error:
                raise not_encoded(dialect.encoding, name, None) from error
    try:
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise SourceError(f"ends in the middle of a character of {dialect.encoding}", file=name) from error
