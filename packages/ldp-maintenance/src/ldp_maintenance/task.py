"""The task kind ``maintain``: upkeep of a config's table after it was loaded. A dry run unless ``apply``."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, LDPError, Problem
from ldp_core.shape import Bool, Int, Key, Number, Shape, Text
from ldp_core.spi import Task, TaskCall, TaskInfo, TaskResult
from ldp_core.window import Window

if TYPE_CHECKING:
    from ldp_core.config import Config

    from ldp_maintenance.maintenance import Maintained
    from ldp_maintenance.model import Operation

logger = logging.getLogger("ldp")

SHAPE = Shape(
    keys=(
        Key(
            "config",
            Text(pattern=r"\S"),
            "The config whose table is looked after, relative to the workflow file.",
            required=True,
        ),
        Key("expire", Number(min=0), "Expire snapshots that are older than so many days."),
        Key("orphans", Bool(), "Remove orphan files.", default=False),
        Key("apply", Bool(), "Commit; else it is a dry run.", default=False),
        Key("retain_last", Int(min=1), "The newest so many snapshots stay, too."),
        Key("orphan_age_hours", Number(min=0), "Younger files stay."),
        Key("keep_metadata_versions", Int(min=1), "Only so many old metadata files stay."),
    ),
    doc="Looks after the table of a config, as `ldp maintain` does: with `expire` or `orphans` only that, "
    "else all that is due.",
)
_PLACES = {
    "expire": "expire.max_snapshot_age_days",
    "retain_last": "expire.keep_last",
    "keep_metadata_versions": "expire.keep_metadata_versions",
}


class MaintainKind:
    """The kind."""

    shape = SHAPE

    def open(self, task: Task) -> OpenMaintain:
        """The task; its config is read when something is asked of it."""
        return OpenMaintain(task)


class OpenMaintain:
    """A task that looks after a table.

    Args:
        task: The task.
    """

    vouched = False
    counts = False
    side_by_side = False

    def __init__(self, task: Task) -> None:
        self.task = task
        self._said: Mapping[str, Any] = task.value

    @cached_property
    def _config(self) -> Config:
        from ldp_core.config import Config

        return Config.of_task(self.task, self._said["config"])

    def problems(self, *, replace: bool = False) -> list[Problem]:
        """What is wrong with the config as far as its table is concerned, and zeros that nobody typed."""
        del replace
        key = self.task.kind
        found = [
            Problem(
                "0 is only taken from a command line: it would delete what others may still be using",
                key=f"{key}.{name}",
            )
            for name in ("expire", "orphan_age_hours")
            if self._said.get(name) == 0 and self._said.get("apply")
        ]
        if self._said.get("keep_metadata_versions") and self._only() == ["remove-orphans"]:
            found.append(Problem("belongs to the expiry of snapshots", key=f"{key}.keep_metadata_versions"))
        try:
            config = self._config
            for part in ("target", "maintenance"):
                config.validate(part)
            if "catalog" not in config.spec("target").values:
                found.append(Problem("the config's target is no Iceberg table", key=f"{key}.config"))
        except ConfigError as error:
            found += error.about(f"{key}.config")
        return found

    def info(self, window: Window | None, *, replace: bool = False) -> TaskInfo:
        """The table, and whether anything is committed. It reads and writes no rows."""
        del window, replace
        from ldp_core.catalogs.access import namespace

        target = self._config.spec("target")
        label = f"{namespace(target.sub('catalog'))}.{target.get('name')}"
        only = self._only()
        what = " and ".join(only) if only else "all that is due"
        dry = "" if self._said.get("apply") else "; a dry run, for apply is not true"
        return TaskInfo(target=label, notes=(f"{what}{dry}",))

    def done(self, windows: Sequence[Window], *, replace: bool = False) -> list[bool]:
        """It has no key and runs each time."""
        del replace
        return [False] * len(windows)

    def keys(self, windows: Sequence[Window], *, replace: bool = False) -> list[str]:
        """It has no keys."""
        del windows, replace
        return []

    def inputs(self, window: Window | None) -> list[str]:
        """The config."""
        del window
        return [str(Path(self.task.base_dir, self._said["config"]))]

    def _only(self) -> list[Operation] | None:
        """The operations that it names; None for all that is due."""
        found: list[Operation] = []
        if self._said.get("expire") is not None:
            found.append("expire-snapshots")
        if self._said.get("orphans"):
            found.append("remove-orphans")
        return found or None

    def _settings(self) -> dict[str, Any]:
        said = self._said
        found = {place: said[name] for name, place in _PLACES.items() if said.get(name) is not None}
        if said.get("orphan_age_hours") is not None:
            found["orphans.older_than_days"] = said["orphan_age_hours"] / 24
        if said.get("expire") is not None:
            found["expire.enabled"] = True
        if said.get("orphans"):
            found["orphans.enabled"] = True
        return found

    def run(self, call: TaskCall) -> TaskResult:
        """Look after the table.

        Raises:
            LDPError: An operation was refused or failed; the others were done.
        """
        from contextlib import closing

        from ldp_maintenance.addressing import of_config
        from ldp_maintenance.maintenance import Maintenance
        from ldp_maintenance.model import Doing
        from ldp_maintenance.telling import audit_of, tell

        config = self._config
        found = of_config(config)
        commit = bool(self._said.get("apply"))
        names = {"workflow": call.workflow, "task": self.task.id}

        def told(made: Maintained) -> None:
            tell(
                made,
                config,
                warn=logger.warning,
                run_id=call.run_id,
                attempt=call.attempt,
                sinks=call.sinks,
                names=names,
                clock=call.clock,
            )

        with closing(audit_of(config)) as audit:
            how = Doing(memory_limit=call.memory_limit, clock=call.clock, audit=audit, written_out=not commit)
            target = found.target(found.identifiers[0], self._settings())
            made = Maintenance(target).run(self._only(), commit=commit, doing=how, tell=told)
        for one in made.errors:
            raise one.error if isinstance(one.error, LDPError) else LDPError(f"{one.operation}: {one.reason}")
        return TaskResult(
            "succeeded",
            tables=(made.table,) if made.changed else (),
            snapshot_id=next((item for one in made.outcomes[::-1] for item in one.snapshots), None),
            detail=made.to_dict(),
        )


KIND = MaintainKind()
