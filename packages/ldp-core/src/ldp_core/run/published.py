"""Which of many windows are published, told by one look at the table's metadata. Creates nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as changed

from ldp_core.catalogs.access import namespace, peek
from ldp_core.catalogs.tables import load_table
from ldp_core.commit.claim import Claim
from ldp_core.commit.ledger import read, read_all
from ldp_core.commit.summaries import in_summaries
from ldp_core.commit.verify import KeysUnknown, verified
from ldp_core.errors import TableNotFound, UsageError
from ldp_core.fs import is_local
from ldp_core.plan.keyed import keys_of
from ldp_core.plan.stages import Plan
from ldp_core.run.skip import label, mode, view_of
from ldp_core.tables.view import TableView, of_metadata
from ldp_core.window.model import Window


def published(
    plan: Plan, windows: Sequence[Window], *, replace: bool = False, keys: Sequence[str] | None = None
) -> list[bool]:
    """Which windows main holds the key of.

    The metadata is read once, by peeking where that is possible. A table or a catalog that does not exist
    holds no key.

    Args:
        plan: The stages of a config that writes into a table.
        windows: The windows.
        replace: Whether the keys are those under which windows are replaced.
        keys: The keys of the windows, where they are known already.

    Raises:
        UsageError: The target carries no keys.
        LDPError: What stops a run of one of the windows, too: another config has the key, nobody can tell
            which keys are published, the catalog does not answer.
    """
    if plan.keyed is None or plan.write.kind != "ICEBERG":
        raise UsageError(f"the target of {plan.identifier} is no table, and carries no keys")
    view = _view(plan)
    if view is None:
        return [False] * len(windows)
    name, how = label(plan), mode(plan)
    seen = _seen(view, plan.identifier, Claim.of(plan.keyed, name, "", 1, how))
    found = []
    for window, key in zip(windows, keys or keys_of(plan, windows, replace=replace), strict=True):
        if seen is not None and seen(key, None if replace else window):
            found.append(True)
            continue
        keyed = changed(plan.keyed, key=key, start=window.start, end=window.end)
        found.append(Claim.of(keyed, name, "", 1, how).look(view) is not None)
    return found


def _seen(view: TableView, pipeline: str, claim: Claim) -> Callable[[str, Window | None], bool] | None:
    """Sees at once that a key is on main, where it can; it never errs, and what it does not see may be there.

    None where more than one config is known to have published: a key may then be another one's.
    """
    if any(ledger.who not in ((), (claim.who,)) for ledger in read_all(view.properties)):
        return None
    own = read(view.properties, pipeline)
    folded = own.windows if own is not None and own.target == claim.target else ()
    if folded:
        try:
            known = verified(view, pipeline)
        except KeysUnknown:  # the look that follows says so, where it matters
            known = None
        folded = known.windows if known is not None else ()

    def seen(key: str, window: Window | None) -> bool:
        if in_summaries(view, key) is not None:
            return True
        return window is not None and any(interval.holds(window) for interval in folded)

    return seen


def _view(plan: Plan) -> TableView | None:
    """The table as it is now; None where there is none."""
    spec = plan.write.spec.sub("catalog")
    name = str(plan.write.spec.get("name"))
    try:
        peeked = peek(spec)
        if peeked is not None:
            found = peeked.metadata(namespace(spec), name)
            if found is None:
                return None
            if is_local(found.location):
                return view_of(found)
        table = load_table(spec, name)
    except TableNotFound:
        return None
    return of_metadata(table.metadata, table.io)
