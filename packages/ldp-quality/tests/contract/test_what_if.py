"""``ldp contract what-if``: each snapshot is judged by what it brought, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ldp_core
import pyarrow as pa
import pytest
from ldp_core.errors import ConfigError
from ldp_core.run.registered import run_config
from ldp_quality import Contract, what_if

pytest.importorskip("ldp_cli")

from ldp_cli.main import main

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: rides
version: 1.0.0
status: active
schema:
  - name: rides
    properties:
      - {name: id, logicalType: integer, required: true, unique: true}
      - {name: fare, logicalType: number, logicalTypeOptions: {minimum: 0}}
"""
FRESH = """\
      - {name: at, logicalType: timestamp}
slaProperties:
  - {property: latency, value: 6, unit: h, element: rides.at}
"""
PLAIN = ["schema", "not_null(id)", "unique(id)", "range(fare)"]

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contract(text: str = CONTRACT) -> str:
    Path("rides.odcs.yaml").write_text(text)
    return "rides.odcs.yaml"


@pytest.fixture
def ask(folder: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    def ask(*words: str, text: str = CONTRACT) -> dict[str, Any]:
        file = contract(text)
        before = contents(folder)
        code = main(["contract", "what-if", file, *(words or ("nyc.rides",)), "--json"])
        assert contents(folder) == before, "something was written"
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return dict(json.loads(printed.out))

    return ask


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put(mode: str = "append", fares: list[float] | None = None, **rows: list[Any]) -> None:
    table = ldp_core.Iceberg("rides", CATALOG, write_mode=mode, join_cols=["id"] if mode == "upsert" else [])
    table.put(pa.table({**rows, "fare": pa.array(fares or [1.0] * len(rows["id"]), pa.float64())}))


def verdicts(found: dict[str, Any], name: str) -> list[Any]:
    return [item[name] for item in found["snapshots"]]


def test_an_append_is_judged_by_its_rows_the_newest_first(ask: Ask) -> None:
    put(id=[1, 2])
    put(id=[1, 3])  # a key of before: a contract's keys are promises of the table
    put(id=[4, 4])
    put(id=[5], fares=[-1.0])
    found = ask()
    assert (found["table"], found["looked_at"], found["available"], found["blocked"]) == (
        "nyc.rides",
        4,
        4,
        3,
    )
    assert verdicts(found, "covered") == ["added"] * 4
    assert verdicts(found, "rows") == [1, 2, 2, 2]
    assert verdicts(found, "broken") == [["range(fare)"], ["unique(id)"], ["unique(id)"], []]
    assert verdicts(found, "blocked") == [True, True, True, False]
    told = {item["name"]: item["broken"] for item in found["rules"]}
    assert told == {"unique(id)": 2, "range(fare)": 1, "schema": 0, "not_null(id)": 0}


def test_any_other_snapshot_is_judged_by_the_table_as_it_was_then(ask: Ask) -> None:
    put(id=[1, 2], fares=[-1.0, 1.0])
    put("upsert", id=[2, 3], fares=[2.0, 2.0])
    put("overwrite", id=[7])
    found = ask()
    assert verdicts(found, "operation") == ["overwrite", "overwrite", "append"]
    assert verdicts(found, "covered") == ["table", "table", "added"]
    assert verdicts(found, "rows") == [1, 3, 2]
    assert verdicts(found, "blocked") == [False, True, True]


def test_only_the_last_are_looked_at(ask: Ask) -> None:
    for at in range(4):
        put(id=[at])
    found = ask("nyc.rides", "--last", "2")
    assert (found["asked"], found["looked_at"], found["available"]) == (2, 2, 4)


def test_what_the_contract_says_of_failures_counts(ask: Ask) -> None:
    put(id=[1, 1])
    warned = CONTRACT + "customProperties: [{property: onFailure, value: warn}]\n"
    found = ask(text=warned)
    assert (found["blocked"], verdicts(found, "status"), verdicts(found, "broken")) == (
        0,
        ["fail"],
        [["unique(id)"]],
    )


def load(day: int) -> None:
    Path("rides.csv").write_text(
        "id,fare,at\n1,5.5,2026-08-01 20:00:00\n2,5,2026-08-02 10:00:00\n3,6,2026-08-03 23:00:00\n"
    )
    Path("load.json").write_text(
        json.dumps(
            {
                "identifier": "load",
                "metadata": {
                    "source": {"name": "rides", "format": "CSV", "path": "rides.csv"},
                    "target": {"name": "rides", "format": "ICEBERG", "catalog": CATALOG},
                    "window": {"size": "day", "column": "at"},
                },
            }
        )
    )
    run_config("load.json", window=f"2026-08-{day:02}/2026-08-{day + 1:02}", run_id=f"r{day}")


def test_freshness_is_measured_at_the_end_of_the_window(ask: Ask, capsys: Any) -> None:
    for day in (1, 2, 3):
        load(day)
    capsys.readouterr()
    found = ask("load.json", text=CONTRACT + FRESH)
    assert verdicts(found, "window") == [
        f"2026-08-0{day}T00:00:00Z/2026-08-0{day + 1}T00:00:00Z" for day in (3, 2, 1)
    ]
    assert verdicts(found, "run_id") == ["r3", "r2", "r1"]
    assert verdicts(found, "now") == [f"2026-08-0{day}T00:00:00Z" for day in (4, 3, 2)]
    assert verdicts(found, "broken") == [[], ["latency(at)"], []]


def test_a_snapshot_without_a_window_is_as_old_as_its_commit(ask: Ask) -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    put(id=[1], at=[now])
    put(id=[2], at=[datetime(2020, 1, 1)])
    assert verdicts(ask(text=CONTRACT + FRESH), "broken") == [["latency(at)"], []]


def test_columns_that_were_not_there_yet_are_missing_then(ask: Ask) -> None:
    put(id=[1])
    put(id=[2], at=[datetime(2026, 8, 1)])
    text = CONTRACT + FRESH.partition("sla")[0].replace("timestamp}", "timestamp, required: true}")
    assert verdicts(ask(text=text), "broken") == [[], ["schema", "not_null(at)"]]


def test_it_reads_as_a_table_and_exits_zero(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(id=[1, 2])
    put(id=[4, 4])
    assert main(["contract", "what-if", contract(), "--table", "nyc.rides", "--last", "90"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "rides 1.0.0, table rides, on nyc.rides: 2 snapshots, not 90: there are no older ones"
    )
    assert lines[4].split()[3:] == ["2", "added", "fail", "yes", "unique(id)"]
    assert lines[-1] == "would have blocked 1 of 2 snapshots"
    assert ["unique(id)", "9", "1", "0", "0", "1"] in [line.split() for line in lines]


def test_snapshots_that_have_expired_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for at in range(3):
        put(id=[at, at])
    table = ldp_core.Iceberg("rides", CATALOG).table()
    oldest = table.history()[0].snapshot_id
    table.maintenance.expire_snapshots().by_id(oldest).commit()
    assert main(["contract", "what-if", contract(), "nyc.rides"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("on nyc.rides: 2 snapshots, not 30: older ones have expired")
    assert lines[-1] == "would have blocked 2 of 2 snapshots"


def test_a_compaction_and_what_was_rolled_back_are_left_out(ask: Ask, capsys: Any) -> None:
    put(id=[1, 1])
    put(id=[2])
    handle = ldp_core.table("nyc.rides")
    good = ldp_core.Iceberg("rides", CATALOG).table().current_snapshot()
    put(id=[3, 3])
    assert good is not None
    ldp_core.Iceberg("rides", CATALOG).table().manage_snapshots().set_current_snapshot(
        good.snapshot_id
    ).commit()
    capsys.readouterr()
    found = what_if(Contract.from_file(contract()), handle)
    assert [(item.rows, item.blocked) for item in found.snapshots] == [(1, False), (2, True)]
    assert str(found) == "would have blocked 1 of 2 snapshots"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "whose snapshots?; name a config"),
        (("rides.csv",), "rides.csv has no snapshots; only an Iceberg table has; name one"),
        (("nyc.nope",), "no table is called nyc.nope"),
        (("nyc.rides", "--table", "nope"), "the contract has no table nope"),
        (("nyc.rides", "--last", "0"), "--last"),
    ],
)
def test_what_is_wrong_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    put(id=[1])
    Path("rides.csv").write_text("id,fare\n1,1\n")
    assert main(["contract", "what-if", contract(), *words]) in (1, 2)
    assert said in capsys.readouterr().err


def test_a_table_without_snapshots(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ldp_core.catalogs.access import open_catalog
    from ldp_core.spi import Spec

    opened = open_catalog(Spec({"type": "local", **CATALOG}, Path.cwd()), create=True)
    opened.create_namespace("nyc")
    opened.create_table("nyc.rides", pa.schema([("id", pa.int64()), ("fare", pa.float64())]))
    assert main(["contract", "what-if", contract(), "nyc.rides"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("on nyc.rides: no snapshot that changed rows")
    assert lines[-1] == "would have blocked 0 of 0 snapshots"


def test_only_a_table_can_be_asked(folder: Path) -> None:
    read = Contract.from_file(contract())
    with pytest.raises(ConfigError, match="only an Iceberg table has snapshots, not Table"):
        what_if(read, pa.table({"id": [1]}))  # type: ignore[arg-type]
    put(id=[1])
    with pytest.raises(ConfigError, match="last must be a number"):
        what_if(read, ldp_core.table("nyc.rides"), last=0)


def test_keys_of_an_append_are_compared_with_what_stood_there_before(folder: Path) -> None:
    table = ldp_core.Iceberg("rides", CATALOG)
    for ids in ([1, 2], [3, 4], [2, 5], [6, 6]):
        table.put(pa.table({"id": ids, "fare": pa.array([1.0, 2.0])}))
    found = what_if(Contract.from_file(contract()), ldp_core.table("nyc.rides"))
    keys = [item.report.results[2] for item in found.snapshots]
    assert [result.failing_rows for result in keys] == [2, 1, 0, 0]
    assert {result.scope for result in keys} == {"table"}
    assert "1 key(s) of the batch stand in the table already" in keys[1].details
