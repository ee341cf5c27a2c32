from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from ldp_core import _duck, registry
from ldp_core.spi import Extract, RunContext, Spec


class Silent:
    @contextlib.contextmanager
    def step(
        self, what: str, *, total_bytes: int | None = None, total_rows: int | None = None
    ) -> Iterator[Callable[[int, int], None]]:
        yield lambda rows, size: None


@dataclass
class Loaded:
    types: dict[str, str]
    rows: list[tuple[Any, ...]]
    warnings: list[str]
    extract: Extract


@dataclass
class Lab:
    """Opens sources on files of a folder and reads them as a run does."""

    folder: Path
    scratch: Path
    con: duckdb.DuckDBPyConnection
    strict: bool = False
    warnings: list[str] = field(default_factory=list)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    @property
    def ctx(self) -> RunContext:
        return RunContext(
            con=self.con,
            base_dir=self.folder,
            scratch=self.scratch,
            run_id="r",
            attempt=1,
            progress=Silent(),
            warn=self.warnings.append,
            strict=self.strict,
        )

    def spec(self, **keys: Any) -> Spec:
        return Spec({"name": "x", **keys}, self.folder, "metadata.source", "c.json")

    def open(self, kind: str, wanted: pa.Schema | None = None, **keys: Any) -> Extract:
        extract: Extract = registry.load("ldp.sources", kind).open(self.spec(**keys), self.ctx, wanted)
        return extract

    def load(self, kind: str, wanted: pa.Schema | None = None, **keys: Any) -> Loaded:
        extract = self.open(kind, wanted, **keys)
        for _ in range(8):
            try:
                rows = self.con.sql(extract.sql).fetchall()
                break
            except duckdb.Error as error:
                extract = extract.after(error)
        assert repr(self.con.sql(extract.sql).fetchall()) == repr(rows)
        types = {column.name: str(column.type) for column in extract.schema}
        return Loaded(types, rows, list(self.warnings), extract)

    def csv(self, content: str | bytes, wanted: pa.Schema | None = None, **keys: Any) -> Loaded:
        self.write("t.csv", content)
        return self.load("CSV", wanted, path="t.csv", **keys)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    folder, scratch = tmp_path / "data", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    con = _duck.connect(temp_directory=scratch)
    yield Lab(folder, scratch, con)
    con.close()
