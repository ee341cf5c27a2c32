"""Values beyond so many standard deviations, in DuckDB's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_quality import kinds
from ldp_quality.plan import SAMPLES, Hit, OutlierCounts, Outliers

if TYPE_CHECKING:
    from ldp_quality.executor import DuckDBExecutor


def outliers(question: Outliers, rows: DuckDBExecutor) -> OutlierCounts:
    """Find the baseline, then the rows beyond it.

    Infinite values are no part of the baseline, and always beyond it.
    """
    source, _ = rows.relation([], ordered=True)
    value = f"CAST({rows.places[question.column]} AS DOUBLE)"
    floats = rows.columns[question.column].family == kinds.FLOAT
    known = f"{value} IS NOT NULL" + (f" AND NOT isnan({value})" if floats else "")
    finite = f"{known} AND isfinite({value})"
    count, mean, stddev = rows.fetch(
        f"SELECT count(*) FILTER (WHERE {known}), avg({value}) FILTER (WHERE {finite}), "
        f"stddev_samp({value}) FILTER (WHERE {finite}) FROM {source}"
    )[0]
    if question.past is not None:
        mean, stddev = question.past
    elif count < question.min_rows or mean is None or stddev is None:
        return OutlierCounts(count)
    far = f"{known} AND abs({value} - {mean!r}::DOUBLE) > {question.sigma * stddev!r}::DOUBLE"
    found, first = rows.fetch(f"SELECT count(*), min({rows.row}, {SAMPLES}) FROM {source} WHERE {far}")[0]
    return OutlierCounts(count, mean, stddev, found, tuple(Hit(int(row)) for row in first or ()))
