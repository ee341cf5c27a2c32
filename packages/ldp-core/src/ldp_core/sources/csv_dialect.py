"""How a CSV file is written: delimiter, quotes, header, encoding; declared, or seen in the first lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core._duck import text
from ldp_core.errors import SourceError
from ldp_core.sources._files import compression_of, duck_list, open_stream

if TYPE_CHECKING:
    from ldp_core.spi import Spec

DELIMITERS = ",;\t|"
"""What is tried where no delimiter is declared, in this order."""

MAX_LINE = 16 * 2**20
"""Bytes of the longest line that can be read."""

_BUFFER = 2 * MAX_LINE
"""Bytes that DuckDB reads at once; its own default is sixteen times the longest line."""

_HEAD = 64 * 2**10

_PACKED = {
    b"\x1f\x8b": ("compressed with gzip", "set compression: gzip, or end its name in .gz"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "set compression: zstd, or end its name in .zst"),
    b"PK\x03\x04": ("a zip archive or a workbook", "unpack it, or set format: XLSX"),
}
"""The first bytes of files that are no text."""


@dataclass(frozen=True)
class Dialect:
    """How the files of one source are written.

    Attributes:
        delimiter: One character.
        quote: One character, or empty for none.
        escape: One character; the same as ``quote`` where quotes are doubled.
        header: Whether the first line has the names.
        skip_rows: Lines before it.
        encoding: A Python codec.
        compression: As declared: None or ``auto`` goes by the end of the name.
        null_values: Texts that are NULL besides the empty field, where they stand unquoted.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    header: bool = True
    skip_rows: int = 0
    encoding: str = "utf-8"
    compression: str | None = None
    null_values: tuple[str, ...] = ()

    def read_sql(
        self, files: list[str], columns: int, *, compression: str | None = None, more: str = ""
    ) -> str:
        """A ``read_csv(...)`` of all columns as text, named ``c0`` to ``c<n-1>``.

        Only an empty unquoted field (and an unquoted null text) is NULL; ``""`` is the empty string.
        """
        names = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(columns))
        nulls = ", ".join(text(value) for value in ("", *self.null_values))
        packed = compression or self.compression
        return (
            f"read_csv({duck_list(files)}, auto_detect=false, delim={text(self.delimiter)}, "
            f"quote={text(self.quote)}, escape={text(self.escape)}, header={str(self.header).lower()}, "
            f"skip={self.skip_rows}, nullstr=[{nulls}], allow_quoted_nulls=false, "
            f"max_line_size={MAX_LINE}, buffer_size={_BUFFER}, "
            + (f"compression={text(packed)}, " if packed and packed != "auto" else "")
            + f"columns={{{names}}}{more})"
        )

    def records(self, lines: Iterator[str]) -> Iterator[list[str]]:
        """The records of decoded lines, read by the standard library."""
        doubled = self.escape in ("", self.quote)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            doublequote=doubled,
            escapechar=None if doubled else self.escape,
        )


def from_spec(spec: Spec) -> Dialect:
    """What a config declares; the delimiter stays empty where it does not say."""
    quote = str(spec.get("quote", '"'))
    return Dialect(
        delimiter={"\\t": "\t", "tab": "\t"}.get(
            str(spec.get("delimiter", "")), str(spec.get("delimiter", ""))
        ),
        quote=quote,
        escape=str(spec.get("escape", quote)),
        header=bool(spec.get("header", True)),
        skip_rows=int(spec.get("skip_rows", 0)),
        encoding=str(spec.get("encoding", "utf-8")),
        compression=spec.get("compression"),
        null_values=tuple(str(value) for value in spec.get("null_values", ())),
    )


@dataclass(frozen=True)
class Head:
    """The decoded start of a file.

    Attributes:
        text: Its first lines, without the byte order mark and the skipped lines.
        whole: Whether that is all of the file.
    """

    text: str
    whole: bool

    @property
    def blank(self) -> int:
        """How many blank lines come first."""
        lines = io.StringIO(self.text, newline="").readlines()
        return next((at for at, line in enumerate(lines) if line.rstrip("\r\n")), 0)

    def lines(self) -> Iterator[str]:
        """The lines, ends kept; a last line that may be cut is left out."""
        lines = io.StringIO(self.text, newline="").readlines()
        return iter(lines if self.whole or len(lines) < 2 else lines[:-1])


