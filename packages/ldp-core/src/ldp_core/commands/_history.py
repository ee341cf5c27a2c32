"""Where the history of runs is: a ledger, or the tables of the Iceberg sink."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import TableNotFound, UsageError
from ldp_core.events import jsonl
from ldp_core.events.executions import executions, is_of_a_run
from ldp_core.events.fold import RunState, fold_attempts, newest
from ldp_core.fs import is_local

if TYPE_CHECKING:
    from ldp_core.spi import Spec

_CONFIGS = (".json", ".yaml", ".yml")


@dataclass(frozen=True)
class History:
    """What a command line names.

    Attributes:
        label: Where it is, for people.
        ledgers: The files of events.
        only: The config whose runs are meant: its identifier.
        tables: The catalog and the namespace of the Iceberg sink.
    """

    label: str
    ledgers: tuple[Path, ...] = ()
    only: str | None = None
    tables: tuple[Spec, str] | None = None

    def attempts(self, limit: int | None, run: str | None = None) -> list[RunState]:
        """The attempts of the runs that began last, newest first; the ledger is not read further than needed.

        Args:
            limit: How many runs; None for all.
            run: The runs whose id begins so.
        """
        if self.tables is not None:
            from ldp_core.sinks.history import read_runs

            try:
                found = read_runs(*self.tables, str(self.only))
            except TableNotFound:
                return []
            return [state for state in found if run is None or state.run_id.startswith(run)]
        return fold_attempts(self.events(limit, run))

    def events(self, limit: int | None, run: str | None = None) -> Iterator[dict[str, Any]]:
        """The events of those runs, newest first."""
        for path in self.ledgers:
            read: Iterable[Any] = jsonl.read_back(path)
            if limit is not None and run is None:
                read = newest(read, limit, self._mine)
            kept = list(read)
            mine = {
                event["event_id"]
                for made in executions(kept)
                if made.run_id.startswith(run or "") and any(map(self._mine, made.events))
                for event in made.events
            }
            for event in kept:
                if event["event_id"] in mine or not is_of_a_run(event):
                    yield event

    def _mine(self, event: Any) -> bool:
        payload = event.get("payload") or {}
        named = (payload.get("pipeline"), payload.get("workflow"))
        return self.only is None or (str(event["type"]).endswith(".started") and self.only in named)


def find_history(place: str, env: str | None) -> History:
    """The history that a ledger, a config or a folder stands for.

    Raises:
        UsageError: There is nothing of that name.
        ConfigError: It is no valid config.
    """
    path = Path(place)
    if path.is_dir():
        ledger = path / jsonl.DEFAULT_PATH
        return History(str(ledger), (ledger,))
    if path.suffix in _CONFIGS and path.is_file():
        return _of_config(path, env)
    if jsonl.exists(path):
        return History(str(path), (path,))
    raise UsageError(f"there is no ledger, config or folder {place}")


def _of_config(path: Path, env: str | None) -> History:
    from ldp_core.config.load import load_document
    from ldp_core.config.sections.observability import sinks
    from ldp_core.spi import Spec

    document = load_document(path)
    metadata = document.data.get("metadata")
    section = metadata.get("observability") if isinstance(metadata, dict) else None
    wanted = sinks(section) if isinstance(section, dict) else []
    spec = Spec({}, path.parent)
    named = [str(item.get("path") or jsonl.DEFAULT_PATH) for item in wanted if item.get("type") == "jsonl"]
    files = dict.fromkeys(Path(spec.path(name)) for name in (*named, jsonl.DEFAULT_PATH) if is_local(name))
    ledgers = tuple(file for file in files if jsonl.exists(file))
    only = str(document.data.get("identifier") or "")
    tables = next((item for item in wanted if item.get("type") == "iceberg"), None)
    if ledgers or tables is None:
        return History(", ".join(str(file) for file in ledgers or files), ledgers, only)
    return _of_tables(path, tables, only, env)


def _of_tables(path: Path, sink: dict[str, Any], only: str, env: str | None) -> History:
    from ldp_core.config import Config
    from ldp_core.sinks.iceberg import NAMESPACE, catalog_of
    from ldp_core.sinks.rows import RUNS
    from ldp_core.spi import Spec

    config = Config.from_file(str(path), env=env)
    config.validate("target")
    given = {"catalog": config.spec("target").get("catalog"), **sink}
    catalog = catalog_of(Spec(given, config.base_dir, "metadata.observability", str(path)), env)
    namespace = str(sink.get("namespace") or NAMESPACE)
    return History(f"{namespace}.{RUNS}", (), only, (catalog, namespace))
