"""JSON files read as columns of text: one column a key, the keys of the whole input."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core._duck import text
from ldp_core.errors import LDPError, SourceError
from ldp_core.sources import _files, json_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ldp_core.spi import RunContext, Spec

_MAX_OBJECT = 64 * 2**20
_MALFORMED = re.compile(r'JSON.* in file "(.+?)".*?in (line|record/value) (\d+): (.*)')


@dataclass(frozen=True)
class Seen:
    """What the whole input shows of one key.

    Attributes:
        name: The key.
        kinds: DuckDB's words for the JSON types of its values, without NULL.
        long_digits: A nested value holds a run of 19 digits or more.
    """

    name: str
    kinds: frozenset[str]
    long_digits: bool


@dataclass(frozen=True)
class JsonInput:
    """A JSON source as text; see ``TextInput``.

    Attributes:
        names: All keys.
        readable: The files as DuckDB opens them.
        shown: A file as DuckDB names it to its name for messages.
        files: The files of the source.
        compression: As declared.
        by_line: Each line is an object, and those that are none are left out.
        aside: See ``TextInput``.
    """

    names: tuple[str, ...]
    readable: list[str]
    shown: dict[str, str]
    files: tuple[str, ...]
    compression: str = "auto"
    by_line: bool = False
    aside: tuple[str, ...] = ()

    def objects_sql(self, files: list[str] | None = None) -> str:
        """A table that gives each object as a column ``json``."""
        if self.by_line:
            return f"(SELECT json FROM {self.lines_sql(files)} WHERE {json_lines.TROUBLE} IS NULL)"
        return self._read_sql(files, "auto")

    def lines_sql(self, files: list[str] | None = None) -> str:
        """A table that gives each line as a column ``json``, NULL for one that is not JSON."""
        return self._read_sql(files, "newline_delimited", ", ignore_errors=true")

    def _read_sql(self, files: list[str] | None, layout: str, more: str = "") -> str:
        return (
            f"read_json_objects({_files.duck_list(files or self.readable)}, format='{layout}', "
            f"maximum_object_size={_MAX_OBJECT}, compression={text(self.compression)}{more})"
        )

    def text_sql(self, files: list[str] | None = None) -> str:
        """A SELECT of all columns as text: strings without quotes, nested values as JSON."""
        return f"SELECT {self._fields()} FROM (SELECT {self._values()} AS v FROM {self.objects_sql(files)})"

    def numbered_sql(self, file: str) -> str:
        """See ``TextInput``."""
        read, where = self.objects_sql([file]), ""
        if self.by_line:
            read, where = self.lines_sql([file]), f" WHERE {json_lines.TROUBLE} IS NULL"
        return (
            f"SELECT row, {self._fields()} FROM (SELECT row, {self._values()} AS v "
            f"FROM (SELECT row_number() OVER () AS row, json FROM {read}){where})"
        )

    def count_sql(self, file: str) -> str:
        """See ``TextInput``."""
        read = self.lines_sql([file]) if self.by_line else self.objects_sql([file])
        return f"SELECT count(*) FROM {read}"

    def records(self, file: str, ctx: RunContext) -> Iterator[tuple[int | None, str]]:
        """See ``TextInput``; in files of an object a line the rows that are left out count, too."""
        if self.by_line:
            return json_lines.lines(file, self.compression)
        return json_lines.objects(file, self.compression, self.objects_sql([file]), ctx)

    def without_broken(self, ctx: RunContext) -> JsonInput | None:
        """See ``TextInput``: every file must have an object a line."""
        return None if self.by_line else json_lines.by_line(self, ctx)

    def _fields(self) -> str:
        return ", ".join(f"v[{at + 1}] AS c{at}" for at in range(len(self.names)))

    def _values(self) -> str:
        paths = ", ".join(text(pointer(name)) for name in self.names)
        return f"json_extract_string(json, [{paths}])"

    def explain(self, error: Exception) -> LDPError | None:
        """The error of a broken file."""
        return json_error(error, self.shown)


def pointer(name: str) -> str:
    """The JSON pointer (RFC 6901) of a key."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def open_files(spec: Spec, ctx: RunContext) -> JsonInput:
    """Find the files; one without bytes beside others that have some was cut off.

    Raises:
        SourceNotFound: There is no file.
        SourceError: One of several files has no bytes.
    """
    files = _files.resolve(spec, "JSON")
    _files.attach_stores(ctx.con, files)
    shown = {file: _files.shown(file, spec.base_dir) for file in files}
    bare = [name for file, name in shown.items() if fs.size(file) == 0]
    if 0 < len(bare) < len(shown):
        raise SourceError("the file is empty", file=bare[0])
    return JsonInput((), files, shown, tuple(files), str(spec.get("compression", "auto")))


