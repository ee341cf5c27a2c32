"""Which data files are worth rewriting, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ldp_maintenance.policy import TARGET_FILE_SIZE, Rewrite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyiceberg.manifest import DataFile, ManifestEntry

    from ldp_maintenance.inventory import Inventory

Reason = Literal["small", "large", "deletes", "unsorted", "spec"]
TARGET_PROPERTY = "write.target-file-size-bytes"


@dataclass(frozen=True)
class Item:
    """A live data file, as far as planning looks at it.

    Attributes:
        index: Its place in the inventory.
        path: As the manifest has it.
        size: Bytes.
        rows: Records in it, deleted ones included.
        spec_id: Its partition spec.
        partition: Its partition values.
        sequence: Its data sequence number.
        deleted: About how many of its rows are deleted, as far as delete files tell by their counts.
        delete_files: How many delete files apply to it.
        ordered: Whether its rows are in the order that is wanted; True where none is.
        parquet: Whether it is Parquet, and so are the deletes of its rows by position.
    """

    index: int
    path: str
    size: int
    rows: int
    spec_id: int
    partition: tuple[Any, ...] = ()
    sequence: int = 0
    deleted: float = 0.0
    delete_files: int = 0
    ordered: bool = True
    parquet: bool = True

    @property
    def live_bytes(self) -> float:
        """About how many bytes its live rows take."""
        return self.size * (1 - min(self.deleted, self.rows) / self.rows) if self.rows else 0.0


def target_size(policy: Rewrite, properties: Mapping[str, str]) -> int:
    """Bytes on disk that a data file should have: the policy's, the table's, or the default."""
    if policy.target_file_size_bytes is not None:
        return policy.target_file_size_bytes
    try:
        stated = int(properties.get(TARGET_PROPERTY, TARGET_FILE_SIZE))
    except ValueError:
        return TARGET_FILE_SIZE
    return stated if stated > 0 else TARGET_FILE_SIZE


def concerns(delete: ManifestEntry, data: ManifestEntry) -> bool:
    """Whether a delete file that is in the scope of a data file can hold deletes of it.

    Position deletes name a file that was there when they were made. A rewritten file keeps an old data
    sequence number, so that it falls into the scope of deletes that are older than the file itself.
    """
    from pyiceberg.manifest import DataFileContent

    if delete.data_file.content == DataFileContent.EQUALITY_DELETES:
        return True
    made = data.file_sequence_number
    return made is None or (delete.sequence_number or 0) >= made


def items(inventory: Inventory, ordered: Callable[[ManifestEntry], bool]) -> list[Item]:
    """The data files of an inventory.

    Args:
        inventory: What the snapshot holds.
        ordered: Whether a file is in the order that is wanted.
    """
    from pyiceberg.manifest import DataFileContent

    applied = inventory.applied
    scope: dict[int, int] = {}
    numbers: list[list[int]] = []
    for entry, file in zip(inventory.data, inventory.files, strict=True):
        own = [number for number in file.deletes if concerns(applied[number], entry)]
        numbers.append(own)
        for number in own:
            scope[number] = scope.get(number, 0) + file.rows
    found = []
    for index, (entry, file, own) in enumerate(zip(inventory.data, inventory.files, numbers, strict=True)):
        counted = [n for n in own if applied[n].data_file.content == DataFileContent.POSITION_DELETES]
        share = sum(applied[n].data_file.record_count * file.rows / max(scope[n], 1) for n in counted)
        partition = entry.data_file.partition
        found.append(
            Item(
                index=index,
                path=file.path,
                size=file.size,
                rows=file.rows,
                spec_id=file.spec_id,
                partition=tuple(partition[place] for place in range(len(partition))) if partition else (),
                sequence=file.sequence,
                deleted=min(share, file.rows),
                delete_files=len(own),
                ordered=ordered(entry),
                parquet=all(
                    _readable(file) for file in (entry.data_file, *(applied[n].data_file for n in own))
                ),
            )
        )
    return found


def _readable(file: DataFile) -> bool:
    from pyiceberg.manifest import DataFileContent, FileFormat

    if file.content == DataFileContent.EQUALITY_DELETES:
        return file.file_format != FileFormat.AVRO
    return file.file_format in (FileFormat.PARQUET, FileFormat.PUFFIN)


def reasons(item: Item, policy: Rewrite, target: int) -> frozenset[Reason]:
    """Why a file is worth rewriting; empty where it is not."""
    found: set[Reason] = set()
    if item.size < policy.min_file_size_ratio * target:
        found.add("small")
    if item.size > policy.max_file_size_ratio * target and item.rows > 1:
        found.add("large")
    if item.rows and item.deleted / item.rows > policy.delete_ratio:
        found.add("deletes")
    if item.delete_files > policy.delete_file_threshold:
        found.add("deletes")
    if not item.ordered:
        found.add("unsorted")
    if policy.output_spec is not None and policy.output_spec != item.spec_id:
        found.add("spec")
    return frozenset(found)
