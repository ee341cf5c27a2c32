"""What a run did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ldp_core.spi import Keyed, Loss, Report, WriteResult
from ldp_core.tables.quarantine import SUFFIX
from ldp_core.window.model import Window


@dataclass(frozen=True)
class PipelineResult:
    """The outcome of a run that did not fail.

    Attributes:
        name: The pipeline's identifier.
        rows_read: Rows of the source.
        rows_written: Rows added or replaced in the target.
        write_result: What the publish did.
        quality: The report of the checks; None without a ``quality`` section.
        duration_s: Seconds from start to end.
        status: ``published``, or ``skipped_duplicate`` when the key was published already.
        run_id: The run.
        attempt: From 1.
        rows_kept: Rows of the source inside the window; all of them without one.
        rows_in: Rows after the transforms.
        warnings: Lines about data or sinks that are not as they should be.
        notes: Lines about what else happened, such as a new column.
        spec_hash: The hash of the config.
        keyed: The window and the key of the run.
        published_in: The snapshot that has what the run is for; None when it has expired, and for files.
    """

    name: str
    rows_read: int
    rows_written: int
    write_result: WriteResult
    quality: Report | None
    duration_s: float
    status: str = "published"
    run_id: str = ""
    attempt: int = 1
    rows_kept: int | None = None
    rows_in: int | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    spec_hash: str = ""
    keyed: Keyed | None = None
    published_in: int | None = None

    @property
    def window(self) -> Window | None:
        """The window of the run."""
        keyed = self.keyed
        return Window(keyed.start, keyed.end) if keyed and keyed.start and keyed.end else None

    @property
    def idempotency_key(self) -> str | None:
        """The key of the run."""
        return self.keyed.key if self.keyed else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        body = {name: value for name, value in vars(self).items() if name not in ("keyed", "published_in")}
        return {
            **body,
            "rows_quarantined": self.write_result.rows_quarantined,
            "window": str(self.window) if self.window else None,
            "idempotency_key": self.idempotency_key,
            "snapshot_id": None if self.published_in is None else str(self.published_in),
            "write_result": self.write_result.to_dict(),
            "quality": None if self.quality is None else self.quality.to_dict(),
            "duration_s": round(self.duration_s, 3),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """For a person: what was read and written, how the target changed, and what to know about it."""
        wrote = self.write_result
        where = f"  target {wrote.table_identifier}: {wrote.mode}, {_change(wrote)}"
        if wrote.snapshot_id is not None:
            where += f", snapshot {wrote.snapshot_id}"
        return [
            self._headline(),
            where,
            *self._run_lines(),
            *self._counts(),
            *(f"  {loss_line(loss)}" for loss in wrote.losses),
            *(f"  {line}" for line in self.notes),
        ]

    def _headline(self) -> str:
        if self.status == "skipped_duplicate":
            where = (
                "before its snapshot expired"
                if self.published_in is None
                else f"in snapshot {self.published_in}"
            )
            return f"{self.name}: skipped: idempotency key already published {where} ({self.duration_s:.1f}s)"
        kept = f", kept {self.rows_kept} in the window" if self.keyed and self.keyed.column else ""
        return (
            f"{self.name}: read {self.rows_read} rows{kept}, wrote {self.rows_written} rows"
            f" in {self.duration_s:.1f}s"
        )

    def _run_lines(self) -> list[str]:
        """What a keyed run adds."""
        if self.window is None and self.idempotency_key is None:
            return []
        pairs = [
            ("window", self.window),
            ("idempotency_key", self.idempotency_key),
            ("run_id", self.run_id),
            ("attempt", self.attempt),
            ("status", self.status),
            ("snapshot", self.published_in),
        ]
        return [f"  {label:<15}  {value}" for label, value in pairs if value is not None]

    def _counts(self) -> list[str]:
        counts = {
            "equal already": self.write_result.rows_unchanged,
            "duplicates": self.write_result.rows_deduplicated,
        }
        lines = [f"  {count} rows left out: {why}" for why, count in counts.items() if count]
        aside = self.write_result.rows_quarantined
        if aside:
            place = f"{self.write_result.table_identifier}{SUFFIX}"
            lines.append(f"  {aside} row{'' if aside == 1 else 's'} put into quarantine: {place}")
        return lines


def loss_line(loss: Loss) -> str:
    """One line of the loss report: ``ts: timestamp[ns] as timestamp[us] (ns_to_us): 12 values changed``."""
    how = f"{loss.column}: {loss.source_type} as {loss.target_type} ({loss.kind})"
    if not loss.changed:
        return f"{how}: no value changed"
    return f"{how}: {loss.changed} {'value' if loss.changed == 1 else 'values'} changed"


def _change(wrote: WriteResult) -> str:
    after = "?" if wrote.rows_after is None else str(wrote.rows_after)
    return f"{after} rows" if wrote.rows_before is None else f"{wrote.rows_before} -> {after} rows"
