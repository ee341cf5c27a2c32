"""Types: what is stored, what is converted and counted, what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core import _duck
from ldp_core.errors import DriftError
from ldp_core.tables.convert import violation_of
from ldp_core.tables.fit import fit
from ldp_core.tables.types import from_iceberg, stored, to_iceberg


def run(data: pa.Table, table: pa.Schema | None = None, **options):
    """Fit and compute; gives (rows, loss report)."""
    con = _duck.connect()
    con.register("src", data)
    fitted = fit("SELECT * FROM src", data.schema, table, **options)
    losses = fitted.losses
    if query := fitted.count_sql():
        losses = fitted.counted(con.execute(query).fetchall()[0])
    rows = con.sql(fitted.sql).to_arrow_reader().read_all()
    return fitted, rows, {loss.column: loss for loss in losses}


def refused(source: pa.DataType, table: pa.DataType, **options) -> str:
    with pytest.raises(DriftError) as caught:
        fit("x", pa.schema([("c", source)]), pa.schema([("c", table)]), **options)
    assert str(caught.value).startswith(("column 'c'", "column 'c."))
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "kind", "word"),
    [
        (pa.int8(), "int8_to_int", "int"),
        (pa.uint16(), "uint16_to_int", "int"),
        (pa.uint32(), "uint32_to_long", "long"),
        (pa.uint64(), "uint64_to_decimal", "decimal(20, 0)"),
        (pa.float16(), "half_to_float", "float"),
        (pa.null(), "null_to_string", "string"),
        (pa.date64(), "date64_to_date", "date"),
        (pa.timestamp("ms", tz="Europe/Paris"), "time_zone_to_utc", "timestamptz"),
        (pa.dictionary(pa.int32(), pa.string()), "dictionary_decoded", "string"),
    ],
)
def test_conversions_are_reported(source, kind, word):
    fitted = fit("x", pa.schema([("c", source)]), None)
    assert [(loss.column, loss.kind, loss.target_type, loss.changed) for loss in fitted.losses] == [
        ("c", kind, word, 0)
    ]
    assert fitted.count_sql() is None


def test_types_that_iceberg_has_are_kept_without_a_word():
    schema = pa.schema(
        [
            ("a", pa.int32()),
            ("b", pa.int64()),
            ("c", pa.float64()),
            ("d", pa.decimal128(12, 3)),
            ("e", pa.timestamp("us", tz="UTC")),
            ("f", pa.binary(5)),
            ("g", pa.uuid()),
            ("h", pa.map_(pa.string(), pa.list_(pa.int32()))),
            ("i", pa.large_string()),
        ]
    )
    fitted = fit("x", schema, None)
    assert fitted.losses == ()
    assert fitted.sql.startswith('SELECT "a", "b", "c", "d", "e", "f", "g", "h", "i" FROM')


@pytest.mark.parametrize(
    "kind", [pa.duration("s"), pa.month_day_nano_interval(), pa.decimal256(50, 2), pa.struct([])]
)
def test_types_without_a_place_are_refused_by_name(kind):
    with pytest.raises(DriftError, match="column 'gap' has the type"):
        fit("x", pa.schema([("gap", kind)]), None)


def test_nanoseconds_are_cut_down_and_counted_also_before_1970_and_inside():
    stamps = [-1500, 1500, 2000, None]
    data = pa.table(
        {
            "t": pa.array(stamps, pa.timestamp("ns")),
            "z": pa.array(stamps, pa.timestamp("ns", tz="Asia/Tokyo")),
            "d": pa.array([0, 1999, None, 1000], pa.time64("ns")),
            "l": pa.array([stamps, None, [], [1]], pa.list_(pa.timestamp("ns"))),
            "s": pa.array([{"x": v} for v in stamps], pa.struct([("x", pa.timestamp("ns"))])),
            "m": pa.array([[("a", 1)], [("a", 1000)], None, []], pa.map_(pa.string(), pa.timestamp("ns"))),
        }
    )
    _, rows, losses = run(data)
    assert rows["t"].cast(pa.int64()).to_pylist() == [-2, 1, 2, None]
    assert rows["z"].cast(pa.int64()).to_pylist() == [-2, 1, 2, None]
    assert rows["d"].cast(pa.int64()).to_pylist() == [0, 1, None, 1]
    assert {name: loss.changed for name, loss in losses.items()} == {
        "t": 2,
        "z": 2,
        "d": 1,
        "l.element": 3,
        "s.x": 2,
        "m.value": 1,
    }


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=20))
@settings(max_examples=25, deadline=None)
def test_nanoseconds_floor_like_python(values):
    data = pa.table({"t": pa.array(values, pa.timestamp("ns"))})
    _, rows, losses = run(data)
    assert rows["t"].cast(pa.int64()).to_pylist() == [value // 1000 for value in values]
    assert losses["t"].changed == sum(value % 1000 != 0 for value in values)


def test_a_promotion_widens_the_table_unless_it_may_not():
    for narrow, wide in (
        (pa.int32(), pa.int64()),
        (pa.float32(), pa.float64()),
        (pa.decimal128(5, 2), pa.decimal128(9, 2)),
    ):
        fitted = fit("x", pa.schema([("c", wide)]), pa.schema([("c", narrow)]))
        assert [(op.path, op.type, op.widen) for op in fitted.ops] == [(("c",), wide, True)]
        assert fitted.schema.field("c").type == wide
        assert "schema_evolution" in refused(wide, narrow, schema_evolution=False)
        up = fit("x", pa.schema([("c", narrow)]), pa.schema([("c", wide)]), schema_evolution=False)
        assert (up.ops, up.losses, up.schema.field("c").type) == ((), (), wide)


@pytest.mark.parametrize(
    ("source", "table"),
    [
        (pa.string(), pa.int64()),
        (pa.int64(), pa.struct([("a", pa.int64())])),
        (pa.timestamp("us", tz="UTC"), pa.timestamp("us")),
        (pa.timestamp("us"), pa.timestamp("us", tz="UTC")),
        (pa.float64(), pa.int64()),
        (pa.int64(), pa.float64()),
        (pa.bool_(), pa.int32()),
        (pa.binary(), pa.string()),
        (pa.uint64(), pa.int64()),
        (pa.list_(pa.int64()), pa.list_(pa.string())),
    ],
)
def test_other_changes_of_type_are_refused(source, table):
    refused(source, table)


def test_decimals_are_rescaled_value_by_value():
    table = pa.schema([("v", pa.decimal128(5, 2))])
    good = pa.table({"v": pa.array([Decimal("1.100"), None], pa.decimal128(5, 3))})
    _, rows, losses = run(good, table)
    assert rows["v"].to_pylist() == [Decimal("1.10"), None]
    assert (losses["v"].kind, losses["v"].changed) == ("decimal_rescale", 0)
    bad = pa.table({"v": pa.array([Decimal("1.125")], pa.decimal128(5, 3))})
    with pytest.raises(Exception, match="ldp-drift") as caught:
        run(bad, table)
    found = violation_of(str(caught.value))
    assert (found.column, found.kind, found.value) == ("v", "DECIMAL(5,2)", "1.125")
    _, rows, losses = run(bad, table, allow=["v"])
    assert (rows["v"].to_pylist(), losses["v"].changed) == ([Decimal("1.13")], 1)


VALUES = [
    (pa.float64(), 1.0, pa.int64(), 1),
    (pa.float64(), 1.5, pa.int64(), None),
    (pa.float64(), float("nan"), pa.int64(), None),
    (pa.int64(), 2**53, pa.float64(), 2.0**53),
    (pa.int64(), 2**53 + 1, pa.float64(), None),
    (pa.int64(), 2**31, pa.int32(), None),
    (pa.decimal128(38, 0), Decimal(7), pa.int32(), 7),
    (pa.string(), "0012", pa.int64(), None),
    (pa.string(), "12", pa.int64(), 12),
    (pa.string(), "1e3", pa.int64(), None),
    (pa.string(), "1e400", pa.float64(), None),
    (pa.string(), "1.50", pa.float64(), 1.5),
    (pa.string(), "1.239", pa.decimal128(12, 2), None),
    (pa.string(), "1.20", pa.decimal128(12, 2), Decimal("1.20")),
    (pa.string(), "yes", pa.bool_(), None),
    (pa.string(), "true", pa.bool_(), True),
    (pa.string(), "2026-08-01", pa.date32(), datetime(2026, 8, 1).date()),
    (pa.string(), "2026-08-01 10:00:00", pa.date32(), None),
    (pa.string(), "2026-08-01T10:00:00+02:00", pa.timestamp("us"), None),
    (
        pa.string(),
        "2026-08-01T10:00:00+02:00",
        pa.timestamp("us", tz="UTC"),
        datetime(2026, 8, 1, 8, tzinfo=UTC),
    ),
    (pa.timestamp("us"), datetime(2026, 8, 1), pa.date32(), datetime(2026, 8, 1).date()),
    (pa.timestamp("us"), datetime(2026, 8, 1, 1), pa.date32(), None),
    (pa.int64(), 7, pa.string(), "7"),
]


@pytest.mark.parametrize(("source", "value", "target", "wanted"), VALUES)
def test_sources_that_follow_values_are_cast_without_loss_or_stopped(source, value, target, wanted):
    data = pa.table({"c": pa.array([None, value], source)})
    table = pa.schema([("c", target)])
    if wanted is None:
        with pytest.raises(Exception, match="ldp-drift"):
            run(data, table, follows_values=True)
        return
    fitted, rows, _ = run(data, table, follows_values=True)
    assert rows["c"].to_pylist() == [None, wanted]
    assert fitted.ops == ()


def test_columns_go_by_name_and_missing_ones_are_null():
    table = pa.schema(
        [("a", pa.int64()), ("b", pa.string()), ("s", pa.struct([("x", pa.int64()), ("y", pa.int64())]))]
    )
    data = pa.table(
        {"s": pa.array([{"y": 2, "z": "n"}], pa.struct([("y", pa.int32()), ("z", pa.string())])), "a": [1]}
    )
    fitted, rows, _ = run(data, table)
    assert rows.to_pylist() == [{"a": 1, "b": None, "s": {"x": None, "y": 2, "z": "n"}}]
    assert [op.path for op in fitted.ops] == [("s", "z")]
    assert fitted.missing == ("b",)
    assert fitted.notes == ("new column s.z (string)",)
    with pytest.raises(DriftError, match="schema_evolution is false"):
        fit("x", data.schema, table, schema_evolution=False)


def test_required_columns_must_be_there_and_full():
    table = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("v", pa.int64())])
    with pytest.raises(DriftError, match="'id' is required"):
        fit("x", pa.schema([("v", pa.int64())]), table)
    with pytest.raises(Exception, match="ldp-drift"):
        run(pa.table({"id": [1, None]}), table)
    assert run(pa.table({"id": [1]}), table)[1].to_pylist() == [{"id": 1, "v": None}]


def test_names_that_differ_only_in_case_are_one_name():
    with pytest.raises(DriftError, match="only in case"):
        fit("x", pa.schema([("id", pa.int64())]), pa.schema([("Id", pa.int64())]))
    with pytest.raises(DriftError, match="one name"):
        fit("x", pa.schema([("id", pa.int64()), ("ID", pa.int64())]), None)


@pytest.mark.parametrize(
    "name", ["a b", "q\"uo'te", "select", "é", "__row", "x; DROP TABLE t; --", ".", " ", "a.b"]
)
def test_any_name_works(name):
    data = pa.table(
        {
            name: pa.array([1500], pa.timestamp("ns")),
            "n": pa.array([{name: 7}], pa.struct([(name, pa.int8())])),
        }
    )
    _, rows, losses = run(data)
    assert rows.column_names == [name, "n"]
    assert rows["n"].to_pylist() == [{name: 7}]
    assert losses[name].changed == 1


SIMPLE = [
    pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.date32(), pa.time64("us"),
    pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.string(), pa.binary(), pa.binary(4), pa.uuid(),
    pa.decimal128(9, 2),
]  # fmt: skip
nested = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: st.one_of(
        inner.map(lambda kind: pa.list_(pa.field("element", kind))),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda kinds: pa.struct([(f"f{number}", kind) for number, kind in enumerate(kinds)])
        ),
        st.tuples(st.sampled_from(SIMPLE), inner).map(lambda pair: pa.map_(*pair)),
    ),
    max_leaves=6,
)


@given(nested)
@settings(max_examples=60, deadline=None)
def test_every_type_comes_back_as_it_was(kind):
    ids = iter(range(1, 1000))
    assert stored(kind, "c") == kind
    assert from_iceberg(to_iceberg(kind, lambda: next(ids))) == kind