def look(source: JsonInput, ctx: RunContext) -> list[Seen]:
    """Every key of the whole input with the kinds of its values, in the order they are met. One pass.

    Raises:
        SourceError: A record is no object or has a key twice, keys differ only in case, or no record has one.
    """
    import duckdb

    keys = (
        "CASE WHEN json_type(json) <> 'OBJECT' THEN error('ldp-no-object:' || row || ':' || json_type(json)) "
        "WHEN len(json_keys(json)) <> len(list_distinct(json_keys(json))) THEN error('ldp-twice:' || row) "
        "ELSE json_keys(json) END"
    )
    sql = (
        "WITH rows AS (SELECT json, row_number() OVER () AS row "
        f"FROM {source.objects_sql()}), "
        f"keys AS (SELECT json, row, {keys} AS keys FROM rows), "
        "pairs AS (SELECT json, row, unnest(keys) AS k, generate_subscripts(keys, 1) AS place FROM keys), "
        "vals AS (SELECT row, place, k, "
        "json_extract(json, '/' || replace(replace(k, '~', '~0'), '/', '~1')) AS v FROM pairs) "
        "SELECT k, list(DISTINCT json_type(v)), bool_or(json_type(v) IN ('OBJECT', 'ARRAY') AND "
        "regexp_matches(v::VARCHAR, '[0-9]{19}')) FROM vals "
        "GROUP BY k ORDER BY min({'row': row, 'place': place})"
    )
    try:
        rows = ctx.con.execute(sql).fetchall()
    except duckdb.Error as error:
        raise json_error(error, source.shown) or error from error
    seen = [Seen(name, frozenset(kinds) - {"NULL", None}, bool(big)) for name, kinds, big in rows]
    if not seen and ctx.con.execute(f"FROM {source.objects_sql()} LIMIT 1").fetchall():
        raise SourceError("holds no object with a key", file=next(iter(source.shown.values())))
    folded: dict[str, str] = {}
    for key in seen:
        if not key.name:
            raise SourceError("an object has an empty key", file=next(iter(source.shown.values())))
        other = folded.setdefault(key.name.casefold(), key.name)
        if other != key.name:
            raise SourceError(
                f"keys {other!r} and {key.name!r} differ only in case", file=next(iter(source.shown.values()))
            )
    return seen


def json_error(error: Exception, shown: dict[str, str]) -> LDPError | None:
    """DuckDB's message about JSON as one clear line with file and line, or None."""
    message = str(error)
    only = next(iter(shown.values())) if len(shown) == 1 else None
    if match := re.search(r"ldp-no-object:(\d+):(\w+)", message):
        kind = {"ARRAY": "an array", "VARCHAR": "a string", "NULL": "null", "BOOLEAN": "a boolean"}
        return SourceError(f"record {match[1]} is {kind.get(match[2], 'a number')}, not an object", file=only)
    if match := re.search(r"ldp-twice:(\d+)", message):
        return SourceError(f"record {match[1]} has a key twice", file=only)
    if match := _MALFORMED.search(message):
        file, at = shown.get(match[1], match[1]), int(match[3]) - 1  # DuckDB counts one too many
        if match[2] == "line":
            return SourceError(f"is not valid JSON: {match[4].strip()}", file=file, line=at)
        return SourceError(f"record {at} is not valid JSON: {match[4].strip()}", file=file)
    if "maximum_object_size" in message:
        return SourceError(f"an object is larger than {_MAX_OBJECT // 2**20} MB", file=only)
    return None
