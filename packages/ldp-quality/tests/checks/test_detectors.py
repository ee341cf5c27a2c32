"""Detectors of somebody else behind the check ``anomaly``: a toy model over a sample."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core import _entry_points
from ldp_core.errors import ConfigError
from ldp_core.shape import Key, Number, Shape
from ldp_quality import Anomaly, CheckResult, Rule, rules_from_config, run_checks
from ldp_quality.detectors import Detector, DetectorRows, DetectorType, Found, Sigma


@dataclass(frozen=True)
class Box:
    """What lies outside of the box of a sample, stretched, is unlike the others."""

    columns: tuple[str, ...]
    stretch: float = 1.0
    learn: int = 1000

    def fit(self, rows: DetectorRows) -> dict[str, tuple[float, float]] | None:
        sample = rows.sample(self.learn)
        if sample.num_rows < 2:
            return None
        assert tuple(sample.column_names) == rows.columns == self.columns
        bounds = {name: pc.min_max(sample.column(name)).as_py() for name in self.columns}
        return {name: (item["min"], item["max"]) for name, item in bounds.items() if item["max"] is not None}

    def scan(self, rows: DetectorRows, usual: dict[str, tuple[float, float]]) -> Found:
        def outside(batch: pa.RecordBatch) -> pa.Array:
            far = pa.array([False] * batch.num_rows)
            for name, (low, high) in usual.items():
                column = batch.column(name)
                over = pc.or_(pc.less(column, low), pc.greater(column, high * self.stretch))
                far = pc.or_(far, pc.fill_null(over, False))
            return far

        return rows.matching(outside)


def judged(check: Anomaly, table: pa.Table, where: str | None = None) -> CheckResult:
    [result] = run_checks(table, [Rule(check=check, where=where)]).results
    return result


def test_both_are_detectors() -> None:
    assert isinstance(Box(("x",)), Detector)
    assert isinstance(Sigma(("x",)), Detector)
    assert not isinstance("sigma", Detector)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.one_of(st.none(), st.integers(0, 9))), max_size=20))
def test_a_model_in_python_finds_rows_by_their_numbers(rows: list[tuple[int, int | None]]) -> None:
    table = pa.table(
        {"x": pa.array([x for x, _ in rows], pa.int64()), "y": pa.array([y for _, y in rows], pa.int64())}
    )
    half = Box(("x", "y"), stretch=0.5)
    result = judged(Anomaly(("x", "y"), detector=half), table)
    most = [max((row[at] for row in rows if row[at] is not None), default=None) for at in (0, 1)]
    wanted = [
        number
        for number, row in enumerate(rows)
        if any(value is not None and value > (top or 0) / 2 for value, top in zip(row, most, strict=True))
    ]
    if len(rows) < 2:
        assert (result.status, result.details) == ("pass", "too few rows to know what is usual")
        return
    assert result.failing_rows == len(wanted)
    assert result.passed is not bool(wanted)
    assert [sample["row"] for sample in result.samples] == wanted[:5]
    assert f"the detector Box finds {len(wanted)} of" in result.details


def test_it_learns_from_all_rows_and_judges_those_of_the_condition() -> None:
    table = pa.table({"x": [1, 2, 3, 90, 100], "new": [False, False, False, True, True]})
    result = judged(Anomaly("x", detector=Box(("x",), stretch=0.9)), table, where="new")
    assert (result.failing_rows, result.metrics["values"]) == (1, 2)
    assert result.samples[0]["row"] == 4


def test_a_sample_is_the_same_each_time_and_batches_are_all_rows() -> None:
    seen: list[Any] = []

    @dataclass(frozen=True)
    class Look:
        def fit(self, rows: DetectorRows) -> list[int]:
            return rows.sample(10).column("x").to_pylist()

        def scan(self, rows: DetectorRows, usual: list[int]) -> Found:
            total = sum(batch.num_rows for batch in rows.batches())
            seen.append((usual, total, rows.columns))
            return rows.matching(lambda batch: [value in usual for value in batch.column("x").to_pylist()])

    table = pa.table({"x": list(range(120_000)), "y": ["a"] * 120_000})
    results = [judged(Anomaly("x", detector=Look()), table) for _ in range(2)]
    assert seen[0] == seen[1]
    assert seen[0][1:] == (120_000, ("x",))
    assert len(set(seen[0][0])) == 10
    assert [result.failing_rows for result in results] == [10, 10]
    assert [sample["row"] for sample in results[0].samples] == sorted(seen[0][0])[:5]


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (lambda batch: [True], "gives 1 values of bool for 3 rows"),
        (lambda batch: [1, 2, 3], "values of int64"),
        (lambda batch: batch.column("z"), "the detector Bad ended in KeyError"),
    ],
)
def test_a_detector_that_fails_is_not_run(test: Callable[[pa.RecordBatch], Any], text: str) -> None:
    @dataclass(frozen=True)
    class Bad:
        def fit(self, rows: DetectorRows) -> bool:
            return True

        def scan(self, rows: DetectorRows, usual: bool) -> Found:
            return rows.matching(test)

    result = judged(Anomaly("x", detector=Bad()), pa.table({"x": [1, 2, 3]}))
    assert result.status == "not_run"
    assert text in result.details


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package ``boxes`` with a detector."""
    info = tmp_path / "boxes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: boxes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ldp.detectors]\nbox = boxes_of_test:BOX\n")
    module = ModuleType("boxes_of_test")
    shape = Shape((Key("stretch", Number(above=0), "How far is too far."),), doc="A box.")
    module.__dict__["BOX"] = DetectorType("box", Box, shape)
    monkeypatch.setitem(sys.modules, "boxes_of_test", module)
    monkeypatch.syspath_prepend(tmp_path)
    _entry_points.forget()
    yield
    _entry_points.forget()


@pytest.mark.usefixtures("installed")
def test_an_installed_detector_is_named_in_a_config() -> None:
    item = {"check": "anomaly", "column": ["x", "y"], "detector": {"type": "box", "stretch": 0.5}}
    rules = rules_from_config([item])
    [result] = run_checks(pa.table({"x": [1, 2], "y": [1, 1]}), rules).results
    assert (result.failing_rows, result.name) == (2, "anomaly(x, y)")
    assert "the detector box finds 2 of 2 rows" in result.details
    with pytest.raises(
        ConfigError, match=r"detector box has unknown option\(s\) \['size'\]; allowed: stretch"
    ):
        rules_from_config([{**item, "detector": {"type": "box", "size": 1}}])


def test_sigma_takes_its_options_in_either_place() -> None:
    table = pa.table({"x": [1] * 20 + [9]})
    for item in ({"sigma": 2}, {"detector": {"type": "sigma", "sigma": 2}}):
        [rule] = rules_from_config([{"check": "anomaly", "column": "x", **item}])
        [result] = run_checks(table, [rule]).results
        assert "beyond 2 standard deviations" in result.details
    with pytest.raises(ConfigError, match="looks at one column"):
        Anomaly(("x", "y"))
