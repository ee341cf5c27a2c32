"""The quarantine of a config's table, in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core._duck import private
from ldp_core.config import Config
from ldp_core.errors import ConfigError, LDPError, TableNotFound, UsageError
from ldp_core.plan.build import build
from ldp_core.plan.stages import Check, Plan, Read
from ldp_core.quarantine.batches import Batch, Fate, fates, read_batches
from ldp_core.quarantine.remove import label_of, quarantine_of, remove, view_of
from ldp_core.run.context import RunOptions
from ldp_core.run.preview import Preview, preview_plan
from ldp_core.run.runner import execute
from ldp_core.spi import Keyed, PreparedGate, Spec
from ldp_core.tables.quarantine import SUFFIX

from ldp_quality.gate import PreparedQuality
from ldp_quality.quarantine.corrected import Corrected
from ldp_quality.quarantine.source import BatchSource
from ldp_quality.quarantine.stored import shown_sql, stored
from ldp_quality.rule import TABLE, WINDOW

if TYPE_CHECKING:
    import pyarrow as pa
    from ldp_core.commit.change import Base
    from ldp_core.query.session import Query
    from ldp_core.run.result import PipelineResult
    from ldp_core.tables.view import TableView


class BatchClosed(LDPError):
    """The rows of a batch cannot be requeued: they do not count, or do no longer."""

    code = "batch_closed"


@dataclass(frozen=True)
class QuarantineBatch:
    """A batch, and what became of it.

    Attributes:
        batch: The batch.
        fate: What became of it.
    """

    batch: Batch
    fate: Fate

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        batch = self.batch
        return {
            "batch": batch.id,
            "state": self.fate.state,
            "why": self.fate.why or None,
            "at": batch.at.isoformat(),
            "window": str(batch.window) if batch.window else None,
            "pipeline": batch.pipeline,
            "run_id": batch.run_id,
            "attempt": batch.attempt,
            "key": batch.key,
            "rows": batch.rows,
            "unread": batch.unread,
            "rules": dict(batch.rules),
            "requeue_key": batch.requeue_key,
        }


class Quarantine:
    """The rows that runs of a config put aside.

    Args:
        config: The config, or its file.

    Raises:
        ConfigError: It has errors, or its target is no Iceberg table.
    """

    def __init__(self, config: Config | str | Path) -> None:
        self.config = config if isinstance(config, Config) else Config.from_file(config)
        self.config.validate("target")
        if self.config.target_kind() != "ICEBERG":
            raise ConfigError(
                f"the target is {self.config.target_kind()}: only an Iceberg table has a quarantine",
                file=self.config.name,
                key="metadata.target.format",
            )
        self.target = self.config.spec("target")

    @property
    def label(self) -> str:
        """``namespace.table`` of the quarantine table."""
        return f"{label_of(self.target)}{SUFFIX}"

    def batches(self, *, closed: bool = False) -> list[QuarantineBatch]:
        """The open batches, the newest first.

        Args:
            closed: All batches, also those that do not count.
        """
        base = quarantine_of(self.target)
        found = [] if base is None else self._batches(base)
        return [item for item in found if closed or item.fate.state in ("open", "unknown")]

    def find(self, word: str) -> QuarantineBatch:
        """The batch of a name, or of how a name begins.

        Raises:
            UsageError: There is none, or more than one.
        """
        every = self.batches(closed=True)
        exact = [item for item in every if item.batch.id == word]
        found = exact or [item for item in every if word and item.batch.id.startswith(word)]
        if len(found) != 1:
            why = "more than one batch begins with" if found else "there is no batch"
            raise UsageError(f"{why} {word} in {self.label}", hint="ldp quarantine list CONFIG --all")
        return found[0]

    def rows(self, batch: str | None = None, *, rule: str | None = None) -> pa.Table:
        """Rows with what is wrong with them.

        Args:
            batch: Of one batch; of all open ones by default.
            rule: Only rows that break this rule.

        Raises:
            UsageError: There is no such batch.
        """
        with self.query(batch, rule) as found:
            return found.con.sql(found.sql).to_arrow_table()

    @contextmanager
    def query(self, batch: str | None = None, rule: str | None = None) -> Iterator[Query]:
        """Rows as a query; see ``rows``.

        Raises:
            TableNotFound: Nothing was ever put aside.
        """
        from ldp_core.query.session import Query

        names = {self.find(batch).batch.id} if batch is not None else {i.batch.id for i in self.batches()}
        with private() as con:
            yield Query(con, shown_sql(stored(con, self._base(), names), rule))

    def requeue(
        self,
        batch: str,
        *,
        rows: Any = None,
        source: str | Path | None = None,
        on_failure: str | None = None,
        **options: Any,
    ) -> PipelineResult:
        """Let the rows of a batch go through the gate once more, exactly once, under its window.

        Rows that pass are added to the table (upserted where the config upserts). Rows that fail again, and
        rows that are left out, are put aside as a new batch.

        Args:
            batch: The batch.
            rows: Corrected rows, a file or a table with ``_ldp_row``; only these go through the gate.
            source: A corrected file of the config's source, in place of the rows that could not be read.
            on_failure: What a failed rule does in this run, above what the config says.
            options: Other fields of ``RunOptions``, such as ``run_id``.

        Returns:
            What the run did; its status is ``skipped_duplicate`` where the batch was requeued already.

        Raises:
            BatchClosed: The batch does not count.
            DataQualityError: A rule held the rows back; nothing was changed.
        """
        found = self.find(batch)
        return execute(self.plan(found, rows, source), RunOptions(on_failure=on_failure, **options))

    def preview(
        self,
        batch: str,
        *,
        rows: Any = None,
        source: str | Path | None = None,
        on_failure: str | None = None,
        limit: int = 10,
    ) -> Preview:
        """What ``requeue`` would do: the rows that go through the gate, and its verdict on them.

        Args:
            batch: As for ``requeue``.
            rows: As for ``requeue``.
            source: As for ``requeue``.
            on_failure: As for ``requeue``.
            limit: How many rows to give.

        Raises:
            BatchClosed: The batch does not count, or was requeued already.
        """
        found = self.find(batch)
        _refuse_closed(found, requeued=True)
        return preview_plan(self.plan(found, rows, source), limit, RunOptions(on_failure=on_failure))

    def plan(self, item: QuarantineBatch, rows: Any = None, source: str | Path | None = None) -> Plan:
        """The stages of a requeue.

        Args:
            item: The batch.
            rows: As for ``requeue``.
            source: As for ``requeue``.

        Raises:
            BatchClosed: The batch does not count.
            UsageError: The batch is another config's, or its source is no file.
        """
        made, batch = build(self.config), item.batch
        _refuse_closed(item)
        if batch.pipeline != made.identifier:
            raise UsageError(f"batch {batch.id} is of {batch.pipeline}: requeue it with that config")
        section = self.config.section("window")
        column = section.get("column") if isinstance(section, dict) else None
        window = batch.window
        start, end = (window.start, window.end) if window else (None, None)
        keyed = replace(
            made.keyed or Keyed(made.identifier), start=start, end=end, column=column if window else None
        )
        corrected = None if source is None else Corrected(_read(made, source), made.transforms, keyed)
        base = self._base()
        own = BatchSource(base, batch.id, batch.unread, keyed, rows, corrected)
        mode = str(made.write.spec.get("write_mode") or "append").lower()
        return replace(
            made,
            read=Read("QUARANTINE", own, Spec({"name": label_of(self.target) + SUFFIX}, made.base_dir)),
            transforms=(),
            checks=tuple(_among_the_others(check, keyed) for check in made.checks),
            write=replace(made.write, mode="upsert" if mode == "upsert" else "append"),
            keyed=replace(
                keyed,
                key=batch.requeue_key,
                overlap=True,
                requeued=batch.id,
                still=lambda view: self._still(batch, base, view),
            ),
            max_share=1.0,
        )

    def drop(self, batches: Iterable[str]) -> int:
        """Remove batches for good, in a commit that rewrites no row.

        Returns:
            How many rows are gone.

        Raises:
            TableNotFound: Nothing was ever put aside.
        """
        return remove(self._base(), set(batches))

    def _still(self, batch: Batch, base: Base, view: TableView) -> None:
        """Before each commit: the batch counts as it did when its rows were read.

        Raises:
            BatchClosed: Its window was replaced, or its publish was rolled back.
        """
        fate = fates(self._read(base), view, label_of(self.target))[batch.id]
        _refuse_closed(QuarantineBatch(batch, fate))

    def _batches(self, base: Base) -> list[QuarantineBatch]:
        known = self._read(base)
        found = fates(known, view_of(self.target), label_of(self.target))
        return [QuarantineBatch(batch, found[batch.id]) for batch in known]

    def _read(self, base: Base) -> list[Batch]:
        with private() as con:
            return read_batches(con, base)

    def _base(self) -> Base:
        base = quarantine_of(self.target)
        if base is None:
            raise TableNotFound(f"there is no table {self.label}: nothing was put aside yet")
        return base


def _among_the_others(check: Check, keyed: Keyed) -> Check:
    """A gate whose rules about keys see the rows that were published when these were put aside."""

    def prepare() -> PreparedGate:
        gate = check.prepare()
        if not isinstance(gate, PreparedQuality):
            return gate
        return replace(gate, keys_in=WINDOW if keyed.column else TABLE)

    return replace(check, prepare=prepare)


def _refuse_closed(item: QuarantineBatch, *, requeued: bool = False) -> None:
    """Refuse a batch that does not count; one that was requeued is told by its key."""
    state, why = item.fate.state, item.fate.why
    if state == "open" or (state == "requeued" and not requeued):
        return
    said = {
        "unpublished": "its run has not published",
        "withdrawn": "what its run loaded was replaced since",
        "requeued": "it was requeued already",
    }
    raise BatchClosed(
        f"batch {item.batch.id} cannot be requeued: {said.get(state, why)}", hint="ldp quarantine list CONFIG"
    )


def _read(plan: Plan, source: str | Path) -> Read:
    """The config's own source, with another path."""
    spec = plan.read.spec
    if spec.get("path") is None:
        raise UsageError(f"--source: the source is {plan.read.kind}, which reads no file")
    path = str(source) if "://" in str(source) else str(Path(source).absolute())
    return replace(plan.read, spec=replace(spec, values={**spec.values, "path": path}))
