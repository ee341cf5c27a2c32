"""A file that many windows read is read once, and the windows get what they get from the file itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core import run_config, table
from ldp_core.errors import TableNotFound
from ldp_core.sources.readings import Readings
from ldp_orchestration import backfilling as module
from ldp_orchestration.backfilled import BackfillResult
from ldp_orchestration.backfilling import backfill

WINDOW = {"size": "day", "column": "ts"}
FIRST = datetime(2026, 8, 1)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Readings]:
    """What backfills read to share it."""
    found: list[Readings] = []

    def noted(*args: Any) -> Readings:
        found.append(Readings(*args))
        return found[-1]

    monkeypatch.setattr(module, "Readings", noted)
    return found


@contextmanager
def plainly() -> Iterator[None]:
    """Every window reads the files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_read_once", lambda windows: nullcontext(None))
        yield


def write(lake: Any, text: str, **metadata: Any) -> Path:
    (lake.folder / "all.csv").write_text(text)
    file: Path = lake.pipeline(path="all.csv", **{"window": WINDOW, **metadata})
    return file


def lines(days: int, each: int = 2) -> str:
    rows = [
        f"{at},{FIRST + timedelta(days=at % days, minutes=at)},name {at},{at}.25" for at in range(days * each)
    ]
    return "\n".join(["id,ts,name,fare", *rows]) + "\n"


def test_thirty_windows_read_the_file_once(lake: Any, made: list[Readings]) -> None:
    file = write(lake, lines(10))
    opened: list[str] = []
    from ldp_core.sources.csv_dialect import Dialect

    real = Dialect.read_sql
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dialect, "read_sql", _noting(opened, real))
        result = backfill(file, "2026-08-01", "2026-08-11")
    assert result.counts()["published"] == 10
    assert [one.reads for one in made] == [1]
    assert len(opened) == 1
    assert not made[0].folder.exists()
    assert [row["id"] for row in sorted(lake.rows(), key=lambda row: row["id"])] == list(range(20))


def _noting(opened: list[str], real: Callable[..., str]) -> Callable[..., str]:
    def read_sql(*args: Any, **options: Any) -> str:
        opened.append("read")
        return real(*args, **options)

    return read_sql


def test_a_file_that_changes_between_windows_is_read_again(lake: Any, made: list[Readings]) -> None:
    file = write(lake, lines(3))

    def change(one: object, number: int, total: int) -> None:
        if number == 2:
            (lake.folder / "all.csv").write_text("id,ts,name,fare\n77,2026-08-03 10:00:00,new,7.25\n")

    backfill(file, "2026-08-01", "2026-08-04", on_window=change)
    assert [one.reads for one in made] == [2]
    assert [row["id"] for row in lake.rows() if row["ts"].day == 3] == [77]


@pytest.mark.parametrize(
    "why",
    ["one window", "no column", "a file a window", "bad rows go to quarantine", "broken", "another encoding"],
)
def test_what_is_not_shared_is_read_by_each_window(lake: Any, made: list[Readings], why: str) -> None:
    source = {"name": "rides", "format": "CSV", "path": "all.csv"}
    days, metadata, text = 3, dict[str, Any](), lines(3)
    if why == "one window":
        days = 1
    if why == "no column":
        metadata = {"window": {"size": "day"}, "target": _overwrite()}
    if why == "a file a window":
        lake.drops(3)
        metadata = {"source": {**source, "path": "rides_{window_start:%Y-%m-%d}.csv"}}
    if why == "bad rows go to quarantine":
        metadata = {"source": {**source, "on_bad_rows": "quarantine"}}
    if why == "broken":
        text += "1,2,3,4,5,6,7\n"
    if why == "another encoding":
        metadata = {"source": {**source, "encoding": "latin-1"}}
    file = write(lake, text, **metadata)
    result = backfill(file, "2026-08-01", f"2026-08-0{days + 1}")
    assert sum(one.reads for one in made) == (1 if why in ("broken", "another encoding") else 0)
    assert result.counts()["failed" if why == "broken" else "published"] == days


