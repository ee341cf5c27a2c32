"""Laws of the guarded casts, tried on values that nobody thought of."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

few = settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"), max_size=12)
likely = st.sampled_from(
    [
        *(
            "1",
            "01",
            "-0",
            "1.0",
            "1.5",
            "1.50",
            "1e3",
            "1e-3",
            "0x1",
            "true",
            "True",
            "nan",
            "inf",
            " 1",
            "1_0",
        ),
        *("2026-01-01", "2026-1-1", "2026-01-01 10:00", "2026-01-01T10:00:00Z", "+1", "", "-"),
        *("9999999999999999999", "99999999999999999999", "0.1234567890123456789"),
    ]
)


def written(values: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [["v", "n"], *([v, "x"] for v in values)]
    )
    return out.getvalue()


@few
@given(st.lists(st.one_of(texts, likely), min_size=1, max_size=8))
def test_text_comes_back_as_it_was_and_typed_values_print_as_the_same_value(
    lab: Any, values: list[str]
) -> None:
    loaded = lab.csv(written(values))
    got = [row[0] for row in loaded.rows]
    kind = loaded.types["v"]
    if kind == "string":
        assert got == values
    elif kind in ("int64", "double") or kind.startswith("decimal"):
        assert [Decimal(repr(v) if isinstance(v, float) else v) for v in got] == [Decimal(v) for v in values]
    elif kind == "bool":
        assert got == [v.lower() == "true" for v in values]
    else:
        assert len(got) == len(values)


@few
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_every_long_is_a_long(lab: Any, values: list[int]) -> None:
    loaded = lab.csv(written([str(v) for v in values]))
    assert loaded.types["v"] == "int64"
    assert [row[0] for row in loaded.rows] == values


@few
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_every_double_that_python_prints_comes_back_exactly(lab: Any, values: list[float]) -> None:
    loaded = lab.csv(written([repr(v) for v in values]), pa.schema([("v", pa.float64())]))
    assert [repr(row[0]) for row in loaded.rows] == [repr(v) for v in values]


@few
@given(
    st.lists(
        st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9),
        min_size=1,
        max_size=20,
    )
)
def test_fixed_decimals_come_back_exactly(lab: Any, values: list[Decimal]) -> None:
    loaded = lab.csv(written([f"{v:.3f}" for v in values]))
    assert loaded.types["v"] == "decimal128(18, 3)"
    assert [row[0] for row in loaded.rows] == values


@few
@given(st.lists(st.datetimes(), min_size=1, max_size=20), st.sampled_from([" ", "T"]))
def test_every_moment_that_python_prints_comes_back_exactly(lab: Any, values: list[Any], mark: str) -> None:
    loaded = lab.csv(written([v.isoformat(sep=mark) for v in values]))
    assert loaded.types["v"] == "timestamp[us]"
    assert [row[0] for row in loaded.rows] == values
