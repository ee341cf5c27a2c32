"""Where a table can live, and what a test needs to look behind the command's back there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldp_core import fs
from ldp_core.catalogs import load_table
from ldp_core.spi import Spec

COLUMNS = ("ride_id", "pickup_ts", "city", "fare")
CITIES = ("BKK", "NYC", "PAR")


def rides(ids: Sequence[int], fare: str = "5.50") -> list[dict[str, Any]]:
    """Rides of three days and three cities."""
    return [
        {"ride_id": i, "pickup_ts": f"2026-08-{i % 3 + 1:02} 10:00:00", "city": CITIES[i % 3], "fare": fare}
        for i in ids
    ]


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a CSV file."""
    lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Place:
    """A catalog, and a store for sources and exports.

    Attributes:
        root: The project's folder, on this machine.
        catalog: The ``catalog`` of a config.
        store: A folder or a URI below which sources and exports stand.
        environment: Variables that the commands need.
        keeps_files: Whether the warehouse takes files that are no table's.
    """

    root: Path
    catalog: Mapping[str, Any]
    store: str
    environment: Mapping[str, str] = field(default_factory=dict)
    keeps_files: bool = True

    def put(self, name: str, content: str | bytes) -> str:
        """Write a file into the store; returns its path or URI."""
        uri = f"{self.store}/{name}"
        data = content.encode() if isinstance(content, str) else content
        filesystem, path = fs.arrow_fs(uri)
        if fs.is_local(uri):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        with filesystem.open_output_stream(path) as stream:
            stream.write(data)
        return uri

    def get(self, name: str) -> bytes:
        """The content of a file in the store."""
        filesystem, path = fs.arrow_fs(f"{self.store}/{name}")
        with filesystem.open_input_stream(path) as stream:
            return bytes(stream.read())

    def load(self, name: str, path: str, table: str = "rides", *, quality: Any = None, **target: Any) -> str:
        """Write a config that loads a file of the store into a table; returns the config's name."""
        kind = "PARQUET" if path.endswith(".parquet") else "CSV"
        source = {"name": "rides", "format": kind, "path": path}
        aim = {"name": table, "format": "ICEBERG", "catalog": self.catalog, **target}
        return self.config(name, source, aim, **({"quality": quality} if quality else {}))

    def export(self, name: str, file: str, table: str = "rides") -> str:
        """Write a config that copies a table into a file of the store; returns the config's name."""
        kind = "PARQUET" if file.endswith(".parquet") else "CSV"
        source = {"name": table, "format": "ICEBERG", "catalog": self.catalog}
        return self.config(name, source, {"name": name, "format": kind, "path": f"{self.store}/{file}"})

    def config(self, name: str, source: Mapping[str, Any], target: Mapping[str, Any], **more: Any) -> str:
        """Write a config; returns its name."""
        metadata = {"source": source, "target": target, **more}
        (self.root / f"{name}.json").write_text(json.dumps({"identifier": name, "metadata": metadata}))
        return f"{name}.json"

    def ldp(self, *args: str) -> Any:
        """Run a command in this process and return what it printed, as JSON."""
        code, out = self.ended(*args, "--json")
        assert code == 0, out
        return json.loads(out)

    def ended(self, *args: str) -> tuple[int, str]:
        """Run a command in this process; its exit code and its output."""
        import contextlib
        import io

        from ldp_cli.main import main

        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = main(list(args))
        return code, out.getvalue()

    def process(self, *args: str) -> str:
        """Run the command as a process of its own; what it printed."""
        done = subprocess.run(
            [str(Path(sys.executable).with_name("ldp")), *args],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
        return done.stdout

    def query(self, config: str, sql: str, *options: str) -> list[list[Any]]:
        """The rows of a query."""
        return [list(row.values()) for row in self.ldp("query", config, sql, *options)]

    def table(self, name: str = "rides") -> Any:
        """A table by pyiceberg."""
        return load_table(Spec(self.catalog, self.root), name)

    def rows(self, name: str = "rides") -> list[dict[str, Any]]:
        """A table's rows by pyiceberg, in the order of their ids."""
        found: list[dict[str, Any]] = self.table(name).scan().to_arrow().sort_by("ride_id").to_pylist()
        return found

    def orphans(self, name: str = "rides") -> list[str]:
        """Files below the table's location that nothing refers to; the lock and the pins stay aside."""
        table = self.table(name)
        known = {table.metadata_location, *(item.metadata_file for item in table.metadata.metadata_log)}
        for snapshot in table.metadata.snapshots:
            known.add(snapshot.manifest_list)
            for manifest in snapshot.manifests(table.io):
                known.add(manifest.manifest_path)
                entries = manifest.fetch_manifest_entry(table.io, discard_deleted=False)
                known |= {entry.data_file.file_path for entry in entries}
        names = {_key(uri) for uri in known}
        return [key for key in self.keys(table.location()) if key not in names and "write.lock" not in key]

    def keys(self, uri: str) -> list[str]:
        """Everything below a folder or prefix."""
        import pyarrow.fs as pafs

        filesystem, path = fs.arrow_fs(uri, self.table_properties())
        found = filesystem.get_file_info(pafs.FileSelector(path, recursive=True, allow_not_found=True))
        return [_key(info.path) for info in found if info.is_file]

    def table_properties(self) -> dict[str, str]:
        """How the warehouse is reached."""
        return dict(self.catalog.get("properties") or {})


def _key(uri: str) -> str:
    """A location as container and key, so that the spellings of one file are equal."""
    scheme, found, rest = uri.rpartition("://")
    authority, _, key = rest.partition("/")
    return f"{authority.split('@')[0]}/{key}" if found and scheme != "file" else rest.lstrip("/")
