"""SQL and Python transforms over small rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from ldp_core import _duck
from ldp_core.errors import ConfigError, LDPError
from ldp_core.spi import RunContext, Spec
from ldp_core.transforms.python import TRANSFORM as PYTHON
from ldp_core.transforms.sql import TRANSFORM as SQL


class Silent:
    @contextlib.contextmanager
    def step(
        self, what: str, *, total_bytes: int | None = None, total_rows: int | None = None
    ) -> Iterator[Callable[[int, int], None]]:
        yield lambda rows, size: None


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RunContext]:
    con = _duck.connect(temp_directory=tmp_path)
    yield RunContext(
        con=con, base_dir=tmp_path, scratch=tmp_path, run_id="r", attempt=1, progress=Silent(), warn=print
    )
    con.close()


ROWS = "SELECT range AS a, 'x' || range AS b FROM range(150000)"
SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])


def apply(transform: Any, ctx: RunContext, rows: str = ROWS, /, **keys: Any) -> tuple[list[Any], pa.Schema]:
    spec = Spec(keys, ctx.base_dir, "metadata.transforms[0]", "c.json")
    out, schema = transform.apply(spec, rows, SCHEMA, ctx)
    again = ctx.con.sql(out).to_arrow_table()
    assert again.num_rows == ctx.con.sql(out).to_arrow_table().num_rows
    return again.to_pylist(), schema


def test_one_select_over_source(ctx: RunContext) -> None:
    rows, schema = apply(
        SQL, ctx, sql="WITH t AS (FROM source) SELECT a * 2 AS twice FROM t WHERE a < 2 ORDER BY a;"
    )
    assert rows == [{"twice": 0}, {"twice": 2}]
    assert schema == pa.schema([("twice", pa.int64())])


def test_a_sql_file(ctx: RunContext) -> None:
    (ctx.base_dir / "t.sql").write_text("-- remark\nSELECT a FROM source WHERE a = 7 -- end")
    assert apply(SQL, ctx, sql_file="t.sql")[0] == [{"a": 7}]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; SELECT 2",
        "COPY source TO 'x.csv'",
        "WITH x AS (COPY source TO 'x.csv') SELECT 1 AS a",
        "SELECT o.* FROM (WITH \"t.csv\" AS (SELECT 1) SELECT 1), 't.csv' o",
        "SELECT * FROM read_csv('t.csv')",
        "SELECT * FROM 't.csv'",
        "SELECT * FROM other",
        "SELECT * FROM main.source",
        "SELECT a FROM source WHERE a IN (SELECT x FROM read_text('t.csv') AS r(x))",
        "ATTACH 'x.db'",
        "SELECT nope FROM source",
        "SELECT a FROM source) UNION (SELECT 1",
        "not sql",
    ],
)
def test_anything_else_is_refused_with_its_key(ctx: RunContext, sql: str) -> None:
    (ctx.base_dir / "t.csv").write_text("a\n1\n")
    with pytest.raises(ConfigError, match=r"c\.json: metadata\.transforms\[0\]\.sql: ") as caught:
        apply(SQL, ctx, sql=sql)
    assert "\n" not in str(caught.value)
    assert not Path("x.csv").exists()


def test_wide_integers_become_decimals(ctx: RunContext) -> None:
    _, schema = apply(SQL, ctx, sql="SELECT sum(a) AS s FROM source")
    assert schema == pa.schema([("s", pa.decimal128(38, 0))])


def module(ctx: RunContext, body: str, name: str = "steps") -> None:
    (ctx.base_dir / f"{name}.py").write_text(f"import pyarrow as pa\nimport pyarrow.compute as pc\n{body}")


def test_a_function_over_batches(ctx: RunContext) -> None:
    module(
        ctx,
        "def even(batches):\n    for batch in batches:\n        assert batch.num_rows < 150000\n"
        "        yield batch.filter(pc.equal(pc.bit_wise_and(batch['a'], 1), 0))\n",
    )
    rows, schema = apply(PYTHON, ctx, python="steps:even")
    assert [row["a"] for row in rows] == list(range(0, 150000, 2))
    assert schema == SCHEMA


def test_a_function_over_the_table(ctx: RunContext) -> None:
    module(ctx, "def head(table):\n    return table.slice(0, 2)\n")
    assert len(apply(PYTHON, ctx, python="steps:head", input="table")[0]) == 2


def test_a_function_sees_the_schema_of_no_rows(ctx: RunContext) -> None:
    body = "    for b in batches:\n        yield b.append_column('c', pa.nulls(len(b), pa.int8()))\n"
    module(ctx, f"def add(batches):\n{body}")
    rows, schema = apply(PYTHON, ctx, f"{ROWS} WHERE false", python="steps:add")
    assert rows == []
    assert schema.names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for n, b in enumerate(batches): yield b.slice(0, 9 // (1 - n))", "batch 2 .*ZeroDivisionError"),
        ("yield 1", "yielded int, not a pyarrow.RecordBatch"),
        ("yield from []", "yielded no batch"),
        (
            "for n, b in enumerate(batches): yield b if n == 0 else b.select(['a'])",
            r"batch 2 .*another schema \(a: int64\)",
        ),
        ("return None", "TypeError"),
    ],
)
def test_a_failing_function_is_named_with_its_batch(ctx: RunContext, body: str, message: str) -> None:
    module(ctx, f"def f(batches):\n    {body}\n")
    with pytest.raises(LDPError, match=rf"metadata\.transforms\[0\]\.python: steps:f.*{message}") as caught:
        apply(PYTHON, ctx, python="steps:f")
    assert "\n" not in str(caught.value)


def test_an_error_of_the_rows_keeps_its_kind(ctx: RunContext) -> None:
    module(ctx, "def f(batches):\n    yield from batches\n")
    rows = "SELECT CASE WHEN range = 9 THEN error('ldp-violation:3') ELSE 1 END AS a FROM range(10)"
    with pytest.raises(duckdb.Error, match="ldp-violation:3"):
        apply(PYTHON, ctx, rows, python="steps:f")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nosuch:f", "there is no module 'nosuch'; put nosuch.py beside the config"),
        ("steps:nope", "module steps has no function 'nope'"),
        ("broken:f", "module broken does not import: ZeroDivisionError"),
        ("needs:f", "needs: No module named 'nosuch_package'"),
    ],
)
def test_a_function_that_is_not_there(ctx: RunContext, name: str, message: str) -> None:
    module(ctx, "")
    module(ctx, "1 / 0\n", "broken")
    module(ctx, "import nosuch_package\n", "needs")
    with pytest.raises(ConfigError) as caught:
        apply(PYTHON, ctx, python=name)
    assert message in str(caught.value)


def test_two_folders_may_have_modules_of_one_name(ctx: RunContext, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "steps.py").write_text(
            f"import pyarrow as pa\ndef f(table):\n    return pa.table({{'n': ['{folder}']}})\n"
        )
        spec = Spec({"python": "steps:f", "input": "table"}, tmp_path / folder)
        sql, _ = PYTHON.apply(spec, ROWS, SCHEMA, ctx)
        assert ctx.con.sql(sql).fetchall() == [(folder,)]


def test_a_name_must_be_module_and_function(tmp_path: Path) -> None:
    problems = PYTHON.problems(Spec({"python": "steps.f"}, tmp_path))
    assert [problem.key for problem in problems] == ["python"]
    assert SQL.problems(Spec({"sql_file": "no.sql"}, tmp_path))[0].key == "sql_file"
