"""Where the history of a config's dataset is: in its ``quality_store``, else in the table's own snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ldp_core.errors import Problem
from ldp_core.spi import Spec

from ldp_quality.history import ROWS, History, NoHistory, Past, Unkept

KIND = "metric_anomaly"
_NOWHERE = "no history of it is kept"
_HINT = "add quality_store to metadata.observability.sinks"


@dataclass(frozen=True)
class SnapshotHistory:
    """See ``History``: how many rows each publish wrote, as the snapshots on main say.

    Attributes:
        target: The target of the config.
        pipeline: The config's identifier; what other configs load into the table is no past of it.
        timezone: See ``History``.
    """

    target: Spec
    pipeline: str | None
    timezone: str

    def past(
        self,
        number: str,
        where: str | None,
        before: datetime,
        limit: int,
        keep: Callable[[datetime], bool] = lambda at: True,
    ) -> list[Past]:
        """See ``History``.

        Raises:
            NoHistory: It is about another number, or about some rows only.
        """
        if not _in_snapshots(number, where):
            raise NoHistory(f"{_NOWHERE}: {_HINT}")
        from ldp_core.catalogs.access import namespace
        from ldp_core.commit.summaries import WINDOW
        from ldp_core.errors import TableNotFound
        from ldp_core.query.open import open_table
        from ldp_core.query.refs import TableRef
        from ldp_core.tables.view import of_metadata
        from ldp_core.window.parse import parse_window

        catalog = self.target.sub("catalog")
        ref = TableRef(catalog, namespace(catalog), str(self.target.get("name")), "the quality section")
        try:
            view = of_metadata(*open_table(ref))
        except TableNotFound:
            return []
        found: dict[str, Past] = {}
        for snap in view.ancestors():
            if not self._is_load(snap.summary):
                continue
            # Of an upsert, the rows that were there already are of the batch, too.
            rows = sum(int(snap.summary.get(f"ldp.rows-{name}", "0")) for name in ("written", "unchanged"))
            window = snap.summary.get(WINDOW)
            at = parse_window(window).end if window else datetime.fromtimestamp(snap.at / 1000, UTC)
            key = window or str(snap.id)
            if at < before and keep(at) and key not in found:
                found[key] = Past(at, rows)
        return sorted(found.values(), key=lambda item: item.at, reverse=True)[:limit]

    def _is_load(self, summary: Mapping[str, str]) -> bool:
        """Whether a snapshot is a run of this config, and no requeue; those of older versions do not say."""
        from ldp_core.commit.summaries import PIPELINE, REQUEUED, RUN

        if RUN not in summary or REQUEUED in summary or not summary.get("ldp.rows-written", "").isdigit():
            return False
        return self.pipeline is None or summary.get(PIPELINE, self.pipeline) == self.pipeline


def history_of(spec: Spec) -> History:
    """The history of the dataset that a config loads.

    Args:
        spec: Its ``metadata``, with the target's catalog found, and the config's identifier.
    """
    window = spec.get("window")
    timezone = str((window.get("timezone") if isinstance(window, Mapping) else None) or "UTC")
    store = _store(spec)
    target = spec.sub("target")
    if store is None:
        is_table = isinstance(target.get("catalog"), Mapping)
        if not is_table:
            return Unkept(f"{_NOWHERE}: {_HINT}", timezone)
        return SnapshotHistory(target, spec.get("identifier"), timezone)
    from ldp_quality.store.history import KeptHistory
    from ldp_quality.store.sink import place_of

    return KeptHistory(
        place_of(store), store.get("password_env"), _dataset(target), spec.get("identifier"), timezone
    )


def problems(items: Sequence[Any], spec: Spec, place: str) -> list[Problem]:
    """Checks of a config that need a history which nobody keeps.

    Args:
        items: The checks.
        spec: The ``metadata`` of the config.
        place: The key of the list; empty for the section itself.
    """
    if _store(spec) is not None or spec.get("target") is None:
        return []
    return [
        Problem("needs a history of earlier runs, and none is kept", key=f"{place}[{at}]", hint=_HINT)
        for at, item in enumerate(items)
        if isinstance(item, Mapping)
        and str(item.get("check")).lower() == KIND
        and not (_in_snapshots(item.get("metric"), item.get("where")) and _is_table(spec))
    ]


def _in_snapshots(number: Any, where: Any) -> bool:
    """Whether a number stands in the summary of a snapshot."""
    return number == ROWS and where is None


def _is_table(spec: Spec) -> bool:
    target = spec.get("target")
    return isinstance(target, Mapping) and str(target.get("format", "")).upper() == "ICEBERG"


def _store(spec: Spec) -> Spec | None:
    """The options of the first quality store among the config's sinks."""
    from ldp_core.config.sections.observability import sinks

    section = spec.get("observability")
    listed = sinks(section) if isinstance(section, Mapping) else []
    found = next((item for item in listed if str(item.get("type")).lower() == "quality_store"), None)
    return None if found is None else Spec(found, spec.base_dir, "metadata.observability", spec.file)


def _dataset(target: Spec) -> str:
    """What the events of a run call the target."""
    if isinstance(target.get("catalog"), Mapping):
        from ldp_core.catalogs.access import namespace

        return f"{namespace(target.sub('catalog'))}.{target.get('name')}"
    from ldp_core.config.secrets import mask

    path = target.path(str(target.get("path")))
    return mask(path if "://" in path else str(Path(path).absolute()))
