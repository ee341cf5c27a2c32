"""The task kind ``contract``: a contract tested on rows that are there, a gate between tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, DataQualityError, LDPError, Problem
from ldp_core.fs import is_local
from ldp_core.shape import Key, ListOf, MapOf, Scalar, Shape, Text
from ldp_core.spi import TableName, Task, TaskCall, TaskInfo, TaskResult
from ldp_core.window import Window

if TYPE_CHECKING:
    from ldp_core.spi import Spec

    from ldp_quality.commands._rows import Rows
    from ldp_quality.contract.model import Contract

_SOME = Text(pattern=r"\S")
_FORMATS = ("CSV", "JSONL", "PARQUET", "XLSX")
SHAPE = Shape(
    keys=(
        Key("contract", _SOME, "The contract, a path relative to the workflow file.", required=True),
        Key("target", _SOME, "The rows: a config that loads a table, a table, a file, or a folder."),
        Key("postgres", _SOME, "The rows: a database, `postgresql://user@host/database`."),
        Key("server", _SOME, "The rows: one of the contract's own servers."),
        Key("table", _SOME, "A table of the contract, or namespace.table where its rows are."),
        Key("where", _SOME, "Only the rows for which this condition is true."),
        Key(
            "format",
            Text(choices=_FORMATS, ignore_case=True),
            "What a file holds; else as it is named.",
        ),
        Key("password_env", _SOME, "The environment variable that holds the database's password."),
        Key("in", ListOf(_SOME, or_single=True), "Where a table is searched: configs and folders."),
        Key("vars", MapOf(Scalar()), "Values of the contract's variables."),
        Key(
            "on_failure",
            Text(choices=("fail", "warn"), ignore_case=True),
            "What a rule that fails does: hold back the tasks that depend on this one, or warn.",
            default="fail",
        ),
    ),
    exactly_one=(("target", "postgres", "server"),),
    doc="Tests every rule of a contract on rows that are there, as `ldp contract test` does. Writes nothing.",
)


class ContractKind:
    """The kind."""

    shape = SHAPE

    def open(self, task: Task) -> OpenContract:
        """The task; the contract is read when something is asked of it."""
        return OpenContract(task)


class OpenContract:
    """A task that tests a contract.

    Args:
        task: The task.
    """

    vouched = False
    counts = True
    side_by_side = False  # it looks at a whole table, which windows that are loaded meanwhile would change

    def __init__(self, task: Task) -> None:
        self.task = task
        self._said: Mapping[str, Any] = task.value

    def _path(self, word: str) -> str:
        """A path of the workflow file."""
        return word if "://" in word else str(Path(self.task.base_dir, word))

    @cached_property
    def _contract(self) -> Contract:
        from ldp_quality.contract.model import Contract

        return Contract.from_file(self._path(self._said["contract"]), self._said.get("vars"))

    @property
    def _target(self) -> str | None:
        """The word for the rows: what is or looks like a file starts at the workflow file."""
        word = self._said.get("target")
        if word is None or not is_local(word):
            return word
        from ldp_core.commands._draft import KINDS

        suffix = Path(word).suffix.lower()
        of_file = suffix in (*KINDS, ".json", ".yaml", ".yml", ".gz", ".zst") or any(
            s in word for s in "/*?["
        )
        return self._path(word) if of_file or Path(self.task.base_dir, word).exists() else str(word)

    def _rows(self) -> Rows:
        from ldp_quality.commands._rows import Wanted, rows_of

        said = self._said
        password = said.get("password_env")
        form = said["format"].upper() if said.get("format") else None
        wanted = Wanted(
            self._target,
            said.get("postgres"),
            said.get("table"),
            form,
            password,
            self.task.env,
            self._places(),
            said.get("server"),
        )
        return rows_of(self._contract, wanted)

    def problems(self, *, replace: bool = False) -> list[Problem]:
        """What is wrong with the contract, or with the config that loads the rows."""
        del replace
        found: list[Problem] = []
        for key, look in (("contract", lambda: self._contract), ("target", self._loader)):
            try:
                look()
            except ConfigError as error:
                found += error.about(f"{self.task.kind}.{key}")
        return found

    def _loader(self) -> None:
        """Check the config that loads the rows, as far as they are concerned."""
        config = self._config()
        if config is not None:
            config.validate("target")

    def _config(self) -> Any:
        """The config that loads the rows; None where they are named otherwise."""
        from ldp_core.config import Config

        from ldp_quality.commands._named import is_config

        word = self._target
        if word is None or self._said.get("format") or not is_config(word):
            return None
        return Config.of_task(self.task, self._said["target"])

    def info(self, window: Window | None, *, replace: bool = False) -> TaskInfo:
        """The rows that it looks at."""
        del window, replace
        said = self._said
        what = said.get("target") or said.get("postgres") or f"server {said.get('server')}"
        table = f" ({said['table']})" if said.get("table") else ""
        return TaskInfo(target=f"{what}{table}", reads=tuple(self._reads()))

    def _reads(self) -> Iterator[TableName]:
        from ldp_core.plan.ends import file_name, names, table_name

        config, word = self._config(), self._target
        if config is not None:
            yield from names(config.spec("target"))
        elif word is not None and Path(word).is_absolute():
            yield file_name(word)
        elif word is not None and "://" not in word:
            space, _, name = word.rpartition(".")
            for catalog in self._catalogs():
                yield table_name(catalog, name, space)

    def _catalogs(self) -> list[Spec]:
        """The catalogs that may have the table; none where a place cannot be searched."""
        from ldp_core.commands._lookup import catalogs_of

        try:
            return catalogs_of(self._places(), self.task.env)
        except LDPError:
            return []

    def _places(self) -> tuple[str, ...]:
        """Where a table is searched."""
        given = self._said.get("in") or ["."]
        return tuple(self._path(place) for place in ([given] if isinstance(given, str) else given))

    def done(self, windows: Sequence[Window], *, replace: bool = False) -> list[bool]:
        """Nothing on main says that a contract was tested."""
        del replace
        return [False] * len(windows)

    def keys(self, windows: Sequence[Window], *, replace: bool = False) -> list[str]:
        """It has no keys."""
        del windows, replace
        return []

    def inputs(self, window: Window | None) -> list[str]:
        """The contract, and the file that the rows are in or that loads them."""
        del window
        word = self._target
        own = [word] if word is not None and Path(word).is_absolute() else []
        return [self._path(self._said["contract"]), *own]

    def run(self, call: TaskCall) -> TaskResult:
        """Test the contract. Freshness is measured at the end of the window, where there is one.

        Raises:
            DataQualityError: A rule fails, or could not be evaluated.
            LDPError: The rows cannot be read.
        """
        from dataclasses import replace

        from ldp_quality.contract.trial import try_contract
        from ldp_quality.engine import context_of

        rows = self._rows()
        context = context_of({"now": call.window.end if call.window else call.clock()})
        found = try_contract(
            self._contract,
            rows.table,
            rows.source,
            where=self._said.get("where"),
            context=replace(context, base_dir=rows.base_dir),
            memory_limit=call.memory_limit,
        )
        contract = self._contract
        name = f"contract {contract.id} {contract.version} on {rows.label}"
        text = f"{name}: {found.report.summary()}"
        if found.failed and str(self._said.get("on_failure") or "fail").lower() != "warn":
            raise DataQualityError(text, found.report)
        told = {"contract": {"id": contract.id, "version": contract.version}, "counts": found.counts}
        return TaskResult(
            "succeeded",
            rows_read=found.rows,
            warnings=(text,) if found.failed else (),
            detail={**told, "status": found.report.to_dict()["status"]},
        )


KIND = ContractKind()
