"""Files and object stores: one place that knows how a path or a URI is listed, sized and opened.

Local files go the fastest way. ``s3://``, ``gs://`` and ``abfss://`` are opened with the catalog's properties
in pyiceberg's names (``s3.endpoint``, ``gcs.*``, ``adls.*``); what they leave out comes from the environment.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ldp_core.errors import ConfigError, EngineNotFound

if TYPE_CHECKING:
    import pyarrow.fs as pafs
    from duckdb import DuckDBPyConnection

EXTRAS = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gcs",
    "gcs": "gcs",
    "abfs": "azure",
    "abfss": "azure",
}
"""Object-store schemes and the extra of ldp-core that brings their driver."""

ENVIRONMENT = {
    "s3.endpoint": ("LDP_S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    "s3.region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "s3.access-key-id": ("AWS_ACCESS_KEY_ID",),
    "s3.secret-access-key": ("AWS_SECRET_ACCESS_KEY",),
    "s3.session-token": ("AWS_SESSION_TOKEN",),
    "gcs.service.host": ("LDP_GCS_ENDPOINT", "STORAGE_EMULATOR_HOST"),
    "gcs.oauth2.token": ("LDP_GCS_TOKEN",),
    "adls.connection-string": ("AZURE_STORAGE_CONNECTION_STRING",),
    "adls.account-name": ("AZURE_STORAGE_ACCOUNT_NAME",),
    "adls.account-key": ("AZURE_STORAGE_ACCOUNT_KEY",),
}
"""Properties that variables of the environment stand in for, first match wins."""

_FAR = "4102444800000"  # 2100-01-01 in milliseconds
_WILD = frozenset("*?[")


def scheme_of(uri: str) -> str:
    """The scheme of a URI in lower case; ``file`` for a plain path."""
    return uri.split("://", 1)[0].lower() if "://" in uri else "file"


def host_of(uri: str) -> str | None:
    """The host of ``abfss://container@host/path``, which names the account; None for other URIs."""
    return urlsplit(uri).hostname if "@" in urlsplit(uri).netloc else None


def is_local(uri: str) -> bool:
    """Whether a path or URI is on this machine: a plain path, ``file:///x`` or ``file:/x``."""
    return scheme_of(uri) == "file"


def local_path(uri: str) -> Path:
    """The path behind a plain path or a ``file:`` URI.

    Nothing is decoded: to pyiceberg and to DuckDB the ``%20`` of a URI is part of a name, too.

    Raises:
        ConfigError: It is the URI of an object store.
    """
    if not is_local(uri):
        raise ConfigError(f"{uri} is not a local path")
    if uri.lower().startswith("file:"):
        path = uri[len("file:") :].removeprefix("//")
        return Path(path.removeprefix("localhost") if path.startswith("localhost/") else path)
    return Path(uri)


def with_environment(properties: Mapping[str, str] | None = None) -> dict[str, str]:
    """Object-store properties, filled in from the environment where they say nothing.

    An access key is taken from the environment only as a whole: never one half from each.
    """
    merged = {key: str(value) for key, value in (properties or {}).items() if value is not None}
    own_keys = any(key in merged for key in ("s3.access-key-id", "client.access-key-id"))
    for name, variables in ENVIRONMENT.items():
        if name in merged or (own_keys and name.startswith(("s3.access", "s3.secret", "s3.session"))):
            continue
        value = next((os.environ[variable] for variable in variables if os.environ.get(variable)), None)
        if value is not None:
            merged[name] = value
    if "gcs.oauth2.token" in merged:
        # pyarrow takes no token without its end; it is only asked when one can be renewed.
        merged.setdefault("gcs.oauth2.token-expires-at", _FAR)
    return merged


def arrow_fs(uri: str, properties: Mapping[str, str] | None = None) -> tuple[pafs.FileSystem, str]:
    """A pyarrow filesystem and the path inside it.

    Raises:
        ConfigError: No filesystem is known for the scheme.
    """
    import pyarrow.fs as pafs

    if is_local(uri):
        return pafs.LocalFileSystem(), str(local_path(uri))
    _known(uri)
    from pyiceberg.io.pyarrow import PyArrowFileIO

    merged = with_environment(properties)
    scheme, netloc, path = PyArrowFileIO.parse_location(uri, merged)
    if EXTRAS[scheme_of(uri)] == "azure":
        # pyarrow's own takes neither a connection string nor the account from the URI.
        host = netloc.partition("@")[2]
        azure = fsspec_fs(scheme, properties, host=host or None)
        azure.invalidate_cache()  # others write there, too
        return pafs.PyFileSystem(pafs.FSSpecHandler(azure)), netloc.partition("@")[0] + path.removeprefix(
            netloc
        )
    return PyArrowFileIO(merged).fs_by_scheme(scheme, netloc), path


