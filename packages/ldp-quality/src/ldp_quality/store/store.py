"""The store of quality history: contracts as they were saved, results as they were found."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ldp_core.clock import system_clock
from ldp_core.errors import ConfigError

from ldp_quality.store import contracts, results
from ldp_quality.store.database import Database
from ldp_quality.store.migrations import migrate
from ldp_quality.store.records import (
    ContractVersion,
    Dataset,
    Point,
    RuleRecord,
    RunRecord,
    moment_of,
)

if TYPE_CHECKING:
    from ldp_quality.contract.diff import ContractDiff
    from ldp_quality.history import History, Past
    from ldp_quality.result import QualityReport
    from ldp_quality.rule import Rule

DEFAULT_PATH = ".ldp/quality.db"


def open_store(
    place: str | Path = DEFAULT_PATH, *, create: bool = True, password_env: str | None = None
) -> Store:
    """Open a store, and bring its tables to this version of the code.

    Args:
        place: A SQLite file, or ``postgresql://user@host/database``, where it has the schema ``ldp_quality``.
        create: Whether it may be made where there is none.
        password_env: The environment variable that holds the password of the database; ``PGPASSWORD`` (or
            libpq's password file) without one.

    Raises:
        StoreNotFound: There is none, and it may not be made.
        StoreError: It cannot be opened, belongs to something else, or a newer version made it.
        ConfigError: The place is of another kind, or holds a password.
        EngineNotFound: The driver of PostgreSQL is not installed.
    """
    db = _database(str(place), create, password_env)
    try:
        migrate(db, create=create)
    except BaseException:
        db.close()
        raise
    return Store(db)


class Store:
    """An open store; a context manager that closes it. For one thread at a time; see ``open_store``."""

    def __init__(self, db: Database) -> None:
        self._db = db

    @property
    def label(self) -> str:
        """Where it is, for people."""
        return self._db.label

    def save_result(
        self,
        report: QualityReport | Mapping[str, Any],
        *,
        dataset: str,
        run_id: str | None = None,
        attempt: int = 1,
        pipeline: str = "",
        rules: Sequence[Rule] = (),
        evaluated: datetime | None = None,
        outcome: str | None = None,
        contract_id: str | None = None,
        contract_version: str | None = None,
        logical_date: datetime | None = None,
        window: tuple[datetime, datetime] | None = None,
        rows: int | None = None,
        duration_s: float | None = None,
        engine: str | None = None,
        spec_hash: str | None = None,
    ) -> RunRecord:
        """Save what checks found: verdicts, counts and numbers; never a sample, never a value of the data.

        The same attempt of a run of the same dataset (and pipeline) is replaced, not doubled.

        Args:
            report: A report, or what ``ldp_quality.verdicts.evaluated`` makes of one.
            dataset: The table, such as ``nyc.rides``, or the file.
            run_id: The run; a new id by default.
            attempt: From 1.
            pipeline: The identifier of the config.
            rules: What was judged, in the report's order: kinds and severities.
            evaluated: When; the present by default.
            outcome: What became of the run.
            contract_id: The contract that was judged by.
            contract_version: Its version.
            logical_date: The moment that the data is about; the start of the window by default.
            window: The start and the end of the window.
            rows: How many rows were judged; the most that a rule covered by default.
            duration_s: Seconds.
            engine: What judged, such as ``duckdb``.
            spec_hash: The hash of the config.

        Raises:
            ConfigError: ``dataset``, ``run_id`` or ``attempt`` names nothing.
            StoreError: It cannot be written.
        """
        from ldp_core.ids import is_text, new_id

        from ldp_quality.verdicts import evaluated as told

        run_id = new_id() if run_id is None else run_id
        if not is_text(dataset) or not is_text(run_id) or attempt < 1:
            raise ConfigError("a result needs the name of its dataset, a run id, and an attempt from 1")
        body = report if isinstance(report, Mapping) else told(report, tuple(rules))
        found = tuple(_rule(line) for line in body["checks"])
        start, end = window or (None, None)
        record = RunRecord(
            dataset=dataset,
            run_id=run_id,
            attempt=attempt,
            pipeline=pipeline,
            evaluated=_aware(evaluated) or system_clock(),
            status=str(body["status"]),
            outcome=outcome,
            contract_id=contract_id,
            contract_version=contract_version,
            logical_date=_aware(logical_date) or _aware(start),
            window_start=_aware(start),
            window_end=_aware(end),
            rows=rows if rows is not None else max((rule.rows or 0 for rule in found), default=None),
            duration_s=duration_s,
            engine=engine,
            spec_hash=spec_hash,
            rules=found,
        )
        return results.save(self._db, record)

    def runs(
        self,
        dataset: str | None = None,
        *,
        limit: int | None = 20,
        since: datetime | None = None,
        status: str | None = None,
    ) -> list[RunRecord]:
        """Results with their rules, the one that was evaluated last first.

        Args:
            dataset: Only of this one.
            limit: So many at most; None for all.
            since: Only those that were evaluated then or later.
            status: Only those with this one: ``pass``, ``warn``, ``fail`` or ``not_run``.
        """
        return results.read(self._db, dataset=dataset, status=status, since=_aware(since), limit=limit)

    def run(self, id: str) -> RunRecord | None:
        """One result: by its own id, or the last attempt of the run of this id. None where there is none."""
        found = [record for record in results.find(self._db, id) if id in (record.id, record.run_id)]
        return max(found, key=lambda record: (record.attempt, record.evaluated), default=None)

    def find(self, text: str) -> list[RunRecord]:
        """The results of the runs with this id, or of those whose id begins so."""
        return results.find(self._db, text)

    def trend(
        self, dataset: str, rule: str | None = None, metric: str = "failing_rows", *, last: int = 30
    ) -> list[Point]:
        """One number of a dataset's rules over its last runs, the oldest first.

        They stand in the order of the data's own time: a window that was loaded late is where it belongs.

        Args:
            dataset: The dataset.
            rule: The name of one rule; None for all.
            metric: ``failing_rows``, ``share``, ``rows``, or a number of the check, such as ``age_hours``.
            last: How many runs.
        """
        return results.trend(self._db, dataset, rule, metric, last)

    def history(self, dataset: str, pipeline: str | None = None, timezone: str = "UTC") -> History:
        """Earlier runs for ``metric_anomaly``: ``run_checks(df, rules, {"history": store.history("a.b")})``.

        Args:
            dataset: The dataset.
            pipeline: The config that loads it; None for all.
            timezone: Where days begin, for ``baseline: weekday``.
        """
        from ldp_quality.store.history import StoredHistory

        return StoredHistory(self, dataset, pipeline, timezone)

    def numbers(
        self, dataset: str, pipeline: str | None, number: str, where: str | None, before: datetime
    ) -> list[Past]:
        """What ``history`` looks at: see ``History.past``."""
        return results.numbers(self._db, dataset, pipeline, number, where, before)

    def datasets(self) -> list[Dataset]:
        """Every dataset that has results, the one that was judged last first."""
        return results.datasets(self._db)

    def save_contract(
        self,
        content: str | Path,
        *,
        contract_id: str | None = None,
        version: str | None = None,
        who: str | None = None,
        saved: datetime | None = None,
        note: str = "",
        accept: Callable[[ContractVersion | None], None] | None = None,
    ) -> ContractVersion:
        """Save a version of a contract; one that says what the last one says is that one.

        Args:
            content: Its file, or its text.
            contract_id: The contract; that which it says in ``id`` by default.
            version: The version that it gives itself; that which it says by default.
            who: Who saves it; the user of this process by default.
            saved: When; the present by default.
            note: Why.
            accept: Asked about the last version before a new one is saved, while nobody else can save; what
                it raises ends the save.

        Raises:
            ConfigError: It cannot be read, or nothing says which contract it is.
            StoreError: It cannot be written.
        """
        where = str(content) if isinstance(content, Path) else None
        text = content if isinstance(content, str) else contracts.text_of(content)
        told = contracts.said(text, where, strict=contract_id is None)
        contract_id = contract_id or str(told.get("id") or "")
        if not contract_id:
            raise ConfigError("the contract has no id", file=where, hint="give contract_id, or the key id")
        return contracts.save(
            self._db,
            contract_id,
            text,
            version=str(version or told.get("version") or ""),
            who=who or _user(),
            saved=_aware(saved) or system_clock(),
            note=note,
            accept=accept,
        )

    def contracts(self, contract_id: str | None = None, *, limit: int | None = None) -> list[ContractVersion]:
        """The versions of a contract, or of all contracts, the last one first."""
        return contracts.read(self._db, contract_id, limit=limit)

    def contract(self, contract_id: str, number: int | None = None) -> ContractVersion | None:
        """One version of a contract; the last by default. None where there is none."""
        return next(iter(contracts.read(self._db, contract_id, number=number, limit=1)), None)

    def diff_contract(
        self, contract_id: str, *, old: int | None = None, new: int | None = None
    ) -> ContractDiff:
        """What changed from one version of a contract to another.

        Args:
            contract_id: The contract.
            old: The number of the version as it was; the one before ``new`` by default.
            new: The number of the version as it is; the last by default.

        Raises:
            ConfigError: There is no such version, or it is no contract.
        """
        from ldp_quality.contract.diff import diff

        after = self._version(contract_id, new)
        before = self._version(contract_id, after.number - 1 if old is None else old)
        return diff(*(contracts.said(item.content, item.label) for item in (before, after)))

    def _version(self, contract_id: str, number: int | None) -> ContractVersion:
        found = self.contract(contract_id, number)
        if found is None:
            which = (
                f"version number {number} of the contract"
                if number is not None
                else "version of the contract"
            )
            raise ConfigError(f"there is no {which} {contract_id} in {self.label}")
        return found

    def close(self) -> None:
        """Let the connection go."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _database(place: str, create: bool, password_env: str | None) -> Database:
    from ldp_core.fs import is_local, local_path

    from ldp_quality.store.postgres import PostgresDatabase, is_postgres

    if is_postgres(place):
        return PostgresDatabase(place, password_env)
    place = place.removeprefix("sqlite:///")
    if not place or not is_local(place):
        raise ConfigError(
            "a quality history is a file or postgresql://user@host/database", hint="name one of them"
        )
    from ldp_quality.store.sqlite import SqliteDatabase

    return SqliteDatabase(local_path(place).expanduser(), create=create)


def _rule(line: Mapping[str, Any]) -> RuleRecord:
    """A rule as events and reports tell it."""
    from ldp_quality.grade import NOT_RUN
    from ldp_quality.verdicts import numbers_of

    status = str(line.get("status") or ("pass" if line.get("passed") else "fail"))
    counted = status != NOT_RUN
    return RuleRecord(
        name=str(line["name"]),
        kind=line.get("check") or line.get("kind"),
        status=status,
        severity=line.get("severity"),
        failing_rows=line.get("failing_rows") if counted else None,
        rows=line.get("rows"),
        share=line.get("share") if counted else None,
        where=line.get("where"),
        scope=line.get("scope"),
        base_snapshot=line.get("base_snapshot"),
        details=str(line.get("details") or ""),
        metrics=numbers_of(line.get("metrics") or {}),
    )


def _aware(moment: datetime | None) -> datetime | None:
    """A moment with its zone; one without is in UTC."""
    return moment_of(moment)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