def _overwrite() -> dict[str, Any]:
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    return {"name": "rides", "format": "ICEBERG", "write_mode": "overwrite", "catalog": catalog}


MOMENTS = st.sampled_from(
    [
        *(str(FIRST + timedelta(days=day, hours=hour)) for day in (-1, 0, 1, 2, 3) for hour in (0, 1, 23)),
        "2026-08-02 02:30:00.5",
        "",
    ]
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "30000000000", "-4", "", "x", "1.5", '"1"', "007"]),
        MOMENTS,
        st.sampled_from(["1.25", "2.50", "", "1.255", "9", "nan"]),
        st.sampled_from(["2026-01-02", "03/04/2026", "", "a", '"a,b"', '""', " é "]),
    ),
    min_size=1,
    max_size=14,
)


def outcome(result: BackfillResult, lake: Any) -> Any:
    """All that there is to see of a backfill."""
    seen = []
    for one in result.windows:
        assert one.result is not None
        (task,) = one.result.tasks
        done = task.result
        told = (done.rows_read, done.rows_written, done.warnings) if done else None
        seen.append((str(one.window), one.outcome, task.error, told))
    try:
        found = table("nyc.rides", lake.folder).to_arrow()
    except TableNotFound:
        return seen, None
    rows = sorted(found.to_pylist(), key=lambda row: str(row["ts"])[:10])  # in a window, as they were written
    return seen, str(found.schema), rows


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(ROWS, st.booleans(), st.sampled_from(["append", "overwrite"]))
def test_windows_get_what_they_get_from_the_file(
    lake: Any,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, ...]],
    there: bool,
    mode: str,
) -> None:
    found = []
    for way in (plainly, nullcontext):
        own = type(lake)(tmp_path_factory.mktemp("way"))
        file = own.pipeline(path="all.csv", window=WINDOW, mode=mode)
        if there:  # the table has types that not all values may have
            (own.folder / "all.csv").write_text("id,ts,fare,note\n1,2026-07-01 10:00:00,1.25,a\n")
            run_config(file, window="2026-07-01/2026-07-02")
        text = "\n".join(["id,ts,fare,note", *map(",".join, rows)]) + "\n"
        (own.folder / "all.csv").write_text(text)
        os.utime(own.folder / "all.csv", ns=(1, 1))
        with way():
            result = backfill(file, "2026-08-01", "2026-08-04")
        found.append(outcome(result, own))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("zone", "size", "start", "end"),
    [
        ("Europe/Paris", "hour", "2026-10-25", "2026-10-26"),
        ("America/Havana", "day", "2026-10-31", "2026-11-03"),
        ("Asia/Kolkata", "15m", "2026-10-25T00:00", "2026-10-25T02:00"),
    ],
)
@pytest.mark.parametrize("offset", ["", "+00:00"])
def test_windows_of_a_clock_change_get_their_rows(
    lake: Any, tmp_path: Path, zone: str, size: str, start: str, end: str, offset: str
) -> None:
    step = timedelta(minutes=7 if size == "15m" else 30)
    first = datetime.fromisoformat(start[:10]) - timedelta(hours=12)
    count = 120
    rows = [f"{at},{first + step * ((at * 37) % count)}{offset}" for at in range(count)]
    found = []
    for number, way in enumerate((plainly, nullcontext)):
        own = type(lake)(tmp_path / str(number))
        own.folder.mkdir()
        (own.folder / "all.csv").write_text("\n".join(["id,ts", *rows]) + "\n")
        window = {"size": size, "column": "ts", "timezone": zone, "empty": "publish"}
        with way():
            result = backfill(own.pipeline(path="all.csv", window=window), start, end)
        found.append(outcome(result, own))
    assert found[0] == found[1]
    assert len(found[0][2]) > 5


def test_side_by_side_they_read_it_once_too(lake: Any, made: list[Readings]) -> None:
    backfill(write(lake, lines(6)), "2026-08-01", "2026-08-07", jobs=3)
    assert [one.reads for one in made] == [1]
    assert len(lake.rows()) == 12