def fsspec_fs(scheme: str, properties: Mapping[str, str] | None = None, *, host: str | None = None) -> Any:
    """An fsspec filesystem for a scheme such as ``s3``.

    Args:
        scheme: Of the URIs it will open.
        properties: Of the store.
        host: The host of an ``abfss://`` URI, which names the account where no property does.

    Raises:
        ConfigError: No filesystem is known for the scheme.
        EngineNotFound: Its driver is not installed; the hint names the extra.
    """
    if scheme == "file":
        from fsspec.implementations.local import LocalFileSystem

        return LocalFileSystem()
    _known(f"{scheme}://")
    from pyiceberg.io.fsspec import FsspecFileIO

    try:
        return FsspecFileIO(with_environment(properties)).get_fs(scheme, host)
    except ImportError as error:
        raise EngineNotFound(
            f"{scheme}:// needs {error.name or 'a driver'}, which is not installed",
            hint=f'pip install "ldp-core[{EXTRAS[scheme]}]"',
        ) from error


def modified(filesystem: pafs.FileSystem, info: pafs.FileInfo) -> float | None:
    """When a file was last written: seconds since the epoch by the store's clock; None where it is unknown.

    Args:
        filesystem: From ``arrow_fs``.
        info: What it says of the file.
    """
    if info.mtime_ns is not None:
        return float(info.mtime_ns / 1e9)
    handler = getattr(filesystem, "handler", None)
    if handler is None:
        return None
    try:
        return float(handler.fs.modified(info.path).timestamp())
    except (NotImplementedError, KeyError):
        return None


def register(con: DuckDBPyConnection, scheme: str, properties: Mapping[str, str] | None = None) -> None:
    """Let a DuckDB connection read and write URIs of a scheme; a second call for the scheme does nothing."""
    if scheme == "file":
        return
    filesystem = fsspec_fs(scheme, properties)
    protocol = filesystem.protocol
    names = {protocol} if isinstance(protocol, str) else set(protocol)
    if not names & set(con.list_filesystems()):
        con.register_filesystem(filesystem)


def expand(path: str, properties: Mapping[str, str] | None = None) -> list[str]:
    """The files that a path, a glob or a folder stands for, in the order of their names.

    A folder means the files directly in it. Hidden ones (a name that starts with ``.`` or ``_``, such as
    ``_SUCCESS``) are left out of folders and globs, unless the glob asks for them by its own first character.
    Nothing there gives an empty list.
    """
    if is_local(path):
        return _expand_local(str(local_path(path)))
    return _expand_remote(path, properties)


def size(path: str, properties: Mapping[str, str] | None = None) -> int:
    """The size of a file in bytes.

    Raises:
        FileNotFoundError: It is not there.
    """
    if is_local(path):
        return local_path(path).stat().st_size
    filesystem, inner = arrow_fs(path, properties)
    info = filesystem.get_file_info(inner)
    if not info.is_file:
        raise FileNotFoundError(path)
    return int(info.size)


def _known(uri: str) -> None:
    scheme = scheme_of(uri)
    if scheme not in EXTRAS:
        known = ", ".join(f"{name}://" for name in EXTRAS)
        raise ConfigError(f"{uri}: no file system for {scheme}://", hint=f"use a path or one of {known}")


def _visible(name: str, pattern: str = "") -> bool:
    return not name.startswith((".", "_")) or name[:1] == pattern[:1]


def _expand_local(path: str) -> list[str]:
    place = Path(path)
    if place.is_file():
        return [path]
    if place.is_dir():
        found = [str(child) for child in place.iterdir() if child.is_file() and _visible(child.name)]
    elif _WILD & set(path):
        pattern = place.name
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
        found = [name for name in matches if Path(name).is_file() and _visible(Path(name).name, pattern)]
    else:
        found = []
    return sorted(found)


def _expand_remote(uri: str, properties: Mapping[str, str] | None) -> list[str]:
    scheme = scheme_of(uri)
    filesystem = fsspec_fs(scheme, properties)
    filesystem.invalidate_cache()
    prefix = f"{scheme}://"
    if filesystem.isfile(uri):
        return [uri]
    pattern = PurePosixPath(uri).name
    if _WILD & set(uri.removeprefix(prefix)):
        entries = [info for info in filesystem.glob(uri, detail=True).values() if info["type"] == "file"]
    elif filesystem.isdir(uri):
        entries = [info for info in filesystem.ls(uri, detail=True) if info["type"] == "file"]
        pattern = ""
    else:
        entries = []
    names = sorted(str(info["name"]) for info in entries if not str(info["name"]).endswith("/"))
    shown = [name for name in names if _visible(PurePosixPath(name).name, pattern)]
    return [_with_authority(uri, name) for name in shown]


def _with_authority(uri: str, name: str) -> str:
    """A listed ``container/key`` as a URI like the one it was listed by (abfss keeps its account)."""
    scheme, _, rest = uri.partition("://")
    authority = rest.split("/", 1)[0]
    container, _, key = name.partition("/")
    return f"{scheme}://{authority if '@' in authority else container}/{key}"
