"""A value far down in a file that does not fit is met in the same way wherever rows are streamed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from ldp_core import CSV, _duck


def test_a_late_value_changes_the_type_of_a_column_that_is_read_in_python(tmp_path: Path) -> None:
    lines = "".join(f"{n},{'x' if n == 1_299_999 else n}\n" for n in range(1_300_000))
    (tmp_path / "r.csv").write_text(f"id,note\n{lines}")
    read = CSV("r", "r.csv", tmp_path).get()
    assert str(read.schema.field("note").type).endswith("string")
    assert read.num_rows == 1_300_000


def test_an_error_in_the_middle_of_a_stream_is_the_engine_s_own() -> None:
    with _duck.connect() as con:
        rows = _duck.streamed(
            con, "SELECT CASE WHEN i = 90000 THEN error('late') ELSE i END FROM range(100000) AS r(i)", 1000
        )
        with pytest.raises(duckdb.Error, match="late"):
            rows.read_all()
