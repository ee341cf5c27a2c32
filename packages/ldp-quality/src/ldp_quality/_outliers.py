"""Rows unlike the others, in DuckDB's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_quality import kinds
from ldp_quality.detectors import Found, Sigma, Stats, detect, reach
from ldp_quality.plan import SAMPLES, CannotEvaluate, OutlierCounts, Outliers, Scan

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_quality.executor import DuckDBExecutor

_BATCH = 50_000


def outliers(question: Outliers, rows: DuckDBExecutor) -> OutlierCounts:
    """Find the baseline, that of all rows, then the rows beyond it.

    Infinite values are no part of the baseline, and always beyond it.
    """
    mean, stddev = question.past or (None, None)
    detector = Sigma((question.column,), question.sigma, mean, stddev, question.min_rows)
    return scan(Scan((question.column,), detector), rows)


def scan(question: Scan, rows: DuckDBExecutor) -> OutlierCounts:
    """Ask a detector."""
    columns = question.columns
    return detect(question.detector, DuckRows(rows.whole or rows, columns), DuckRows(rows, columns))


def beyond(question: Outliers, rows: DuckDBExecutor) -> str:
    """The condition of a value that is too far from a known past."""
    assert question.past is not None
    mean, stddev = question.past
    return _far(rows, question.column, mean, reach(question.sigma, mean, stddev))


def _far(rows: DuckDBExecutor, column: str, mean: float, distance: float) -> str:
    value, known = _value(rows, column)
    return f"({known} AND abs({value} - {mean!r}::DOUBLE) > {distance!r}::DOUBLE)"


def _value(rows: DuckDBExecutor, column: str) -> tuple[str, str]:
    """The value, and the condition that there is one."""
    value = f"CAST({rows.places[column]} AS DOUBLE)"
    floats = rows.columns[column].family == kinds.FLOAT
    return value, f"{value} IS NOT NULL" + (f" AND NOT isnan({value})" if floats else "")


@dataclass(frozen=True)
class DuckRows:
    """See ``DetectorRows``.

    Attributes:
        rows: What answers.
        columns: The columns.
    """

    rows: DuckDBExecutor
    columns: tuple[str, ...]

    def stats(self, column: str) -> Stats:
        """See ``DetectorRows``."""
        source, _ = self.rows.relation([], ordered=False)
        value, known = _value(self.rows, column)
        finite = f"{known} AND isfinite({value})"
        return Stats(
            *self.rows.fetch(
                f"SELECT count(*) FILTER (WHERE {known}), avg({value}) FILTER (WHERE {finite}), "
                f"stddev_samp({value}) FILTER (WHERE {finite}), min({value}) FILTER (WHERE {finite}), "
                f"max({value}) FILTER (WHERE {finite}) FROM {source}"
            )[0]
        )

    def beyond(self, column: str, mean: float, distance: float) -> Found:
        """See ``DetectorRows``."""
        source, _ = self.rows.relation([], ordered=True)
        _, known = _value(self.rows, column)
        far = _far(self.rows, column, mean, distance)
        values, found, first = self.rows.fetch(
            f"SELECT count(*) FILTER (WHERE {known}), count(*) FILTER (WHERE {far}), "
            f"min({self.rows.row}, {SAMPLES}) FILTER (WHERE {far}) FROM {source}"
        )[0]
        return Found(values, found, tuple(int(row) for row in first or ()))

    def sample(self, rows: int) -> pa.Table:
        """See ``DetectorRows``: those whose number hashes lowest."""
        source, _ = self.rows.relation([], ordered=True)
        order = f"hash({self.rows.row}), {self.rows.row}"
        found = self.rows.arrow(f"SELECT {self._listed} FROM {source} ORDER BY {order} LIMIT {rows}")
        return found.rename_columns(list(self.columns))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See ``DetectorRows``."""
        return (batch.select(self.columns) for batch, _ in self._numbered())

    def matching(self, test: Callable[[pa.RecordBatch], Any]) -> Found:
        """See ``DetectorRows``."""
        import pyarrow as pa
        import pyarrow.compute as pc

        looked_at = rows = 0
        first: list[int] = []
        for batch, numbers in self._numbered():
            given = test(batch)
            mask = given if isinstance(given, pa.Array | pa.ChunkedArray) else pa.array(given)
            if mask.type != pa.bool_() or len(mask) != batch.num_rows:
                raise CannotEvaluate(
                    f"the detector's test gives {len(mask)} values of {mask.type} for {batch.num_rows} rows"
                )
            found = pc.filter(numbers, mask)
            looked_at += batch.num_rows
            rows += len(found)
            first = sorted([*first, *found.to_pylist()])[:SAMPLES]
        return Found(looked_at, rows, tuple(first))

    @property
    def _listed(self) -> str:
        return ", ".join(self.rows.places[name] for name in self.columns)

    def _numbered(self) -> Iterator[tuple[pa.RecordBatch, pa.Array]]:
        """Batches in the users' names, each with the numbers of its rows."""
        import pyarrow as pa

        source, _ = self.rows.relation([], ordered=True)
        for batch in self.rows.reader(f"SELECT {self._listed}, {self.rows.row} FROM {source}", _BATCH):
            *columns, numbers = batch.columns
            yield pa.RecordBatch.from_arrays(columns, names=list(self.columns)), numbers
