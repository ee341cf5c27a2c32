"""What a contract would have said of the snapshots that are there; nothing is written, nothing held."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError

from ldp_quality.contract._before import before
from ldp_quality.contract.guard import placed, rules_for
from ldp_quality.contract.model import Contract, ContractTable
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.executors.stored import IcebergTable
from ldp_quality.grade import PASS
from ldp_quality.plan import Context
from ldp_quality.policy import blocks, broken
from ldp_quality.result import CheckResult, QualityReport
from ldp_quality.rule import Rule
from ldp_quality.scopes import evaluate_in, of_table

if TYPE_CHECKING:
    from ldp_core.query.handle import TableHandle
    from ldp_core.spi import Standing
    from ldp_core.tables.view import Snap, TableView
    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata

LAST = 30
"""How many snapshots are looked at where nobody says."""
ADDED, WHOLE = "added", "table"
_OPERATIONS = ("append", "overwrite", "delete")
"""What changes rows; ``replace`` writes the same ones anew."""


@dataclass(frozen=True)
class Replayed:
    """What the contract says of one snapshot.

    Attributes:
        snapshot_id: The snapshot.
        committed: When it was committed.
        operation: ``append``, ``overwrite`` or ``delete``.
        run_id: The run that made it; None where its summary names none.
        window: The window that it loaded, ``start/end``; None without one.
        covered: ``added``: the rows that an append added; ``table``: all rows as they were then.
        now: The moment that freshness was measured from: the end of the window, else ``committed``.
        blocked: Whether the gate would have held it back, by what the contract says of failures.
        broken: The rules that failed or could not be evaluated, of those that LDP runs at all.
        report: What each rule found.
    """

    snapshot_id: int
    committed: datetime
    operation: str
    run_id: str | None
    window: str | None
    covered: str
    now: datetime
    blocked: bool
    broken: tuple[str, ...]
    report: QualityReport

    @property
    def rows(self) -> int | None:
        """How many rows were looked at; None where no rule looked at all of them."""
        whole = [item.metrics.get("row_count") for item in self.report.results if item.where is None]
        return next((int(rows) for rows in whole if rows is not None), None)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; the id is a text, for it passes 2**53."""
        return {
            "snapshot_id": str(self.snapshot_id),
            "committed_at": _text(self.committed),
            "operation": self.operation,
            "run_id": self.run_id,
            "window": self.window,
            "covered": self.covered,
            "now": _text(self.now),
            "rows": self.rows,
            "status": self.report.status,
            "blocked": self.blocked,
            "broken": list(self.broken),
            "results": [_line(result) for result in self.report.results],
        }


@dataclass(frozen=True)
class Tally:
    """How often one rule said what.

    Attributes:
        name: The rule.
        line: Where it stands in the contract.
        counts: How many snapshots had each status.
        broken: In how many it failed or could not be evaluated.
    """

    name: str
    line: int | None
    counts: dict[str, int]
    broken: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"name": self.name, "line": self.line, "broken": self.broken, "counts": self.counts}


@dataclass(frozen=True)
class WhatIf:
    """What a contract would have said of the last snapshots of a table.

    Attributes:
        contract: The contract.
        table: Its table.
        label: The table where it is stored.
        asked: How many snapshots were asked for.
        available: How many there are on main that changed rows.
        expired: Whether there were older ones, which are gone.
        snapshots: What was found, the newest first.
        tallies: The rules, those that broke most often first.
    """

    contract: Contract
    table: ContractTable
    label: str
    asked: int
    available: int
    expired: bool
    snapshots: tuple[Replayed, ...]
    tallies: tuple[Tally, ...]

    @property
    def blocked(self) -> int:
        """How many snapshots the gate would have held back."""
        return sum(item.blocked for item in self.snapshots)

    def __str__(self) -> str:
        """``would have blocked 4 of 90 snapshots``."""
        total = len(self.snapshots)
        return f"would have blocked {self.blocked} of {total} snapshot{'' if total == 1 else 's'}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        contract = {"id": self.contract.id, "version": self.contract.version, "file": self.contract.file}
        return {
            "contract": contract,
            "contract_table": self.table.name,
            "table": self.label,
            "asked": self.asked,
            "available": self.available,
            "expired": self.expired,
            "looked_at": len(self.snapshots),
            "blocked": self.blocked,
            "snapshots": [item.to_dict() for item in self.snapshots],
            "rules": [item.to_dict() for item in self.tallies],
        }


