"""Call a function of the user's over record batches; say where it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import LDPError

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Spec


@dataclass
class Call:
    """One call of a function.

    Attributes:
        name: ``module:function``, for messages.
        function: The function.
        spec: The transform's part of the config.
        batch: Number of the batch the function was given last, from 1.
        row: First row of that batch, from 1.
    """

    name: str
    function: Callable[..., Any]
    spec: Spec
    batch: int = field(default=0, init=False)
    row: int = field(default=1, init=False)

    def over_batches(self, reader: pa.RecordBatchReader, scratch: Path) -> tuple[Path, pa.Schema]:
        """Stream batches through the function into a spill.

        The function is given at least one batch, an empty one when there are no rows: it shows its schema.
        """
        from ldp_core.tables.spill import spill
        from ldp_core.transforms._load import on_path

        with on_path(Path(self.spec.base_dir)):
            given = self._output(self._input(reader))
            first = next(given, None)
            if first is None:
                raise self._error("yielded no batch; yield at least an empty one")
            return spill(scratch, first.schema, self._same(first, given)), first.schema

    def over_table(self, reader: pa.RecordBatchReader, scratch: Path) -> tuple[Path, pa.Schema]:
        """Give the function all rows as one table."""
        import pyarrow as pa

        from ldp_core.tables.spill import spill
        from ldp_core.transforms._load import on_path

        table = pa.Table.from_batches(list(self._input(reader)), reader.schema)
        self.batch = 0
        with on_path(Path(self.spec.base_dir)):
            try:
                result = self.function(table)
            except Exception as error:
                raise self._error(f"{type(error).__name__}: {error}") from error
        if not isinstance(result, pa.Table):
            raise self._error(f"returned {type(result).__name__}, not a pyarrow.Table")
        return spill(scratch, result.schema, result.to_batches(max_chunksize=65536)), result.schema

    def _input(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        """The batches; an error of the engine keeps its kind, because the source may have an answer to it."""
        import duckdb
        import pyarrow as pa

        rows = 0
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                break
            except (pa.ArrowException, OSError) as error:
                raise duckdb.InvalidInputException(str(error)) from error
            self.batch += 1
            self.row = rows + 1
            rows += batch.num_rows
            yield batch
        if not self.batch:
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)

    def _output(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import duckdb
        import pyarrow as pa

        try:
            results = self.function(batches)
            for result in results:
                if isinstance(result, pa.Table):
                    yield from result.combine_chunks().to_batches() or [_empty(result.schema)]
                elif isinstance(result, pa.RecordBatch):
                    yield result
                else:
                    raise self._error(f"yielded {type(result).__name__}, not a pyarrow.RecordBatch")
        except (duckdb.Error, LDPError):
            raise
        except Exception as error:
            raise self._error(f"{type(error).__name__}: {error}") from error

    def _same(self, first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, all of the first one's schema."""
        yield first
        for batch in rest:
            if not batch.schema.equals(first.schema):
                raise self._error(
                    f"yielded a batch of another schema ({_words(batch.schema)}) "
                    f"than its first one ({_words(first.schema)})"
                )
            yield batch

    def _error(self, what: str) -> LDPError:
        where = f", batch {self.batch} (from row {self.row})" if self.batch else ""
        key = f"{self.spec.key}.python" if self.spec.key else "python"
        return LDPError(f"{self.name}{where}: {what}", file=self.spec.file, key=key)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([], schema=schema)


def _words(schema: pa.Schema) -> str:
    return ", ".join(f"{column.name}: {column.type}" for column in schema)
