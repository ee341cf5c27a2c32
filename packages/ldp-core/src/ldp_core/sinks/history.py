"""Reading the history that the Iceberg sink keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ldp_core.catalogs.tables import load_table
from ldp_core.events.fold import RunState
from ldp_core.sinks.rows import RUNS
from ldp_core.spi import Spec


def read_runs(catalog: Spec, namespace: str, pipeline: str) -> list[RunState]:
    """The attempts of a pipeline's runs, the one that began last first.

    Args:
        catalog: The catalog of the sink.
        namespace: The namespace of its tables.
        pipeline: The identifier of the config.

    Raises:
        TableNotFound: There is no history.
    """
    import pyarrow.compute as pc

    table = load_table(catalog, RUNS, namespace=namespace)
    rows = table.scan().to_arrow().filter(pc.field("pipeline") == pipeline).to_pylist()
    states = [_state(row) for row in rows]
    return sorted(states, key=lambda state: (state.started or "", state.run_id, state.attempt), reverse=True)


def _state(row: dict[str, Any]) -> RunState:
    known = {name: _plain(value) for name, value in row.items() if name in RunState.__dataclass_fields__}
    snapshot = known.get("snapshot_id")
    return RunState(**{**known, "snapshot_id": None if snapshot is None else str(snapshot)})


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value