def read_head(file: str, dialect: Dialect, *, name: str, size: int = _HEAD, lenient: bool = False) -> Head:
    """Decode the first lines of a file.

    Args:
        file: Its name.
        dialect: How it is written, as far as that is declared.
        name: The file, for messages.
        size: Bytes to read.
        lenient: Bytes that are no UTF-8 are read as U+FFFD.

    Raises:
        SourceError: It is empty, cannot be decompressed, or is not in the encoding.
    """
    try:
        with open_stream(file, compression_of(file, dialect.compression)) as stream:
            data = stream.read(size + 1)
    except OSError as error:
        raise SourceError(f"cannot be read: {error}", file=name) from error
    for mark, (what, hint) in _PACKED.items():
        if data.startswith(mark):
            raise SourceError(f"is {what}, not text", file=name, hint=hint)
    whole = len(data) <= size
    text_ = decode(data, dialect.encoding, whole=whole, name=name, lenient=lenient)
    lines = io.StringIO(text_, newline="").readlines()[dialect.skip_rows :]
    body = "".join(lines)
    if not whole and len(lines) < 2 and size < MAX_LINE:
        return read_head(file, dialect, name=name, size=size * 16, lenient=lenient)
    if not body.strip():
        raise SourceError("the file is empty: there is not even a header", file=name)
    return Head(body, whole)


def decode(data: bytes, encoding: str, *, whole: bool, name: str, lenient: bool = False) -> str:
    """Bytes to text; a character cut at the end is dropped unless the data is whole.

    Args:
        data: The bytes.
        encoding: A Python codec.
        whole: Whether they are the whole file.
        name: The file, for messages.
        lenient: What is no UTF-8 becomes U+FFFD.

    Raises:
        SourceError: They are not in the encoding.
    """
    import codecs

    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    decoder = codecs.getincrementaldecoder("utf-8-sig" if plain else encoding)(
        "replace" if lenient and plain else "strict"
    )
    try:
        found = decoder.decode(data, final=whole)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise not_encoded(encoding, name, line) from error
    return found.removeprefix("\ufeff")


def not_encoded(encoding: str, name: str, line: int | None) -> SourceError:
    """The error for bytes that are not in the encoding."""
    return SourceError(
        f"is not {encoding.upper()}",
        file=name,
        line=line,
        hint="set encoding, for example latin-1, cp1252 or utf-16",
    )


def sniff(head: Head, dialect: Dialect) -> str:
    """The delimiter that splits the first lines into the same number of fields, more than one.

    Where several do, the one with most fields; where none does, the one seen most in the first line,
    else a comma.
    """
    best, fields = "", 1
    fallback, most = ",", 0
    for candidate in DELIMITERS:
        rows = _parse(head, _with(dialect, delimiter=candidate), 100)
        counts = {len(row) for row in rows if row}
        first = len(rows[0]) - 1 if rows else 0
        if first > most:
            fallback, most = candidate, first
        if len(counts) == 1 and (width := counts.pop()) > fields:
            best, fields = candidate, width
    return best or fallback


def header_names(head: Head, dialect: Dialect, *, name: str) -> list[str]:
    """The fields of the first record, or ``column0``, ``column1``, ... for a file without a header."""
    rows = _parse(head, dialect, 1)
    if not rows:
        raise SourceError(f"the first line is longer than {len(head.text)} bytes", file=name)
    if not dialect.header:
        return [f"column{at}" for at in range(len(rows[0]))]
    return rows[0]


def _parse(head: Head, dialect: Dialect, limit: int) -> list[list[str]]:
    rows: list[list[str]] = []
    reader = dialect.records(head.lines())
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == limit:
                break
    except csv.Error:
        pass
    return rows


def _with(dialect: Dialect, **changes: Any) -> Dialect:
    from dataclasses import replace

    return replace(dialect, **changes)
