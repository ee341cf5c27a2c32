"""The few file operations that staging and sweeping need, on local folders and object stores alike."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldp_core.commit import _process
from ldp_core.fs import arrow_fs, fsspec_fs, host_of, is_local, local_path, modified, scheme_of


@dataclass(frozen=True)
class Listed:
    """A file found below a folder.

    Attributes:
        uri: In the spelling of the folder that was listed.
        modified: Seconds since the epoch by the store's clock.
    """

    uri: str
    modified: float


@dataclass(frozen=True)
class Store:
    """Files by URI.

    Attributes:
        properties: Of the catalog's FileIO, for object stores.
    """

    properties: Mapping[str, str] = field(default_factory=dict)

    def write(self, uri: str, content: bytes) -> None:
        """Write a small file so that no reader sees half of it; folders are made."""
        if is_local(uri):
            _write_local(local_path(uri), content)
            return
        filesystem, path = self._remote(uri)
        with filesystem.open_output_stream(path) as stream:
            stream.write(content)

    def read(self, uri: str) -> bytes | None:
        """The content; None where there is no file."""
        if is_local(uri):
            try:
                return local_path(uri).read_bytes()
            except FileNotFoundError:
                return None
        filesystem, path = self._remote(uri)
        if not filesystem.get_file_info(path).is_file:
            return None
        with filesystem.open_input_stream(path) as stream:
            return bytes(stream.read())

    def modified(self, uri: str) -> float | None:
        """When it was last written, by the store's clock, 0 where that says nothing; None without a file."""
        if is_local(uri):
            try:
                return local_path(uri).stat().st_mtime
            except FileNotFoundError:
                return None
        filesystem, path = self._remote(uri)
        info = filesystem.get_file_info(path)
        return modified(filesystem, info) or 0.0 if info.is_file else None

    def touch(self, uri: str, content: bytes) -> bool:
        """Renew a file's time; False, and nothing written, where it is gone."""
        if is_local(uri):
            try:
                os.utime(local_path(uri))
            except FileNotFoundError:
                return False
            return True
        if self.modified(uri) is None:
            return False
        self.write(uri, content)
        return True

    def list(self, folder: str) -> list[Listed]:
        """Every file below a folder, in any depth; none where there is no folder."""
        base = folder.rstrip("/")
        if is_local(folder):
            return list(_list_local(local_path(folder), base))
        import pyarrow.fs as pafs

        filesystem, path = self._remote(base)
        selector = pafs.FileSelector(path, allow_not_found=True, recursive=True)
        root = path.rstrip("/") + "/"
        return [
            Listed(f"{base}/{info.path.removeprefix(root)}", modified(filesystem, info) or 0.0)
            for info in filesystem.get_file_info(selector)
            if info.is_file
        ]

    def delete(self, uri: str) -> bool:
        """Delete a file; False where it is gone already."""
        if is_local(uri):
            try:
                local_path(uri).unlink()
            except FileNotFoundError:
                return False
            return True
        try:
            # pyarrow's delete makes an object for the folder, which a store may forbid and nobody removes.
            fsspec_fs(scheme_of(uri), self.properties, host=host_of(uri)).rm_file(uri)
        except FileNotFoundError:
            return False
        return True

    def claim(self, uri: str, renamed: str) -> bool:
        """Take a file out of its owner's reach by renaming it; False where it is gone.

        Atomic on local folders; in an object store a copy and a delete.
        """
        if is_local(uri):
            try:
                local_path(uri).rename(local_path(renamed))
            except FileNotFoundError:
                return False
            return True
        content = self.read(uri)
        if content is None:
            return False
        self.write(renamed, content)
        return self.delete(uri)

    def make_folder(self, uri: str) -> None:
        """Make a local folder; object stores have none."""
        if is_local(uri):
            local_path(uri).mkdir(parents=True, exist_ok=True)

    def prune(self, folder: str, *, up_to: str) -> None:
        """Remove empty folders: those below ``folder``, itself, and its parents up to and with ``up_to``.

        Object stores have no folders, but some keep a marker object: left alone.
        """
        if not is_local(folder):
            return
        top = local_path(up_to)
        place = local_path(folder)
        _prune_below(place)
        while place.is_relative_to(top):
            with contextlib.suppress(FileNotFoundError):
                try:
                    place.rmdir()
                except OSError as error:
                    if isinstance(error, FileNotFoundError):
                        raise
                    return
            place = place.parent

    def _remote(self, uri: str) -> tuple[Any, str]:
        return arrow_fs(uri, self.properties)


def _write_local(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{_process.half_name()}{uuid.uuid4().hex}-{path.name}")
    for attempt in range(5):
        # A sweep beside us may remove the empty folder between making it and writing into it.
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        except FileNotFoundError:
            if attempt == 4:
                raise
            continue
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            error.filename = error.filename or str(path)  # a full disk names no file
            raise
        return


def _list_local(folder: Path, base: str) -> list[Listed]:
    found = []
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            try:
                modified = path.stat().st_mtime
            except FileNotFoundError:
                continue
            found.append(Listed(f"{base}/{path.relative_to(folder).as_posix()}", modified))
    return found


def _prune_below(folder: Path) -> None:
    for root, _, _ in os.walk(folder, topdown=False):
        if Path(root) != folder:
            with contextlib.suppress(OSError):
                Path(root).rmdir()
