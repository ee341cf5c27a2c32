"""What the store gives out: plain values, never a connection, never a value of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class RuleRecord:
    """What one rule found in one run.

    Attributes:
        name: What it is called in reports.
        kind: The check, such as ``not_null``.
        status: ``pass``, ``warn``, ``fail`` or ``not_run``.
        severity: ``error`` or ``warn``.
        failing_rows: How many rows broke it; None where nobody counted.
        rows: How many rows it covered.
        share: Failing rows as a part of those it covered, from 0 to 1.
        where: The condition of the rows that it covered; None for all.
        scope: Which rows it covered: ``batch``, ``window`` or ``table``; None where nobody said.
        base_snapshot: The snapshot whose rows it judged beside those of the run.
        details: One line that names columns, types and counts, and quotes no value of the data.
        metrics: Its numbers.
    """

    name: str
    kind: str | None = None
    status: str = "pass"
    severity: str | None = None
    failing_rows: int | None = None
    rows: int | None = None
    share: float | None = None
    where: str | None = None
    scope: str | None = None
    base_snapshot: str | None = None
    details: str = ""
    metrics: Mapping[str, int | float] = field(default_factory=dict)

    def metric(self, name: str) -> int | float | None:
        """A number of it: ``failing_rows``, ``rows``, ``share``, or one of ``metrics``; None for none.

        Args:
            name: The metric.
        """
        if name in ("failing_rows", "rows", "share"):
            found: int | float | None = getattr(self, name)
            return found
        return self.metrics.get(name)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return _plain(self)


@dataclass(frozen=True)
class RunRecord:
    """The verdict on a dataset in one attempt of a run.

    Attributes:
        dataset: The table, such as ``nyc.rides``, or the file.
        run_id: The run.
        attempt: The attempt, from 1.
        pipeline: The identifier of the config; empty where the dataset was judged without one.
        evaluated: When.
        status: The worst of its rules.
        outcome: What became of the run: ``published``, ``blocked_quality``, ``failed``; None where nothing
            was to be published.
        contract_id: The contract that was judged by.
        contract_version: Its version.
        logical_date: The moment that the data is about: the start of its window, or the orchestrator's.
        window_start: The start of the window.
        window_end: Its end.
        rows: How many rows were judged.
        duration_s: Seconds that the run took.
        engine: What judged: ``duckdb``, ``postgres``, ...
        spec_hash: The hash of the config.
        rules: What each rule found, in their order.
        id: The name of this record in the store.
    """

    dataset: str
    run_id: str
    attempt: int
    pipeline: str
    evaluated: datetime
    status: str
    outcome: str | None = None
    contract_id: str | None = None
    contract_version: str | None = None
    logical_date: datetime | None = None
    window_start: datetime | None = None
    window_end: datetime | None = None
    rows: int | None = None
    duration_s: float | None = None
    engine: str | None = None
    spec_hash: str | None = None
    rules: tuple[RuleRecord, ...] = ()
    id: str = ""

    @property
    def moment(self) -> datetime:
        """Where it stands in time: the moment that the data is about, else that of the evaluation."""
        return self.logical_date or self.evaluated

    def count(self, status: str) -> int:
        """How many of its rules have a status."""
        return sum(rule.status == status for rule in self.rules)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {**_plain(self), "rules": [rule.to_dict() for rule in self.rules]}


@dataclass(frozen=True)
class Point:
    """One number of one rule in one run.

    Attributes:
        rule: The name of the rule.
        moment: Where it stands in time; see ``RunRecord.moment``.
        value: The number; None where the rule was not run or has no such metric.
        status: What the rule found.
        run_id: The run.
        attempt: The attempt.
    """

    rule: str
    moment: datetime
    value: int | float | None
    status: str
    run_id: str
    attempt: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return _plain(self)


@dataclass(frozen=True)
class Dataset:
    """A dataset that has results.

    Attributes:
        name: Its name.
        pipeline: The config that loads it; empty where there was none.
        runs: How many results there are.
        last: When the last one was evaluated.
    """

    name: str
    pipeline: str
    runs: int
    last: datetime


@dataclass(frozen=True)
class ContractVersion:
    """A contract as it was saved once.

    Attributes:
        contract_id: The contract.
        number: Its place among those that were saved, from 1.
        version: The version that it gives itself; empty where it gives none.
        content: The text, as it was given.
        sha256: The hash of the content.
        who: Who saved it.
        saved: When.
        note: Why.
    """

    contract_id: str
    number: int
    version: str
    content: str
    sha256: str
    who: str
    saved: datetime
    note: str = ""

    @property
    def label(self) -> str:
        """Contract and number, for messages."""
        return f"{self.contract_id} #{self.number}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return _plain(self)


def instant(moment: datetime) -> str:
    """A moment as ISO 8601 in UTC, always equally long, so that texts sort as the moments do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment_of(value: Any) -> datetime | None:
    """A moment out of a database or an event: a time, ISO 8601, or None. One without a zone is in UTC."""
    if value is None:
        return None
    found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _plain(record: Any) -> dict[str, Any]:
    return {item.name: _json(getattr(record, item.name)) for item in fields(record)}


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return dict(value) if isinstance(value, Mapping) else value
