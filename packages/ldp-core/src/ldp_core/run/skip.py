"""A run whose key is published has nothing to do: found by peeking, before anything is read or opened."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ldp_core.catalogs.access import namespace, peek
from ldp_core.commit.claim import AlreadyPublished, Claim
from ldp_core.commit.verify import verified
from ldp_core.errors import TableNotFound
from ldp_core.fs import is_local
from ldp_core.plan.stages import Plan
from ldp_core.run.result import PipelineResult
from ldp_core.spi import WriteResult
from ldp_core.tables.view import TableView, of_local

if TYPE_CHECKING:
    from ldp_core.catalogs._peek import Peeked


def look(plan: Plan, run_id: str, attempt: int) -> None:
    """Stop a keyed run that need not begin; does nothing where nobody can peek, or there is no table.

    Raises:
        AlreadyPublished: Its key is published.
        LDPError: It may not publish: another config has the key, or its window overlaps a published one.
    """
    keyed = plan.keyed
    if keyed is None or keyed.key is None or keyed.adopt or plan.write.kind != "ICEBERG":
        return  # to adopt writes into the table
    spec = plan.write.spec.sub("catalog")
    peeked = peek(spec)
    if peeked is None:
        return
    try:
        found = peeked.metadata(namespace(spec), str(plan.write.spec.get("name")))
    except TableNotFound:
        return
    if found is None or not is_local(found.location):
        return
    view = view_of(found)
    claim = Claim.of(keyed, label(plan), run_id, attempt, mode(plan))
    published = claim.look(view)
    if published is not None:
        raise AlreadyPublished(str(keyed.key), published.snapshot, _rows(found.data), view.head)
    claim.check_overlap(verified(view, keyed.pipeline))


_seen: dict[str, tuple[dict[str, Any], TableView]] = {}


def view_of(found: Peeked) -> TableView:
    """The view of a peeked table; that of the same parsed file is used again, for windows one by one."""
    known = _seen.get(found.location)
    if known is not None and known[0] is found.data:
        return known[1]
    view = of_local(found.data)
    _seen.clear()
    _seen[found.location] = (found.data, view)
    return view


def skipped(plan: Plan, run_id: str, attempt: int, found: AlreadyPublished, started: float) -> PipelineResult:
    """The result of a run that had nothing to do."""
    wrote = WriteResult(
        table_identifier=label(plan),
        mode=mode(plan),
        rows_written=0,
        rows_before=found.rows,
        rows_after=found.rows,
        snapshot_id=found.head,
    )
    return PipelineResult(
        name=plan.identifier,
        rows_read=0,
        rows_written=0,
        write_result=wrote,
        quality=None,
        duration_s=time.monotonic() - started,
        status="skipped_duplicate",
        run_id=run_id,
        attempt=attempt,
        rows_kept=0,
        rows_in=0,
        spec_hash=plan.spec_hash,
        keyed=plan.keyed,
        published_in=found.snapshot,
    )


def label(plan: Plan) -> str:
    """``namespace.table`` of a plan into a table."""
    spec = plan.write.spec
    return f"{namespace(spec.sub('catalog'))}.{spec.get('name')}"


def mode(plan: Plan) -> str:
    """The write mode that holds."""
    return str(plan.write.mode or plan.write.spec.get("write_mode") or "append").lower()


def _rows(metadata: dict[str, Any]) -> int | None:
    from ldp_core.targets.iceberg import current

    return current(metadata)[1]
