"""Every file below the folders of a table, as storage tells."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core.fs import arrow_fs, is_local, local_path, modified

from ldp_maintenance.errors import Refused

if TYPE_CHECKING:
    from ldp_core.commit.change import Base

_SIGNERS = ("s3.signer", "s3.signer.uri", "s3.signer.endpoint")
_SIGNED = "s3.remote-signing-enabled"


@dataclass(frozen=True)
class Listed:
    """A file that storage has.

    Attributes:
        uri: In the spelling of the root that was listed.
        relative: Its path below that root.
        modified: Seconds since 1970 by the clock of the storage.
        bytes: Its size.
    """

    uri: str
    relative: str
    modified: float
    bytes: int


def refuse_unlistable(base: Base) -> None:
    """Make sure that the storage of a table can be listed at all.

    Raises:
        Refused: The catalog signs each request for a file, and signs no listing.
    """
    given: Mapping[str, str] = {**base.config, **base.io.properties}
    signs = any(given.get(name) for name in _SIGNERS) or str(given.get(_SIGNED, "")).lower() == "true"
    if signs:
        raise Refused(
            f"remove-orphans on {'.'.join(base.identifier)}: its storage cannot be listed: the catalog "
            "signs each request (remote signing)",
            hint="run it where the catalog vends credentials, or with credentials of your own",
        )


def list_files(root: str, properties: Mapping[str, str]) -> list[Listed]:
    """Every file below a folder, in any depth; none where there is no folder.

    Raises:
        Refused: The storage does not list it.
    """
    try:
        return list(_local(root) if is_local(root) else _remote(root, properties))
    except OSError as error:
        raise Refused(
            f"{root} cannot be listed: {type(error).__name__}: {' '.join(str(error).split())[:200]}",
            hint="give the right to list the table's folders, or leave orphans to whoever has it",
        ) from error


def _local(root: str) -> Iterator[Listed]:
    base = str(local_path(root)).rstrip("/")
    skip = len(base) + 1
    folders = [base or "/"]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            continue  # No folder, or one that a writer removed meanwhile.
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                relative = entry.path[skip:]
                yield Listed(f"{root.rstrip('/')}/{relative}", relative, found.st_mtime, found.st_size)


def _remote(root: str, properties: Mapping[str, str]) -> Iterator[Listed]:
    import pyarrow.fs as pafs

    filesystem, path = arrow_fs(root, properties)
    prefix = path.rstrip("/") + "/"
    for info in filesystem.get_file_info(pafs.FileSelector(path, allow_not_found=True, recursive=True)):
        if info.is_file:
            relative = info.path.removeprefix(prefix)
            at = modified(filesystem, info)
            # Where storage does not tell the time, the file counts as new.
            yield Listed(
                f"{root.rstrip('/')}/{relative}", relative, float("inf") if at is None else at, info.size or 0
            )
