"""What sources of files share: which files a spec names, what is missing, how they are shown and opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core._duck import text
from ldp_core.errors import SourceError, SourceNotFound
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SUFFIXES = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}


def describe_path(spec: Spec) -> str:
    """The path as the config has it."""
    return str(spec.get("path", ""))


def missing_path(spec: Spec, kind: str) -> str | None:
    """Why no file can be read at present, or None. Looks, does not open; object stores are not asked."""
    path = spec.path(str(spec.get("path", "")))
    if not fs.is_local(path) or fs.expand(path):
        return None
    return _absent(path, kind)


def resolve(spec: Spec, kind: str) -> list[str]:
    """The files of a source in the order of their names.

    Args:
        spec: Has ``path``: a file, a glob, a folder, or a URI of an object store.
        kind: The word for messages, such as ``CSV``.

    Raises:
        SourceNotFound: There is none.
    """
    path = spec.path(str(spec.get("path", "")))
    try:
        found = fs.expand(path)
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            found = []
        else:
            raise SourceError(
                f"{kind} source cannot be listed: {error}", file=path, retriable=True
            ) from error
    if not found:
        raise SourceNotFound(_absent(path, kind))
    return found


def _absent(path: str, kind: str) -> str:
    if fs.is_local(path) and fs.local_path(path).is_dir():
        return f"{kind} folder has no files: {path}"
    return f"{kind} file not found: {path}"


def compression_of(path: str, declared: str | None = None) -> str | None:
    """``gzip``, ``zstd`` or None: as declared, else by the end of the name."""
    if declared in (None, "auto"):
        return _SUFFIXES.get(Path(path).suffix.lower())
    return None if declared == "none" else declared


def open_stream(path: str, compression: str | None = None) -> Any:
    """A binary stream of a file's content, decompressed (a pyarrow ``NativeFile``)."""
    filesystem, inner = fs.arrow_fs(path)
    return filesystem.open_input_stream(inner, compression=compression)


def attach_stores(con: DuckDBPyConnection, files: list[str]) -> None:
    """Let the connection read the schemes of these files."""
    for scheme in sorted({fs.scheme_of(file) for file in files}):
        fs.register(con, scheme)


def duck_path(path: str) -> str:
    """A file's name as DuckDB takes it literally: characters of a glob are put in brackets."""
    plain = str(fs.local_path(path)) if fs.is_local(path) else path
    return "".join(f"[{char}]" if char in "*?[" else char for char in plain)


def duck_list(files: list[str]) -> str:
    """A SQL list of file names."""
    return f"[{', '.join(text(duck_path(file)) for file in files)}]"


def shown(path: str, base_dir: Path) -> str:
    """A file for a message: relative to the config's folder where it is inside."""
    if not fs.is_local(path):
        return path
    place = fs.local_path(path)
    try:
        return str(place.relative_to(base_dir))
    except ValueError:
        return str(place)
