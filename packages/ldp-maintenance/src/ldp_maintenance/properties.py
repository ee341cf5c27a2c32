"""``apply-properties``: the table properties that the policy wants, in one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ldp_core.commit.change import Base
from ldp_core.errors import LDPError, UsageError

from ldp_maintenance.deleting import Doomed, delete_files
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.updates import Step, change_metadata, refuse_unwritable

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

OPERATION: Final = "apply-properties"
_KEYS = "ldp.keys."


def apply_properties(target: Target, doing: Doing) -> Outcome:
    """Set and remove table properties so that they are as the policy says.

    Args:
        target: The table and its policy; ``policy.properties`` with None as a value removes one.
        doing: How; a preview unless ``commit``.

    Raises:
        UsageError: The policy sets the ledger of keys, which only publishes write.
        Refused: The metadata cannot be written.
        LDPError: The commit failed.
    """
    wanted = target.policy.properties
    if own := next((name for name in wanted if name.startswith(_KEYS)), None):
        raise UsageError(
            f"{own} is the ledger of keys, and no setting", hint="leave it to ldp run and ldp keys"
        )
    base = target.base()
    changes, removed = _difference(base.metadata, target)
    stranded = _stranded(base)
    detail: dict[str, Any] = {
        "set": changes,
        "removed_properties": removed,
        "stranded_metadata_files": stranded,
    }
    lines = [f"{name} = {value}" for name, value in changes.items()]
    lines += [f"{name} removed" for name in removed]
    if stranded:
        lines.append(
            f"{stranded} older metadata files are in no log any more: remove-orphans takes them in time"
        )
    if not changes and not removed:
        return Outcome(
            OPERATION, "nothing", "the properties are as they should be", detail=detail, lines=tuple(lines)
        )
    if not doing.commit:
        return Outcome(OPERATION, "preview", detail=detail, lines=tuple(lines))
    refuse_unwritable(base, OPERATION)

    def build(base: Base) -> Step | None:
        from pyiceberg.table.update import RemovePropertiesUpdate, SetPropertiesUpdate

        changes, removed = _difference(base.metadata, target)
        updates: list[Any] = []
        if changes:
            updates.append(SetPropertiesUpdate(updates=changes))
        if removed:
            updates.append(RemovePropertiesUpdate(removals=removed))
        return Step(tuple(updates), lambda after: not any(_difference(after, target))) if updates else None

    landed = change_metadata(base, build)
    if landed is not None and landed.trimmed:
        doomed = [Doomed(path, "metadata file that fell out of the log") for path in landed.trimmed]
        detail |= delete_files(base.io, doomed, doing, table=target.name, operation=OPERATION).to_dict()
    return Outcome(OPERATION, "done", detail=detail, lines=tuple(lines))


def _difference(metadata: TableMetadata, target: Target) -> tuple[dict[str, str], list[str]]:
    """What has to be set, and what removed."""
    there = metadata.properties
    wanted = target.policy.properties
    changes = {k: str(v) for k, v in sorted(wanted.items()) if v is not None and there.get(k) != str(v)}
    return changes, sorted(name for name, value in wanted.items() if value is None and name in there)


def _stranded(base: Base) -> int | None:
    """How many metadata files are in no log any more; None where storage cannot be listed."""
    from ldp_maintenance.orphans.listing import list_files, refuse_unlistable
    from ldp_maintenance.places import Places

    places = Places()
    try:
        refuse_unlistable(base)
        listed = list_files(base.metadata_location.rpartition("/")[0], base.io.properties)
    except LDPError:
        return None
    known = {base.metadata_location, *(entry.metadata_file for entry in base.metadata.metadata_log)}
    keys = {places.key(path) for path in known}
    files = (
        item for item in listed if ".metadata.json" in item.relative and not item.relative.startswith(".")
    )
    return sum(places.key(item.uri) not in keys for item in files)
