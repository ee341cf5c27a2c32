"""Many manifests: read one after the other where files are near, several at a time where they are far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from ldp_core._pyiceberg import manifest_entries
from ldp_core.fs import is_local

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestEntry, ManifestFile

_THREADS = 8

T = TypeVar("T")


def all_entries(
    manifests: Sequence[ManifestFile], io: FileIO, *, deleted: bool = False
) -> list[list[ManifestEntry]]:
    """The entries of manifests, for each a list.

    Args:
        manifests: The manifests.
        io: Opens them.
        deleted: Also the entries of files that they record as deleted.

    Raises:
        OSError: A manifest is not there.
        ValueError: It is broken.
    """
    paths = [manifest.manifest_path for manifest in manifests]
    return side_by_side(
        paths, lambda number: manifest_entries(manifests[number], io, deleted=deleted), _THREADS
    )


def side_by_side(paths: Sequence[str], one: Callable[[int], T], threads: int) -> list[T]:
    """Do something with files, by their numbers; several at a time where they are far.

    Python decodes what is read, so threads help only while they wait for a store: on local files eight of
    them take twice the CPU of one.
    """
    numbers = range(len(paths))
    if sum(not is_local(path) for path in paths) < 2:
        return [one(number) for number in numbers]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, numbers))
