"""``{python: module:function}``: a function over record batches, or over the whole table when it says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core.errors import Problem
from ldp_core.shape import Key, Shape, Text

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import RunContext, Spec

_NAME = re.compile(r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*$")


class _PythonTransform:
    """The transform named ``python``."""

    shape = Shape(
        doc="A Python function over the rows so far.",
        keys=(
            Key(
                "python",
                Text(),
                "module:function; the module is looked for in the config's folder first.",
                required=True,
            ),
            Key(
                "input",
                Text(choices=("batches", "table")),
                "batches: the function takes an iterator of record batches and yields record batches; "
                "table: it takes and returns a whole Arrow table, in memory.",
                default="batches",
            ),
        ),
    )

    def problems(self, spec: Spec) -> list[Problem]:
        """A name that is not ``module:function``."""
        name = spec.get("python")
        if isinstance(name, str) and not _NAME.match(name):
            return [Problem(f"must be module:function, not {name!r}", key="python")]
        return []

    def apply(self, spec: Spec, sql: str, schema: pa.Schema, ctx: RunContext) -> tuple[str, pa.Schema]:
        """Run the function over the rows into a spill; see ``Transform.apply``.

        Memory does not grow with the rows, unless ``input`` is ``table``.

        Raises:
            ConfigError: There is no such module or function.
            LDPError: The function fails, or gives something else than it must; names the batch.
        """
        from ldp_core._duck import streamed, text
        from ldp_core.transforms._call import Call
        from ldp_core.transforms._load import load_function

        function = load_function(str(spec.get("python")), Path(spec.base_dir), spec)
        call = Call(str(spec.get("python")), function, spec)
        reader = streamed(ctx.con, sql, 65536)
        run = call.over_table if spec.get("input") == "table" else call.over_batches
        path, out = run(reader, ctx.scratch)
        return f"SELECT * FROM read_parquet({text(str(path))}, hive_partitioning=false)", out


TRANSFORM = _PythonTransform()
