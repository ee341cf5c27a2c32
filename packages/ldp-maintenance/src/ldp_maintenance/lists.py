"""Which manifests the manifest lists of a table name, without reading again what each repeats of its parent.

The bytes of a list end, or begin, with those of the one before it. They are compared, and where they lie on
bounds of records the paths are taken over: a thousand appends would have half a million records to read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

_REMEMBERED = 4


@dataclass(frozen=True)
class _Read:
    """A list that was read record by record.

    Attributes:
        schema: Of its records.
        content: They.
        starts: Where each begins, by its position; where they end comes last.
        paths: The manifest that each names.
    """

    schema: str
    content: bytes
    starts: dict[int, int]
    paths: tuple[str, ...]

    def part(self, schema: str, content: bytes) -> tuple[str, ...] | None:
        """The paths of a list whose records are the end or beginning of these; None where they are not."""
        if schema != self.schema or len(content) > len(self.content):
            return None
        first = self.starts.get(len(self.content) - len(content))
        if first is not None and self.content.endswith(content):
            return self.paths[first:]
        last = self.starts.get(len(content))
        return self.paths[:last] if last is not None and self.content.startswith(content) else None


@dataclass
class ManifestLists:
    """Reads manifest lists; neighbours one after the other are cheap.

    Attributes:
        io: Opens the table's files.
    """

    io: FileIO
    _readers: dict[str, Any] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _read: list[_Read] = field(default_factory=list)

    def paths(self, location: str) -> tuple[str, ...]:
        """The manifests that a list names.

        Raises:
            OSError: It is not there.
            ValueError: It is no manifest list.
        """
        from ldp_maintenance._pyiceberg import records_of

        with self.io.new_input(location).open() as stream:
            schema, content = records_of(stream.read())
        for known in self._read:
            found = known.part(schema, content)
            if found is not None:
                return found
        made = self._whole(schema, content)
        self._read = [made, *self._read[: _REMEMBERED - 1]]
        return made.paths

    def _whole(self, schema: str, content: bytes) -> _Read:
        from ldp_maintenance._pyiceberg import decoder_of, path_reader

        reader = self._readers.get(schema)
        if reader is None:
            reader = self._readers[schema] = path_reader(schema)
        decoder = decoder_of(content)
        starts: dict[int, int] = {}
        paths: list[str] = []
        while (at := decoder.tell()) < len(content):
            starts[at] = len(paths)
            path = reader.read(decoder)[0]
            # One text for all lists that name a manifest: thousands of lists share thousands of manifests.
            paths.append(self._texts.setdefault(path, path))
        starts[len(content)] = len(paths)
        return _Read(schema, content, starts, tuple(paths))
