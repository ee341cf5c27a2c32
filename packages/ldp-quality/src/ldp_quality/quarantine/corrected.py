"""A corrected file of a config's source, beside the rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ldp_core.errors import UsageError
from ldp_core.run.windowed import kept_sql
from ldp_core.spi import Extract, Keyed, Loss, RunContext
from ldp_core.tables.fit import fit

from ldp_quality.quarantine.extract import BatchExtract

if TYPE_CHECKING:
    import pyarrow as pa
    from ldp_core.plan.stages import Read, Reshape


@dataclass(frozen=True)
class Corrected:
    """A corrected source file.

    Attributes:
        read: The config's own source, with another path.
        transforms: The config's own.
        keyed: The window of the batch, with the column that selects its rows.
    """

    read: Read
    transforms: tuple[Reshape, ...]
    keyed: Keyed

    def sql(self, file: Extract, wanted: pa.Schema, ctx: RunContext) -> str:
        """The rows of the file as a load of the config has them, in the types of the table."""
        sql, schema = kept_sql(self.keyed, file), file.schema
        for step in self.transforms:
            sql, schema = step.transform.apply(step.spec, sql, schema, ctx)
        columns = self.read.spec.get("columns") or {}
        loose = [name for name, said in columns.items() if isinstance(said, Mapping) and said.get("loss")]
        follows = file.follows_values
        return fit(sql, schema, wanted, follows_values=follows, schema_evolution=False, allow=loose).sql


@dataclass(frozen=True)
class JoinedExtract:
    """The rows of a batch and those of a corrected file.

    Attributes:
        sql: All of them.
        batch: The rows of the batch.
        file: The file, open.
        corrected: How it is read.
        ctx: The run.
    """

    sql: str
    batch: BatchExtract
    file: Extract
    corrected: Corrected
    ctx: RunContext
    rows: int | None = None
    follows_values = False

    @property
    def schema(self) -> pa.Schema:
        """The table's types."""
        return self.batch.schema

    @property
    def files(self) -> tuple[str, ...]:
        """Those of the corrected source."""
        return self.file.files

    @property
    def rejects(self) -> str | None:
        """The rows that stay put aside, and those of the corrected file that cannot be read either."""
        parts = [sql for sql in (self.batch.rejects, self.file.rejects) if sql is not None]
        return " UNION ALL BY NAME ".join(f"({sql})" for sql in parts) or None

    def losses(self) -> tuple[Loss, ...]:
        """Those of the corrected file."""
        return self.file.losses()

    def after(self, error: Exception) -> Extract:
        """The corrected file may have better types to offer."""
        return with_file(self.corrected, self.batch, self.ctx, self.file.after(error))


def opened(corrected: Corrected, batch: BatchExtract, ctx: RunContext, lines: int) -> JoinedExtract:
    """The rows of a batch and those of a corrected file, which has no other rows than those it corrects.

    Args:
        corrected: The file.
        batch: The rows of the batch.
        ctx: The run.
        lines: How many lines could not be read.

    Raises:
        UsageError: The file has more rows: what was loaded already would be loaded twice.
        LDPError: It cannot be read, or does not fit the table.
    """
    import duckdb

    label = corrected.read.spec.get("path")
    if not lines:
        raise UsageError(
            f"--source {label}: no row of the batch is left that could not be read",
            hint="correct their values with --rows FILE",
        )
    wanted = None if corrected.transforms else batch.schema
    file = corrected.read.source.open(corrected.read.spec, ctx, wanted)
    while True:
        try:
            parts = [kept_sql(corrected.keyed, file), *filter(None, [file.rejects])]
            rows = sum(
                int(ctx.con.execute(f"SELECT count(*) FROM ({sql})").fetchall()[0][0]) for sql in parts
            )
            break
        except duckdb.Error as error:
            file = file.after(error)
    if rows > lines:
        raise UsageError(
            f"--source {label} has {rows} rows, and {lines} of the batch could not be read",
            hint="leave only those in it: the others are loaded already",
        )
    return with_file(corrected, batch, ctx, file)


def with_file(corrected: Corrected, batch: BatchExtract, ctx: RunContext, file: Extract) -> JoinedExtract:
    """The rows of a batch and those of a corrected file.

    Args:
        corrected: The file.
        batch: The rows of the batch.
        ctx: The run.
        file: The file, open.

    Raises:
        LDPError: It does not fit the table.
    """
    sql = f"({batch.sql}) UNION ALL BY NAME ({corrected.sql(file, batch.schema, ctx)})"
    return JoinedExtract(sql, replace(batch, rows=None), file, corrected, ctx)
