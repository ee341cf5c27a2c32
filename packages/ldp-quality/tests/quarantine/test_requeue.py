"""Requeue: the rows of a batch go through the gate once more, exactly once, and none is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.errors import DataQualityError, DriftError, LDPError, UsageError
from ldp_core.targets.iceberg_session import IcebergSession
from ldp_quality.quarantine import BatchClosed

DAY = ["1,1,5,a", "2,1,-5,b", "3,1,-6,c"]
LOOSE = {"on_failure": "quarantine", "checks": [{"check": "range", "column": "amount", "min": -5}]}


def test_rows_as_they_are_stored_go_through_changed_rules(lake: Any) -> None:
    lake.run(DAY, 1)
    batch = lake.newest
    lake.quality = LOOSE
    lake.write()
    result = lake.place.requeue(batch)
    assert (result.rows_read, result.rows_written, result.write_result.rows_quarantined) == (2, 1, 1)
    assert (lake.ids(), lake.aside()) == ([1, 2], [3])
    assert lake.states() == ["requeued", "open"]
    assert str(result.window) == str(lake.place.batches()[0].batch.window)
    assert lake.place.find(batch).batch.requeue_key == result.idempotency_key
    again = lake.place.requeue(batch)
    assert (again.status, again.published_in) == ("skipped_duplicate", result.published_in)
    assert (lake.ids(), lake.aside()) == ([1, 2], [3])


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_corrected_rows_replace_the_stored_ones_and_the_rest_is_carried_over(lake: Any, form: str) -> None:
    lake.run(DAY, 1)
    shown = lake.place.rows(lake.newest)
    numbers = dict(zip(shown.column("id").to_pylist(), shown.column("_ldp_row").to_pylist(), strict=True))
    fixed = pa.table({"_ldp_row": [numbers[3]], "amount": [6]})
    given: Any = fixed
    if form == "csv":
        given = lake.file("f.csv", f"_ldp_row,amount\n{numbers[3]},6\n")
    elif form == "jsonl":
        given = lake.file("f.jsonl", f'{{"_ldp_row": {numbers[3]}, "amount": 6}}\n')
    elif form == "parquet":
        import pyarrow.parquet as pq

        given = lake.folder / "f.parquet"
        pq.write_table(fixed, given)
    result = lake.place.requeue(lake.newest, rows=given)
    assert result.rows_written == 1
    assert lake.rows() == [(1, 5, "a"), (3, 6, "c")]
    left = lake.place.rows().to_pylist()
    assert [(row["id"], row["_ldp_rules"], row["_ldp_primary_key"]) for row in left] == [
        (2, shown.column("_ldp_rules").to_pylist()[0], shown.column("_ldp_primary_key").to_pylist()[0])
    ]


def test_what_is_wrong_with_corrected_rows_is_told(lake: Any) -> None:
    lake.run(DAY, 1)

    def told(text: str, kind: type[LDPError] = UsageError) -> str:
        with pytest.raises(kind) as caught:
            lake.place.requeue(lake.newest, rows=lake.file("f.csv", text))
        return caught.value.message

    assert "has no column _ldp_row" in told("id,amount\n2,5\n")
    assert "the batch has no row 9" in told("_ldp_row,amount\n9,5\n")
    assert "there is row 0 2 times" in told("_ldp_row,amount\n0,5\n0,6\n")
    assert "has the column 'tip'" in told("_ldp_row,tip\n0,5\n")
    assert "column amount, row 1: 'x'" in told("_ldp_row,amount\n0,x\n", LDPError)
    assert "row 0 is not in the window of the batch by 'day'" in told(
        "_ldp_row,day\n0,2026-01-02\n", LDPError
    )
    with pytest.raises(UsageError, match=r"must end in \.csv"):
        lake.place.requeue(lake.newest, rows="f.txt")
    assert (lake.ids(), lake.aside(), lake.states()) == ([1], [2, 3], ["open"])


def test_a_rule_that_fails_holds_a_requeue_back_and_nothing_changes(lake: Any) -> None:
    lake.run(DAY, 1)
    with pytest.raises(DataQualityError):
        lake.place.requeue(lake.newest, on_failure="fail")
    assert (lake.ids(), lake.aside(), lake.states()) == ([1], [2, 3], ["open"])
    lake.place.requeue(lake.newest, on_failure="warn")
    assert (lake.ids(), lake.aside(), lake.states()) == ([1, 2, 3], [], ["requeued"])


@pytest.mark.parametrize("sinks", [[], [{"type": "quality_store"}]])
def test_a_requeue_is_not_compared_with_loads_and_no_example_of_one(lake: Any, sinks: Any) -> None:
    lake.metadata = {"observability": {"sinks": sinks}}
    bad = {"check": "range", "column": "amount", "min": 0, "on_failure": "quarantine"}
    odd = {"check": "metric_anomaly", "metric": "row_count", "min_history": 2}
    lake.quality = {"max_share": 1.0, "checks": [bad, odd]}
    for day in (1, 2, 3):
        lake.run([f"{n},{day},{-n if day == 3 and n > 20 else n},a" for n in range(22)][day == 2 :], day)
    batch, fixed = lake.newest, pa.table({"_ldp_row": [0], "amount": [7]})
    assert lake.place.preview(batch, rows=fixed).passed
    assert lake.place.requeue(batch, rows=fixed).rows_written == 1
    found = lake.run([f"{n},4,{n},a" for n in range(22)], 4).quality.results[1]
    assert (found.status, found.metrics["history"]) == ("pass", 3)
    assert found.metrics["usual"] == pytest.approx((22 + 21 + 21) / 3)


def test_a_preview_writes_nothing(lake: Any) -> None:
    lake.run(DAY, 1)
    found = lake.place.preview(lake.newest, rows=pa.table({"_ldp_row": [0], "amount": [7]}))
    assert (found.total, found.passed) == (1, True)
    assert (lake.ids(), lake.states()) == ([1], ["open"])


BROKEN = ["1,1,5,a", "x,1,5,b", "3,1,-6,c"]


def test_rows_that_could_not_be_read_stay_aside_or_come_from_a_corrected_file(lake: Any) -> None:
    lake.source = {"on_bad_rows": "quarantine"}
    lake.run(BROKEN, 1)
    assert lake.aside() == [-1, 3]
    lake.quality = {"on_failure": "quarantine", "checks": [{"check": "not_null", "columns": ["id"]}]}
    lake.write()
    lake.place.requeue(lake.newest)
    assert (lake.ids(), lake.aside()) == ([1, 3], [-1])
    with pytest.raises(UsageError, match="no row of batch"):
        lake.place.requeue(lake.newest)
    corrected = lake.file("fixed.csv", "id,day,amount,city\n2,2026-01-01,5,b\n9,2026-01-02,5,other window\n")
    result = lake.place.requeue(lake.newest, source=corrected)
    assert (lake.ids(), lake.aside(), result.rows_written) == ([1, 2, 3], [], 1)


def test_a_corrected_file_goes_through_the_transforms(lake: Any) -> None:
    lake.source = {"on_bad_rows": "quarantine"}
    lake.metadata = {"transforms": [{"sql": "SELECT id, day, amount * 10 AS amount, city FROM source"}]}
    lake.run(BROKEN, 1)
    assert lake.rows() == [(1, 50, "a")]
    corrected = lake.file("fixed.csv", "id,day,amount,city\n2,2026-01-01,5,b\n")
    lake.place.requeue(lake.newest, source=corrected, on_failure="warn")
    assert lake.rows() == [(1, 50, "a"), (2, 50, "b"), (3, -60, "c")]


def test_a_corrected_file_that_is_still_broken_is_put_aside_again(lake: Any) -> None:
    lake.source = {"on_bad_rows": "quarantine"}
    lake.run(BROKEN, 1)
    corrected = lake.file("fixed.csv", "id,day,amount,city\ny,2026-01-01,5,b\n")
    lake.place.requeue(lake.newest, source=corrected)
    assert (lake.ids(), lake.aside()) == ([1], [-1, 3])
    (row,) = [row for row in lake.place.rows().to_pylist() if row["_ldp_raw"]]
    assert row["_ldp_raw"] == "y,2026-01-01,5,b"


def test_a_corrected_file_has_no_rows_that_are_loaded_already(lake: Any) -> None:
    lake.source = {"on_bad_rows": "quarantine"}
    lake.run(BROKEN, 1)
    whole = lake.file("whole.csv", "id,day,amount,city\n1,2026-01-01,5,a\n2,2026-01-01,5,b\n")
    with pytest.raises(UsageError, match=r"whole.csv has 2 rows, and 1 of the batch could not be read"):
        lake.place.requeue(lake.newest, source=whole)
    row = next(row for row in lake.place.rows().to_pylist() if row["_ldp_raw"])["_ldp_row"]
    fixed = lake.file("f.csv", f"_ldp_row,id,day,amount,city\n{row},2,2026-01-01,5,b\n")
    corrected = lake.file("fixed.csv", "id,day,amount,city\n2,2026-01-01,5,b\n")
    with pytest.raises(UsageError, match=r"fixed.csv: no row of the batch is left that could not be read"):
        lake.place.requeue(lake.newest, rows=fixed, source=corrected)
    assert (lake.ids(), lake.states()) == ([1], ["open"])
    lake.place.requeue(lake.newest, source=corrected)
    assert (lake.ids(), lake.aside()) == ([1, 2], [3])


def test_a_row_that_could_not_be_read_is_corrected_whole_or_not_at_all(lake: Any) -> None:
    lake.source = {"on_bad_rows": "quarantine"}
    lake.run(["1,1,5,a", "x,1,5,b"], 1)
    with pytest.raises(UsageError, match="row 0 could not be read, so nothing gives its 'id'"):
        lake.place.requeue(lake.newest, rows=pa.table({"_ldp_row": [0], "amount": [7]}))
    exported = lake.place.rows(lake.newest)
    with pytest.raises(UsageError, match="no row of batch"):
        lake.place.requeue(lake.newest, rows=exported)  # nobody filled in its values
    whole = lake.file("w.csv", "_ldp_row,id,day,amount,city\n0,2,2026-01-01,5,b\n")
    lake.place.requeue(lake.newest, rows=whole)
    assert (lake.ids(), lake.aside()) == ([1, 2], [])


def test_an_upsert_is_requeued_as_an_upsert(lake: Any) -> None:
    lake.mode, lake.extra = "upsert", {"join_cols": ["id"]}
    lake.run(["1,1,5,a", "2,1,-5,b"])
    lake.run(["2,1,8,newer"])
    lake.place.requeue(lake.newest, on_failure="warn")
    assert lake.rows() == [(1, 5, "a"), (2, -5, "b")]


def test_an_overwrite_is_requeued_beside_its_rows_and_replaced_with_them(lake: Any) -> None:
    lake.mode = "overwrite"
    lake.run(DAY, 1)
    lake.run(["7,2,7,g"], 2)
    first = lake.newest
    lake.quality = LOOSE
    lake.write()
    lake.place.requeue(first)
    assert (lake.ids(), lake.aside()) == ([1, 2, 7], [3])
    lake.run(["9,1,9,i"], 1, idempotency_key="again")
    assert (lake.ids(), lake.aside()) == ([7, 9], [])
    with pytest.raises(UsageError, match="there is no batch"):
        lake.place.requeue(first)


def test_a_batch_that_does_not_count_is_refused(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.run(["1,1,5,a"], 1)
    real = IcebergSession.publish

    def publish(self: IcebergSession, *args: Any) -> Any:
        if self.place.identifier[1] == "rides":
            raise KeyboardInterrupt
        return real(self, *args)

    monkeypatch.setattr(IcebergSession, "publish", publish)
    with pytest.raises(KeyboardInterrupt):
        lake.run(["2,2,-5,b"], 2)
    (item,) = lake.place.batches(closed=True)
    assert lake.place.batches() == []
    with pytest.raises(BatchClosed, match="its run has not published"):
        lake.place.requeue(item.batch.id)


def test_a_window_that_is_replaced_during_a_requeue_stops_it(
    lake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.mode = "overwrite"
    lake.run(DAY, 1)
    real = IcebergSession.publish
    once: list[int] = []

    def publish(self: IcebergSession, *args: Any) -> Any:
        if self.place.identifier[1] == "rides" and not once:
            once.append(1)
            lake.run(["9,1,9,i"], 1, idempotency_key="again")
        return real(self, *args)

    monkeypatch.setattr(IcebergSession, "publish", publish)
    with pytest.raises(BatchClosed, match="was replaced since"):
        lake.place.requeue(lake.newest, on_failure="warn")
    assert (lake.ids(), lake.aside()) == ([9], [])


@pytest.mark.parametrize("table", ["rides__quarantine", "rides"])
def test_a_requeue_that_is_killed_is_run_again_and_its_rows_are_there_once(
    lake: Any, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    lake.run(DAY, 1)
    batch = lake.newest
    lake.quality = LOOSE
    lake.write()
    real = IcebergSession.publish

    def publish(self: IcebergSession, *args: Any) -> Any:
        if self.place.identifier[1] == table:
            raise KeyboardInterrupt
        return real(self, *args)

    monkeypatch.setattr(IcebergSession, "publish", publish)
    with pytest.raises(KeyboardInterrupt):
        lake.place.requeue(batch)
    assert (lake.ids(), lake.aside()) == ([1], [2, 3])
    monkeypatch.setattr(IcebergSession, "publish", real)
    lake.place.requeue(batch)
    assert (lake.ids(), lake.aside()) == ([1, 2], [3])
    assert lake.states().count("requeued") == 1


def test_two_processes_requeue_one_batch_at_once(lake: Any) -> None:
    lake.run(DAY, 1)
    batch = lake.newest
    lake.quality = LOOSE
    lake.write()
    command = [sys.executable, "-m", "ldp_cli", "quarantine", "requeue", "c.json", "--batch", batch]
    both = [
        subprocess.Popen(
            command, cwd=lake.folder, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for _ in range(2)
    ]
    said = [process.communicate()[0].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("requeued already" in text for text in said) == 1
    assert (lake.ids(), lake.aside()) == ([1, 2], [3])


def test_another_configs_batch_is_not_requeued(lake: Any) -> None:
    lake.run(DAY, 1)
    batch = lake.newest
    path = lake.folder / "c.json"
    path.write_text(path.read_text().replace('"identifier": "c"', '"identifier": "d"', 1))
    with pytest.raises(UsageError, match="is of c: requeue it with that config"):
        lake.place.requeue(batch)


def test_a_value_that_the_table_cannot_hold_is_drift(lake: Any) -> None:
    lake.run(DAY, 1)
    with pytest.raises(DriftError, match="amount"):
        lake.place.requeue(lake.newest, rows=pa.table({"_ldp_row": [0], "amount": [pa.scalar(b"x").as_py()]}))


def test_keys_that_batches_rest_on_are_not_forgotten(lake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from ldp_cli.main import main

    lake.run(["1,1,5,a", "2,1,-5,b"])
    batch = lake.newest
    lake.place.requeue(batch, on_failure="warn")
    lake.run(["3,1,5,a", "4,1,-5,b"])
    lake.run(["5,1,5,a"], idempotency_key="by-hand")
    for number in range(2):
        lake.run([f"{10 + number},1,5,a"])
    table = LocalIcebergCatalog("nyc", lake.folder / "wh").load_table(("nyc", "rides"))
    table.maintenance.expire_snapshots().older_than(datetime.now(UTC) + timedelta(days=1)).commit()
    assert main(["keys", "compact", "c.json", "--before", "2100-01-01", "--yes"]) == 0
    said = capsys.readouterr().out
    assert "forgotten: 1 key published before" in said
    assert "kept: 3 older keys that batches in quarantine rest on (ldp quarantine drop)" in said
    assert lake.states() == ["requeued", "open"]


@pytest.mark.parametrize("day", [1, None])
def test_a_row_whose_key_is_there_by_now_is_put_aside_again(lake: Any, day: int | None) -> None:
    lake.quality = {
        "on_failure": "quarantine",
        "max_share": 1.0,
        "checks": [{"check": "unique", "columns": "id"}],
    }
    if day:
        lake.run(["9,2,1,rome", "8,2,1,rome"], day=2)  # another window may have the key
    lake.run(["1,1,1,rome", "1,1,2,oslo", "9,1,3,bonn", "9,1,4,paris"], day=day)
    lake.place.requeue(lake.newest)
    assert lake.aside() == [1, 9]
    fixed = lake.file(
        "fix.csv", "_ldp_row,id,day,amount,city\n0,2,2026-01-01,2,oslo\n1,8,2026-01-01,4,paris\n"
    )
    lake.place.requeue(lake.newest, rows=fixed)
    assert lake.aside() == []
    assert lake.ids() == sorted([1, 2, 8, 9, *([8, 9] if day else [])])
