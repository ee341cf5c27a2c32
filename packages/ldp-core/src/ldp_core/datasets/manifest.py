"""The record of one pinned dataset, and the folder of such records in a warehouse."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from ldp_core import fs
from ldp_core.errors import ConfigError, QueryError, SourceError, UsageError
from ldp_core.query.open import access_properties
from ldp_core.query.refs import TableRef

FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_FILE = re.compile(r"v(\d{6,})\.json")


@dataclass(frozen=True)
class Manifest:
    """One version of a dataset.

    Attributes:
        name: The dataset.
        version: From 1.
        table: ``namespace.table``.
        snapshot_id: The snapshot that its tag keeps.
        tag: The tag on the table.
        rows: Rows that pass the filter.
        row_filter: A SQL predicate, or None for every row.
        fields: Column names, or None for all.
        created_at: ISO 8601, UTC.
    """

    name: str
    version: int
    table: str
    snapshot_id: int
    tag: str
    rows: int
    row_filter: str | None
    fields: tuple[str, ...] | None
    created_at: str

    @property
    def label(self) -> str:
        """``name@vN``."""
        return f"{self.name}@v{self.version}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON; the snapshot id is text."""
        return {
            "format": FORMAT,
            **vars(self),
            "snapshot_id": str(self.snapshot_id),
            "fields": None if self.fields is None else list(self.fields),
        }

    @classmethod
    def from_dict(cls, body: Mapping[str, Any], place: str) -> Manifest:
        """Read the JSON form.

        Raises:
            SourceError: It is no manifest of this format.
        """
        try:
            if body["format"] != FORMAT:
                raise ValueError(f"format {body['format']!r}, expected {FORMAT}")
            values = {key: value for key, value in body.items() if key in cls.__dataclass_fields__}
            fields = values["fields"]
            values["snapshot_id"] = int(values["snapshot_id"])
            values["fields"] = None if fields is None else tuple(fields)
            return cls(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise SourceError(f"{place} is no dataset manifest: {error}") from error


def check_name(name: str) -> str:
    """The name itself.

    Raises:
        UsageError: It cannot name a dataset.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            "dataset name must be 1-128 letters, digits, '_', '-' or '.', starting with a letter or digit, "
            f"got {name!r}"
        )
    return name


def parse_label(label: str) -> tuple[str, int | None]:
    """``train@v3`` as name and version; ``train`` alone has no version: the newest is meant.

    Raises:
        UsageError: It is neither.
    """
    name, at, version = label.partition("@")
    if not at:
        return check_name(name), None
    if not (match := re.fullmatch(r"v?([1-9]\d*)", version)):
        raise UsageError(f"a dataset version is written name@vN, such as {name}@v1, not {label!r}")
    return check_name(name), int(match[1])


@dataclass(frozen=True)
class Store:
    """The manifests of a warehouse: ``<warehouse>/.ldp/datasets/<name>/v000001.json``.

    Attributes:
        root: ``<warehouse>/.ldp/datasets``, a path or a URI.
        properties: How an object store is reached.
    """

    root: str
    properties: Mapping[str, str]

    def path(self, name: str, version: int) -> str:
        """Where a manifest stands."""
        return f"{self.root}/{name}/v{version:06d}.json"

    def versions(self, name: str) -> list[int]:
        """The versions of a dataset, ascending."""
        files = fs.expand(f"{self.root}/{name}", self.properties)
        matches = (_FILE.fullmatch(path.rsplit("/", 1)[-1]) for path in files)
        return sorted(int(match[1]) for match in matches if match)

    def names(self) -> list[str]:
        """The datasets, sorted."""
        if fs.is_local(self.root):
            folder = fs.local_path(self.root)
            found = [child.name for child in folder.iterdir() if child.is_dir()] if folder.is_dir() else []
        else:
            import pyarrow.fs as pafs

            system, inner = fs.arrow_fs(self.root, self.properties)
            infos = system.get_file_info(pafs.FileSelector(inner, allow_not_found=True))
            found = [info.base_name for info in infos if info.type == pafs.FileType.Directory]
        return sorted(name for name in found if _NAME.fullmatch(name))

    def read(self, name: str, version: int) -> Manifest:
        """One manifest.

        Raises:
            SourceError: It is broken.
        """
        place = self.path(name, version)
        if fs.is_local(place):
            raw = fs.local_path(place).read_bytes()
        else:
            system, inner = fs.arrow_fs(place, self.properties)
            with system.open_input_stream(inner) as stream:
                raw = stream.read()
        try:
            body = json.loads(raw)
        except ValueError as error:
            raise SourceError(f"{place} is no dataset manifest: {error}") from error
        return Manifest.from_dict(body, place)

    def find(self, name: str, version: int | None) -> Manifest:
        """A version, or the newest.

        Raises:
            QueryError: There is none; the message says which there are.
        """
        versions = self.versions(name)
        if not versions:
            known = ", ".join(self.names()) or "none"
            raise QueryError(f"there is no dataset {name!r}; datasets: {known}")
        if version is not None and version not in versions:
            raise QueryError(
                f"dataset {name!r} has no version {version}; versions: {', '.join(map(str, versions))}"
            )
        return self.read(name, versions[-1] if version is None else version)

    def write(self, manifest: Manifest) -> str:
        """Write a manifest in one step; never over another.

        Returns:
            Where it stands.

        Raises:
            FileExistsError: The version is taken.
        """
        place = self.path(manifest.name, manifest.version)
        raw = (json.dumps(manifest.to_dict(), indent=2, ensure_ascii=False) + "\n").encode()
        if fs.is_local(place):
            _write_local(fs.local_path(place), raw)
            return place
        system, inner = fs.arrow_fs(place, self.properties)
        if system.get_file_info(inner).is_file:
            raise FileExistsError(place)
        with system.open_output_stream(inner) as stream:
            stream.write(raw)
        return place


def _write_local(path: Path, raw: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid4().hex[:8]}.partial")
    try:
        partial.write_bytes(raw)
        os.link(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def store_of(ref: TableRef) -> Store:
    """The manifests beside a table's warehouse.

    Raises:
        ConfigError: The catalog's warehouse is a name, not a place where files can be written.
    """
    catalog = ref.catalog
    place = catalog.get("warehouse_path") or catalog.get("warehouse")
    known = isinstance(place, str) and (fs.is_local(place) or fs.scheme_of(place) in fs.EXTRAS)
    is_name = catalog.get("type") in ("rest", "glue") and known and "/" not in str(place)
    if not known or is_name:
        raise ConfigError(
            "datasets need a warehouse with a path or a URI to keep their manifests in",
            file=ref.origin,
            key="metadata.target.catalog.warehouse",
        )
    root = catalog.path(str(place)).rstrip("/")
    return Store(f"{root}/.ldp/datasets", access_properties(catalog.get("properties")))
