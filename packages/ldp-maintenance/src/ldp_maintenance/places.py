"""When two spellings mean one file: a mismatch would take a file that is needed for one that nobody knows.

So the comparison errs on the side of equal: schemes of one store, doubled and trailing slashes, percent codes
and Unicode forms make no difference, and neither do symbolic links to folders on this machine.
"""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ldp_core.fs import is_local, local_path

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasb": "abfs", "wasbs": "abfs"}
_URI = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(/.*|$)", re.DOTALL)
_PATH_PROPERTIES = (
    "write.data.path",
    "write.metadata.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)


def key_of(uri: str) -> str:
    """One text for all spellings of a place."""
    found = _URI.match(uri)
    scheme = found[1].lower() if found else "file"
    if found is None or scheme == "file":
        return f"file://{_path(_local_text(uri)) if uri else ''}"
    scheme = _SAME.get(scheme, scheme)
    host = unquote(found[2] or "").lower()
    if scheme == "abfs" and "@" in host:
        # The same account answers as dfs and as blob.
        container, _, account = host.partition("@")
        host = f"{container}@{account.split('.', 1)[0]}"
    elif scheme == "hdfs":
        host = ""  # A name service and its nodes are one file system.
    return f"{scheme}://{host}{_path(found[3])}"


def _local_text(uri: str) -> str:
    """The path behind a plain path or a ``file:`` URI, as text: ``local_path`` costs ten times as much."""
    if uri[:5].lower() != "file:":
        return uri
    path = uri[5:].removeprefix("//")
    return path.removeprefix("localhost") if path.startswith("localhost/") else path


def _path(text: str) -> str:
    while (decoded := unquote(text)) != text:
        text = decoded
    # normpath keeps two leading slashes apart from one.
    return unicodedata.normalize("NFC", posixpath.normpath("/" + text.lstrip("/"))).rstrip("/")


def inside(key: str, root: str) -> bool:
    """Whether a place is a root or lies in it; both as ``key_of`` spells them."""
    return key == root or key.startswith(f"{root}/")


@dataclass(frozen=True)
class Places:
    """Keys of places, with the symbolic links of this machine's folders followed.

    Attributes:
        folders: Folders that were followed.
    """

    folders: dict[str, str] = field(default_factory=dict)

    def key(self, uri: str) -> str:
        """One text for all spellings of a file or folder."""
        if not uri or not is_local(uri):
            return key_of(uri)
        folder, _, name = _local_text(uri).rstrip("/").rpartition("/")
        real = self.folders.get(folder)
        if real is None:
            real = self.folders[folder] = os.path.realpath(folder or "/")
        return key_of(f"{real}/{name}")

    def folder_key(self, uri: str) -> str:
        """As ``key``, of a folder that may itself be a link."""
        return key_of(os.path.realpath(local_path(uri))) if uri and is_local(uri) else key_of(uri)


def roots(metadata: TableMetadata) -> tuple[str, ...]:
    """Every folder that a table writes into: its location and where its properties send files."""
    return folders(metadata.location, metadata.properties)


def folders(location: str, properties: Mapping[str, str]) -> tuple[str, ...]:
    """As ``roots``, of what a metadata file says; the location comes first."""
    found = [location, *(properties.get(name, "") for name in _PATH_PROPERTIES)]
    return tuple(dict.fromkeys(item.rstrip("/") or item for item in found if item))


def outermost(uris: Iterable[str], places: Places) -> tuple[str, ...]:
    """Folders without those that lie in another one of them."""
    keys: dict[str, str] = {}
    for uri in uris:
        keys.setdefault(places.folder_key(uri), uri)
    return tuple(
        uri for key, uri in keys.items() if not any(other != key and inside(key, other) for other in keys)
    )
