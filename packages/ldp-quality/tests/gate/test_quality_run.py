"""A load that a check holds back, and one that it only warns of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ldp_core.catalogs import load_table
from ldp_core.config import Config
from ldp_core.errors import ConfigError, DataQualityError, SourceError, TableNotFound, UsageError
from ldp_core.run.context import RunOptions
from ldp_core.run.preview import preview
from ldp_core.run.runner import run

CSV = """ride_id,pickup_ts,fare
1,2026-08-01 10:00:00,5.5
2,2026-08-02 00:00:00,7.5
3,2026-08-02 23:59:59,9.0
"""


def config(folder: Path, quality: Any, csv: str = CSV, **more: Any) -> Config:
    (folder / "r.csv").write_text(csv, "utf8")
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "write_mode": "append",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        },
        "quality": quality,
        **more,
    }
    return Config.from_dict({"identifier": "rides", "metadata": metadata}, base_dir=folder)


def data_files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.parquet"))


def test_a_failed_check_publishes_nothing(tmp_path: Path) -> None:
    loaded = config(tmp_path, [{"check": "range", "column": "fare", "min": 6}])
    with pytest.raises(DataQualityError) as caught:
        run(loaded)
    assert caught.value.exit_code == 3
    assert str(caught.value).startswith(
        "1 of 1 data quality checks failed:\n"
        "  - range(fare): 1 of 3 rows violate fare >= 6: 1 below min, 0 above max"
    )
    assert "row 0: ride_id=1, pickup_ts='2026-08-01 10:00:00', fare=5.5" in str(caught.value)
    with pytest.raises(TableNotFound):
        load_table(loaded.spec("target"), "rides")
    assert data_files(tmp_path) == []


def test_an_empty_source_is_the_checks_to_judge(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError, match="row_count: 0 rows, expected >= 1"):
        run(config(tmp_path, [{"check": "row_count", "min": 1}], csv="ride_id,pickup_ts,fare\n"))


def test_a_warning_publishes_and_says_so(tmp_path: Path) -> None:
    checks = [
        {"check": "monotonic", "column": "fare", "strict": True},
        {"check": "unique", "columns": "ride_id"},
    ]
    csv = CSV.replace("9.0", "6.0")
    result = run(config(tmp_path, {"on_failure": "warn", "checks": checks}, csv=csv))
    assert result.rows_written == 3
    assert result.quality is not None
    found = result.quality.to_dict()["results"]
    assert [item["passed"] for item in found] == [False, True]
    assert found[0]["samples"][0]["row"] == 2


@pytest.mark.parametrize("own", [None, "fail", "warn"])
@pytest.mark.parametrize("section", ["fail", "warn"])
def test_the_run_has_the_last_word(tmp_path: Path, own: str | None, section: str) -> None:
    check = {"check": "range", "column": "fare", "min": 6, **({"on_failure": own} if own else {})}
    loaded = config(tmp_path, {"on_failure": section, "checks": [check]})
    with pytest.raises(DataQualityError):
        run(loaded, on_failure="fail")
    result = run(loaded, on_failure="warn")
    assert (result.rows_written, [item.status for item in result.quality.results]) == (3, ["fail"])  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="on_failure must be fail, warn or quarantine, got 'explode'"):
        run(loaded, on_failure="explode")


def test_a_wrong_check_is_found_before_the_source_is_read(tmp_path: Path) -> None:
    loaded = config(tmp_path, [{"check": "range", "column": "fare", "min": 2, "max": 1}])
    (tmp_path / "r.csv").unlink()
    with pytest.raises(ConfigError, match="min \\(2\\) is greater than max \\(1\\)"):
        run(loaded)


@pytest.mark.parametrize(
    "check",
    [
        {"check": "range", "column": "n", "max": 500},
        {"check": "unique", "columns": ["n"]},
        {"check": "accepted_values", "column": "n", "values": [1]},
    ],
)
def test_a_transform_with_chance_is_judged_on_the_rows_that_it_wrote(tmp_path: Path, check: Any) -> None:
    csv = "id\n" + "".join(f"{number}\n" for number in range(3000))
    chance = [{"sql": "SELECT id, CAST(1000 * random() AS BIGINT) AS n FROM source WHERE random() < 0.5"}]
    loaded = config(tmp_path, {"on_failure": "warn", "checks": [check]}, csv, transforms=chance)
    report = run(loaded).quality
    assert report is not None
    table = load_table(loaded.spec("target").sub("catalog"), "rides")
    written = table.scan().to_arrow().to_pydict()
    rows = set(zip(written["id"], written["n"], strict=True))
    samples = [sample["values"] for sample in report.to_dict()["results"][0]["samples"]]
    assert len(samples) == 5
    assert {(sample["id"], sample["n"]) for sample in samples} <= rows


def test_a_source_that_changes_under_its_checks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "grow.py").write_text(
        "from pathlib import Path\n\n"
        "def more(batches):\n"
        "    yield from batches\n"
        f"    Path({str(tmp_path / 'r.csv')!r}).write_text('ride_id,pickup_ts,fare\\n')\n"
    )
    rising = [{"check": "monotonic", "column": "ride_id"}]
    loaded = config(tmp_path, rising, transforms=[{"python": "grow:more"}])
    with pytest.raises(SourceError, match=r"r\.csv changed while it was read"):
        run(loaded)
    assert data_files(tmp_path) == []


def test_a_preview_counts_the_rows_of_the_source_as_a_run_does(tmp_path: Path) -> None:
    fewer = [{"sql": "SELECT * FROM source WHERE fare > 6"}]
    loaded = config(tmp_path, [{"check": "row_count", "equals": "source"}], transforms=fewer)
    assert not preview(loaded, 5, RunOptions()).passed
    with pytest.raises(DataQualityError, match="2 rows, expected == 3"):
        run(loaded)
