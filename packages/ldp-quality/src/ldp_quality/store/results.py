"""Results of checks in the store: one row a run, one row a rule; saved twice they are there once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ldp_quality.history import PARTIAL, ROWS, Past
from ldp_quality.store.database import Database
from ldp_quality.store.records import Dataset, Point, RuleRecord, RunRecord, moment_of

_KEY = ("dataset", "pipeline", "run_id", "attempt")
_RUN = (
    *("id", *_KEY, "evaluated", "moment", "status", "outcome", "contract_id", "contract_version"),
    *("logical_date", "window_start", "window_end", "judged_rows", "duration_s", "engine", "spec_hash"),
)
_MOMENTS = frozenset({"evaluated", "moment", "logical_date", "window_start", "window_end"})
_RULE = (
    *("run", "position", "name", "kind", "status", "severity", "failing_rows", "covered_rows", "share"),
    *("condition", "scope", "base_snapshot", "details", "metrics"),
)
_NAMES = {"judged_rows": "rows", "covered_rows": "rows", "condition": "where"}
"""Columns that are called differently than what they hold, because databases have words of their own."""
_COMPARED = "metric_anomaly"
"""The check whose numbers are a history."""
_END = "coalesce(r.window_end, r.logical_date, r.evaluated)"
"""Where the data of a run ends."""
_LOOKED_AT = 10_000
"""Results at most that a history is read from."""
_FOUND = 50
"""Records at most whose names only begin as somebody asks."""
_MANY = 500
"""Runs whose rules are asked for at once."""


def record_id(dataset: str, pipeline: str, run_id: str, attempt: int) -> str:
    """The name of a record: 32 hex digits, the same for the same run of the same dataset."""
    text = json.dumps([dataset, pipeline, run_id, attempt], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def save(db: Database, record: RunRecord) -> RunRecord:
    """Save the record of a run with its rules, in place of what is there of the same attempt.

    Args:
        db: The store.
        record: The run; its id is given here.
    """
    record = replace(record, id=record_id(record.dataset, record.pipeline, record.run_id, record.attempt))
    values = [_of_run(db, record, column) for column in _RUN]
    changed = ", ".join(f"{column} = excluded.{column}" for column in _RUN if column not in ("id", *_KEY))
    with db.transaction():
        db.execute(
            f"INSERT INTO {{s}}runs ({', '.join(_RUN)}) VALUES ({_marks(_RUN)}) "
            f"ON CONFLICT (id) DO UPDATE SET {changed}",
            values,
        )
        db.execute("DELETE FROM {s}rules WHERE run = ?", (record.id,))
        db.execute_many(
            f"INSERT INTO {{s}}rules ({', '.join(_RULE)}) VALUES ({_marks(_RULE)})",
            [_of_rule(record.id, position, rule) for position, rule in enumerate(record.rules)],
        )
    return record


def read(
    db: Database,
    *,
    dataset: str | None = None,
    status: str | None = None,
    since: datetime | None = None,
    limit: int | None = None,
) -> list[RunRecord]:
    """Records with their rules, the one that was evaluated last first.

    Args:
        db: The store.
        dataset: Only of this one.
        status: Only those with it.
        since: Only those that were evaluated then or later.
        limit: So many at most.
    """
    asked = (("dataset = ?", dataset), ("status = ?", status), ("evaluated >= ?", db.moment(since)))
    return _select(db, [item for item in asked if item[1] is not None], "evaluated", limit)


def find(db: Database, text: str) -> list[RunRecord]:
    """Records whose run, or whose own id, has this name; where none has, those whose name begins so.

    Args:
        db: The store.
        text: An id, or how it begins.
    """
    exact = _select(db, [("(id = ? OR run_id = ?)", (text, text))], "evaluated", None)
    if exact or not text:
        return exact
    size = len(text)
    beginning = "(substr(id, 1, ?) = ? OR substr(run_id, 1, ?) = ?)"
    return _select(db, [(beginning, (size, text, size, text))], "evaluated", _FOUND)


def trend(db: Database, dataset: str, rule: str | None, metric: str, last: int) -> list[Point]:
    """One number of a dataset's rules over its last runs, in the order of the data's own time.

    Args:
        db: The store.
        dataset: The dataset.
        rule: One rule; None for all.
        metric: See ``RuleRecord.metric``.
        last: How many runs.
    """
    records = _select(db, [("dataset = ?", dataset)], "moment", last)
    return [
        Point(found.name, record.moment, found.metric(metric), found.status, record.run_id, record.attempt)
        for record in reversed(records)
        for found in record.rules
        if rule is None or found.name == rule
    ]


def numbers(
    db: Database, dataset: str, pipeline: str | None, number: str, where: str | None, before: datetime
) -> list[Past]:
    """A number that runs were compared by, of those that were published, the last window first.

    A window that was loaded again counts once, as it was loaded last.

    Args:
        db: The store.
        dataset: The dataset.
        pipeline: The config that loaded it; None for all.
        number: See ``History.past``.
        where: See ``History.past``.
        before: Only runs whose data ends before it.
    """
    asked: list[tuple[str, Any]] = [
        ("r.dataset = ?", dataset),
        ("u.kind = ?", _COMPARED),
        (f"{_END} < ?", db.moment(before)),
    ]
    if pipeline is not None:
        asked.append(("r.pipeline = ?", pipeline))
    if where is not None:
        asked.append(("u.condition = ?", where))
    none = " AND u.condition IS NULL" if where is None else ""
    conditions = " AND ".join(sql for sql, _ in asked)
    rows = db.execute(
        f"SELECT {_END}, r.window_start, r.window_end, r.pipeline, r.run_id, r.id, u.covered_rows, u.metrics "
        f"FROM {{s}}runs AS r JOIN {{s}}rules AS u ON u.run = r.id WHERE {conditions}"
        f"{none} AND (r.outcome = 'published' OR r.outcome IS NULL) "
        f"ORDER BY 1 DESC, r.evaluated DESC, r.attempt DESC, u.position LIMIT {_LOOKED_AT}",
        [value for _, value in asked],
    )
    found: dict[tuple[Any, ...], Past] = {}
    last: dict[tuple[Any, ...], str] = {}
    for at, start, end, config, run_id, record, covered, metrics in rows:
        numbers_of = json.loads(metrics)
        if PARTIAL in numbers_of:
            continue
        value = covered if number == ROWS else numbers_of.get(number)
        key = (config, start, end) if end is not None else (config, run_id)
        # A window whose last load had no such number has none: not that of the load before.
        if last.setdefault(key, record) == record and value is not None:
            found.setdefault(key, Past(_moment(at), value))
    return list(found.values())


def datasets(db: Database) -> list[Dataset]:
    """Every dataset that has results, by the config that loads it; the one that was judged last first."""
    rows = db.execute(
        "SELECT dataset, pipeline, count(*), max(evaluated) FROM {s}runs GROUP BY dataset, pipeline"
    )
    found = [Dataset(name, pipeline, int(runs), _moment(last)) for name, pipeline, runs, last in rows]
    return sorted(found, key=lambda item: (item.last, item.name, item.pipeline), reverse=True)


def _select(db: Database, asked: Sequence[tuple[str, Any]], order: str, limit: int | None) -> list[RunRecord]:
    where = f" WHERE {' AND '.join(sql for sql, _ in asked)}" if asked else ""
    values = [part for _, value in asked for part in (value if isinstance(value, tuple) else (value,))]
    most = "" if limit is None else " LIMIT ?"
    rows = db.execute(
        f"SELECT {', '.join(_RUN)} FROM {{s}}runs{where} "
        f"ORDER BY {order} DESC, evaluated DESC, run_id DESC, attempt DESC, id{most}",
        [*values, *([] if limit is None else [limit])],
    )
    records = [_run(row) for row in rows]
    rules = _rules(db, [record.id for record in records])
    return [replace(record, rules=tuple(rules.get(record.id, ()))) for record in records]


def _rules(db: Database, ids: Sequence[str]) -> dict[str, list[RuleRecord]]:
    found: dict[str, list[RuleRecord]] = {}
    for start in range(0, len(ids), _MANY):
        some = ids[start : start + _MANY]
        rows = db.execute(
            f"SELECT {', '.join(_RULE)} FROM {{s}}rules WHERE run IN ({_marks(some)}) ORDER BY run, position",
            some,
        )
        for row in rows:
            values = {_NAMES.get(name, name): value for name, value in zip(_RULE[2:], row[2:], strict=True)}
            record = RuleRecord(**{**values, "metrics": json.loads(values["metrics"])})
            found.setdefault(str(row[0]), []).append(record)
    return found


def _run(row: Iterable[Any]) -> RunRecord:
    values: dict[str, Any] = {
        _NAMES.get(name, name): moment_of(value) if name in _MOMENTS else value
        for name, value in zip(_RUN, row, strict=True)
    }
    del values["moment"]
    return RunRecord(**values)


def _of_run(db: Database, record: RunRecord, column: str) -> Any:
    value = getattr(record, _NAMES.get(column, column))
    return db.moment(value) if column in _MOMENTS else value


def _of_rule(run: str, position: int, rule: RuleRecord) -> tuple[Any, ...]:
    metrics = json.dumps(dict(rule.metrics), ensure_ascii=False, allow_nan=False)
    own = {**{name: getattr(rule, name) for name in rule.__dataclass_fields__}, "metrics": metrics}
    return (run, position, *(own[_NAMES.get(column, column)] for column in _RULE[2:]))


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


def _moment(value: Any) -> datetime:
    found = moment_of(value)
    assert found is not None
    return found