def what_if(
    contract: Contract,
    handle: TableHandle,
    table: str | None = None,
    *,
    last: int = LAST,
    memory_limit: str | None = None,
    base_dir: Path | None = None,
) -> WhatIf:
    """Judge the last snapshots of a table by a contract. Writes nothing.

    Each is judged by what its publish brought: the rows that an append added; else the whole table as it was
    then. Snapshots that change no row are left out, and so is what is not on main.

    Args:
        contract: The contract.
        handle: The table: ``ldp_core.table("nyc.orders")``.
        table: What the contract calls it; may be left out where it has only one.
        last: How many snapshots at most, from the newest back.
        memory_limit: The engine's limit such as ``400MB``.
        base_dir: Where paths in rules start; the contract's folder by default.

    Raises:
        ConfigError: The contract has no such table or says nothing of it, ``last`` is not above zero, or
            ``handle`` is no Iceberg table.
        TableNotFound: The table does not exist.
    """
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.open import open_table
    from ldp_core.tables.view import of_metadata

    if isinstance(last, bool) or not isinstance(last, int) or last < 1:
        raise ConfigError(f"last must be a number of snapshots from 1, got {last!r}", key="last")
    if not isinstance(handle, TableHandle):
        raise ConfigError(
            f"only an Iceberg table has snapshots, not {type(handle).__name__}",
            hint='give ldp_core.table("namespace.table")',
        )
    wanted = contract.table(table)
    if not contract.rules(wanted.name):
        raise ConfigError(
            f"the contract says nothing of {wanted.name} that could be tested",
            file=contract.file,
            line=wanted.origin.line,
            key=wanted.origin.key,
            hint="give it properties or quality",
        )
    metadata, io = open_table(handle.ref)
    view = of_metadata(metadata, io)
    line = list(view.ancestors())
    changed = [snap for snap in line if _changes_rows(snap)]
    context = placed(contract, handle, Context(base_dir=base_dir))
    replay = _Replay(rules_for(contract, wanted.name), view, metadata, io, handle.ref.label, context)
    found = tuple(replay.snapshot(snap, memory_limit) for snap in changed[:last])
    return WhatIf(
        contract=contract,
        table=wanted,
        label=handle.ref.label,
        asked=last,
        available=len(changed),
        expired=bool(line) and _stands_on_more(line[-1]),
        snapshots=found,
        tallies=tuple(_tallies(contract, wanted, replay.rules, found)),
    )


@dataclass(frozen=True)
class _Replay:
    """Rules, and the table that they are asked of, read once."""

    rules: tuple[Rule, ...]
    view: TableView
    metadata: TableMetadata
    io: FileIO
    label: str
    context: Context

    def snapshot(self, snap: Snap, memory_limit: str | None) -> Replayed:
        """What the rules say of one snapshot."""
        from ldp_core.commit.summaries import RUN, told
        from ldp_core.query.open import planned

        keyed = told(self.view, snap)
        window = keyed.window if keyed else None
        operation = str(snap.summary.get("operation"))
        committed = datetime.fromtimestamp(snap.at / 1000, UTC)
        now = window.end if window else committed
        covered = ADDED if operation == "append" else WHOLE
        read = str(snap.summary.get("ldp.rows-read", ""))
        context = replace(self.context, now=now, source_rows=int(read) if read.isdigit() else None)
        scan = planned(self.metadata, self.io, snap.id, self.label, added=covered == ADDED)
        with IcebergTable(scan).opened(memory_limit) as rows:
            standing = functools.partial(self._standing, rows, snap) if self._is_known(snap) else None
            added = evaluate_in(self.rules, rows, context, standing if covered == ADDED else None).report
            report = added if covered == ADDED else of_table(added)
        return Replayed(
            snapshot_id=snap.id,
            committed=committed,
            operation=operation,
            run_id=snap.summary.get(RUN),
            window=str(window) if window else None,
            covered=covered,
            now=now,
            blocked=blocks(self.rules, report, None),
            broken=tuple(result.name for _, result in broken(self.rules, report)),
            report=report,
        )

    def _is_known(self, snap: Snap) -> bool:
        """Whether what stood in the table before a snapshot can still be read."""
        if snap.parent is None:
            return not _stands_on_more(snap)
        return self.metadata.snapshot_by_id(snap.parent) is not None

    def _standing(self, rows: DuckDBExecutor, snap: Snap) -> Standing:
        """What stood in the table before a snapshot."""
        from ldp_core.query.open import planned

        if snap.parent is None:
            return before(rows, None)
        return before(rows, planned(self.metadata, self.io, snap.parent, self.label))


def _changes_rows(snap: Snap) -> bool:
    """Whether it published rows; a compaction and the upkeep of keys did not."""
    from ldp_core.commit.summaries import REWRITTEN

    return snap.summary.get("operation") in _OPERATIONS and REWRITTEN not in snap.summary


def _stands_on_more(oldest: Snap) -> bool:
    """Whether there were snapshots before; what expires them may cut the link."""
    counts = ("total-data-files", "added-data-files", "deleted-data-files")
    total, added, deleted = (int(oldest.summary.get(name) or 0) for name in counts)
    return oldest.parent is not None or total > added or deleted > 0


def _tallies(
    contract: Contract, table: ContractTable, rules: Sequence[Rule], found: Sequence[Replayed]
) -> Iterator[Tally]:
    listed = []
    for at, own in enumerate(contract.rules(table.name)):
        statuses = [item.report.results[at].status for item in found]
        bad = sum(any(rule is rules[at] for rule, _ in broken(rules, item.report)) for item in found)
        counts = {status: statuses.count(status) for status in dict.fromkeys(sorted(statuses, key=_order))}
        listed.append(Tally(own.name, own.origin.line, counts, bad))
    yield from sorted(listed, key=lambda item: (-item.broken, item.counts.get(PASS, 0)))


def _order(status: str) -> int:
    from ldp_quality.contract.trial import ORDER

    return ORDER.index(status)


def _line(result: CheckResult) -> dict[str, Any]:
    """A verdict without samples: rows that are long gone help nobody in a list of ninety."""
    told = result.to_dict()
    told.pop("samples", None)
    return told


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
