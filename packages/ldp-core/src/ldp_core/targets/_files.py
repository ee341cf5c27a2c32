"""What all file targets share: a file is replaced whole, in one step, or stays as it was."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core._duck import text
from ldp_core.errors import ConfigError, NoData, Problem
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Keyed, Resolved, RunContext, Spec, Staged, TargetInfo, TargetSession, WriteResult
from ldp_core.spi.gates import Standing

if TYPE_CHECKING:
    import pyarrow as pa

NAME = Key("name", Text(), "What the target is called.")
PATH = Key("path", Text(), "The file, or an s3://, gs:// or abfss:// URI.", required=True)
MODE = Key(
    "write_mode",
    Text(choices=("overwrite",), ignore_case=True),
    "A file is replaced whole.",
    default="overwrite",
)
NO_QUARANTINE = "rows cannot be put into quarantine beside the file {}: quarantine is a table"
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True)
class FileTarget:
    """A kind of file.

    Attributes:
        shape: What a config may say.
        copy_options: Options of DuckDB's COPY for a spec and a path.
        spills: Whether gates judge a Parquet copy, because the format itself does not keep types.
    """

    shape: Shape
    copy_options: Callable[[Spec, str], str]
    spills: bool

    def problems(self, spec: Spec) -> list[Problem]:
        """An empty path."""
        path = spec.get("path")
        if isinstance(path, str) and not path.strip():
            return [Problem("the path of a file may not be empty", key="path")]
        return []

    def describe(self, spec: Spec, mode: str | None = None) -> TargetInfo:
        """The path, and whether the file is there; object stores are not asked."""
        path = spec.path(str(spec.get("path")))
        exists = fs.local_path(path).is_file() if fs.is_local(path) else None
        return TargetInfo(name=path, mode=mode or "overwrite", exists=exists)

    def open(self, spec: Spec, ctx: RunContext, mode: str | None = None) -> TargetSession:
        """Begin a load; touches nothing."""
        return FileSession(spec, ctx, mode or "overwrite", self.copy_options, self.spills)


class FileSession:
    """See ``ldp_core.spi.TargetSession``."""

    def __init__(
        self, spec: Spec, ctx: RunContext, mode: str, copy_options: Callable[[Spec, str], str], spills: bool
    ) -> None:
        self.spec = spec
        self.ctx = ctx
        self.mode = mode.lower()
        self.copy_options = copy_options
        self.spills = spills
        self.path = spec.path(str(spec.get("path")))
        self.temporary: list[Path] = []
        self.made: list[Path] = []

    @property
    def wanted(self) -> pa.Schema | None:
        """None: a file has the types of what is written into it."""
        return None

    def tell(
        self,
        *,
        docs: Mapping[str, Any] | None = None,
        allow: Collection[str] = (),
        files: Sequence[str] = (),
        once: bool = False,
    ) -> None:
        """Nothing of it concerns a file."""

    def resolve(self, sql: str, schema: pa.Schema, *, follows_values: bool) -> Resolved:
        """The rows as they are.

        Raises:
            ConfigError: A mode that a file cannot have.
        """
        if self.mode != "overwrite":
            raise ConfigError(
                f"write_mode {self.mode!r} does not work for the file {self.path}: a file is replaced whole",
                hint="use overwrite, or an ICEBERG target",
            )
        return Resolved(sql, schema)

    def stage(self, resolved: Resolved) -> Staged:
        """Write the rows beside the target (Parquet) or into the run's folder.

        Raises:
            ConfigError: The path is a folder.
            duckdb.Error: The rows cannot be read.
        """
        place = self._beside() if not self.spills and fs.is_local(self.path) else None
        staged = place or self.ctx.scratch / f"batch_{uuid.uuid4().hex}.parquet"
        self.temporary.append(staged)
        options = (
            self.copy_options(self.spec, self.path) if not self.spills else "FORMAT parquet, COMPRESSION zstd"
        )
        with self.ctx.progress.step(f"write {self.path}"):
            rows = self._copy(resolved.sql, staged, options)
        sql = f"SELECT * FROM read_parquet({text(str(staged))}, hive_partitioning=false)"
        ordered = (
            f"SELECT *, row_number() OVER () - 1 AS __row "
            f"FROM read_parquet({text(str(staged))}, hive_partitioning=false)"
        )
        return Staged(rows, rows, 1, staged.stat().st_size, sql, ordered, (), staged)

    def standing(self, staged: Staged) -> Standing:
        """Nothing: the file is replaced whole."""
        none = "SELECT * FROM ({}) AS s WHERE false"
        return Standing(none.format(staged.sql), None, none.format(staged.ordered_sql))

    def publish(
        self,
        staged: Staged,
        summary: Mapping[str, str],
        again: Callable[[Callable[[], Standing]], None] | None = None,
    ) -> WriteResult:
        """Put the file in its place in one step.

        Raises:
            NoData: There is no row to write, or the file cannot be written.
        """
        if not staged.rows:
            raise NoData(f"No data to write to {self.path}: the batch has no rows")
        return self.put_in_place(staged)

    def put_in_place(self, staged: Staged) -> WriteResult:
        """Replace the file by the staged rows, also by none of them."""
        ready: Path = staged.state
        if self.spills:
            ready = self._beside() if fs.is_local(self.path) else self.ctx.scratch / f"out_{uuid.uuid4().hex}"
            self.temporary.append(ready)
            self._copy(staged.sql, ready, self.copy_options(self.spec, self.path))
        size = ready.stat().st_size
        if fs.is_local(self.path):
            replace_file(ready, self._target())
        else:
            upload(ready, self.path)
        return WriteResult(
            table_identifier=self.path,
            mode="overwrite",
            rows_written=staged.rows,
            rows_before=None,
            rows_after=staged.rows,
            snapshot_id=None,
            files=1,
            bytes=size,
            losses=staged.losses,
        )

    def without(self, staged: Staged, table: str) -> Staged:
        """Files have no table beside them that would keep the rows.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(NO_QUARANTINE.format(self.path), hint="use an ICEBERG target, or on_failure: fail")

    def begin_batch(self, keyed: Keyed) -> str:
        """As ``without``.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(NO_QUARANTINE.format(self.path), hint="use an ICEBERG target")

    def keep(self, staged: Staged, summary: Mapping[str, str]) -> str | None:
        """Files have no place for rows that nobody may read."""
        return None

    def discard(self) -> None:
        """Delete what was written on the way."""
        for path in self.temporary:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        for folder in self.made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        self.temporary, self.made = [], []

    def _copy(self, sql: str, path: Path, options: str) -> int:
        return int(self.ctx.con.execute(f"COPY ({sql}) TO {text(str(path))} ({options})").fetchall()[0][0])

    def _target(self) -> Path:
        return fs.local_path(self.path).resolve()

    def _beside(self) -> Path:
        target = self._target()
        self.made += [folder for folder in target.parents if not folder.exists()]
        return temporary_beside(target)


def temporary_beside(target: Path) -> Path:
    """A new name in the target's folder, which is made when it is not there.

    Raises:
        ConfigError: The target is a folder.
    """
    if target.is_dir():
        raise ConfigError(f"{target} is a folder; a file target needs the path of a file")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.tmp")


def replace_file(ready: Path, target: Path) -> None:
    """Put a finished file in the target's place; after a crash there is the old file or the new one."""
    if target.exists():
        shutil.copymode(target, ready)
    with ready.open("rb+") as handle:
        os.fsync(handle.fileno())
    ready.replace(target)
    with contextlib.suppress(OSError):  # not every file system lets a folder be synced
        handle_number = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(handle_number)
        finally:
            os.close(handle_number)


def upload(ready: Path, uri: str) -> None:
    """Store a file as an object; readers see the old object until the new one is whole."""
    filesystem, inner = fs.arrow_fs(uri)
    with ready.open("rb") as source, filesystem.open_output_stream(inner) as sink:
        shutil.copyfileobj(source, sink, 8 * 1024 * 1024)


def compression_of(path: str) -> str:
    """The compression that a path's ending asks for, in DuckDB's words."""
    return next((name for ending, name in COMPRESSIONS.items() if path.lower().endswith(ending)), "none")
