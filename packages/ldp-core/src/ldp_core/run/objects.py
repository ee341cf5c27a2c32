"""Python objects as stages: tables, functions, formats and checks go through the same runner as configs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core._duck import ident
from ldp_core.errors import ConfigError, Problem, SourceError
from ldp_core.plan.stages import Check, Read, Reshape, Write
from ldp_core.shape import Shape
from ldp_core.spi import Extract, Loss, PreparedGate, RunContext, Spec

if TYPE_CHECKING:
    import pyarrow as pa

_names = count(1)
_NOTHING = Shape(keys=())


@dataclass(frozen=True)
class TableExtract:
    """An Arrow table as an extract.

    Attributes:
        sql: A SELECT of it.
        table: The table, which must live as long as it is read.
    """

    sql: str
    table: pa.Table

    @property
    def schema(self) -> pa.Schema:
        """The table's schema."""
        schema: pa.Schema = self.table.schema
        return schema

    @property
    def follows_values(self) -> bool:
        """Arrow has types of its own."""
        return False

    @property
    def rows(self) -> int | None:
        """Rows in the table."""
        return int(self.table.num_rows)

    @property
    def files(self) -> tuple[str, ...]:
        """None: it is in memory."""
        return ()

    @property
    def rejects(self) -> str | None:
        """None: every row is read, or the run ends."""
        return None

    def losses(self) -> tuple[Loss, ...]:
        """None: its values are read as they are."""
        return ()

    def after(self, error: Exception) -> Extract:
        """There are no better types than those of the table."""
        raise error


@dataclass(frozen=True)
class TableSource:
    """Anything that gives an Arrow table, as a source.

    Attributes:
        get: Gives the table; called once a run.
        name: What ``plan`` calls it.
    """

    get: Callable[[], pa.Table]
    name: str
    shape = _NOTHING

    def problems(self, spec: Spec) -> list[Problem]:
        """None."""
        return []

    def describe(self, spec: Spec) -> str:
        """Its name."""
        return self.name

    def missing(self, spec: Spec) -> str | None:
        """It is there."""
        return None

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Take the table.

        Raises:
            SourceError: What it gives is no table.
        """
        table = as_table(self.get(), self.name)
        return TableExtract(register(ctx, table), table)


@dataclass(frozen=True)
class FunctionTransform:
    """A Python function from table to table, as a transform; it holds the whole table in memory."""

    function: Callable[[pa.Table], pa.Table]
    shape = _NOTHING

    def problems(self, spec: Spec) -> list[Problem]:
        """None."""
        return []

    def apply(self, spec: Spec, sql: str, schema: pa.Schema, ctx: RunContext) -> tuple[str, pa.Schema]:
        """Compute the rows so far, call the function, go on with what it gives."""
        name = getattr(self.function, "__name__", "transform")
        rows = ctx.con.sql(sql).to_arrow_table()
        table = as_table(self.function(rows), name)
        return register(ctx, table), table.schema


def as_table(value: Any, name: str) -> pa.Table:
    """A table from what Python code gives: a table, a batch, a reader, or any object that speaks Arrow.

    Raises:
        SourceError: It is none of these.
    """
    import pyarrow as pa

    if isinstance(value, pa.Table):
        return value
    if isinstance(value, pa.RecordBatchReader):
        return value.read_all()
    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value])
    if hasattr(value, "__arrow_c_stream__"):
        return pa.table(value)
    if type(value).__module__.startswith("pandas."):
        return pa.Table.from_pandas(value, preserve_index=False)
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return pa.Table.from_pylist(value)
    raise SourceError(
        f"{name} gives {type(value).__name__}, not a table", hint="return a pyarrow.Table or a data frame"
    )


def register(ctx: RunContext, table: pa.Table) -> str:
    """SQL that reads a table on the run's connection."""
    name = f"ldp_object_{next(_names)}"
    ctx.con.register(name, table)
    return f"SELECT * FROM {ident(name)}"


def endpoint(value: Any) -> tuple[str, Spec] | None:
    """The entry name and the spec of a format object; None where it is none."""
    from ldp_core.targets.formats import CSV, Iceberg, Parquet

    if isinstance(value, Iceberg):
        return "ICEBERG", value.spec
    if isinstance(value, CSV | Parquet):
        values = {"name": value.name, "path": value.path}
        return value.format, Spec(values, value.base_dir, value.name)
    return None


def read_stage(source: Any) -> Read:
    """A source given in Python: a format such as ``CSV``, a table, or a function that returns one.

    Raises:
        ConfigError: It is none of these.
    """
    known = endpoint(source)
    if known is not None:
        kind, spec = known
        return Read(kind, registry.load("ldp.sources", kind), spec)
    name = str(getattr(source, "name", None) or getattr(source, "__name__", None) or type(source).__name__)
    get = getattr(source, "get", None) if not hasattr(source, "__arrow_c_stream__") else None
    if not callable(get):
        if not callable(source) and not hasattr(source, "__arrow_c_stream__"):
            raise ConfigError(
                f"source: {type(source).__name__} is no source",
                hint="give CSV(...), Iceberg(...), a pyarrow.Table or a function that returns one",
            )
        get = source if callable(source) else lambda: source
    return Read("PYTHON", TableSource(get, name), Spec({"name": name}, Path.cwd(), "source"))


def write_stage(target: Any, mode: str | None = None) -> Write:
    """A target given in Python: a format such as ``Iceberg``.

    Raises:
        ConfigError: It is none.
    """
    known = endpoint(target)
    if known is not None:
        kind, spec = known
        return Write(kind, registry.load("ldp.targets", kind), spec, mode)
    raise ConfigError(
        f"target: {type(target).__name__} is no target",
        hint="give Iceberg(...), CSV(...) or Parquet(...)",
    )


def reshape_stages(transforms: Sequence[Callable[[Any], Any]]) -> tuple[Reshape, ...]:
    """Functions from table to table, in order.

    Raises:
        ConfigError: One cannot be called.
    """
    stages = []
    for function in transforms:
        if not callable(function):
            raise ConfigError(f"transforms: {type(function).__name__} cannot be called")
        name = getattr(function, "__name__", type(function).__name__)
        stages.append(Reshape("python", FunctionTransform(function), Spec({"python": name}, Path.cwd())))
    return tuple(stages)


def check_stages(checks: Sequence[Any], on_failure: str | None) -> tuple[Check, ...]:
    """Checks given in Python: of ldp-quality, or as a config has them.

    Raises:
        ConfigError: There are checks and ldp-quality is not installed, or on_failure is no word it knows.
    """
    if not checks:
        return ()
    how = on_failure or "fail"
    if how not in ("fail", "warn", "quarantine"):
        raise ConfigError(f"on_failure must be fail, warn or quarantine, not {how!r}")
    if registry.find("ldp.gates", "quality") is None:
        raise ConfigError("checks need the quality gate", hint="pip install ldp-quality")
    items = list(checks)

    def prepare() -> PreparedGate:
        prepared: PreparedGate = registry.load("ldp.gates", "quality").of(items, how)
        return prepared

    count = f"{len(items)} {'check' if len(items) == 1 else 'checks'}"
    return (Check("quality", f"{count}, on_failure={how}", prepare),)
