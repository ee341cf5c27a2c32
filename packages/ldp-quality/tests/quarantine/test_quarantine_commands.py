"""``ldp quarantine``: what the commands print, and how they exit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ldp_cli.main import main

Ldp = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ldp(capsys: pytest.CaptureFixture[str]) -> Ldp:
    """Runs a command; its exit code, its output and what it says beside."""

    def run(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["quarantine", *args])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def two(lake: Any) -> Any:
    """A lake with a batch of two rows and one that could not be read."""
    lake.source = {"on_bad_rows": "quarantine"}
    lake.run(["1,1,5,a", "2,1,-5,b", "3,1,-6,", "x,1,1,b"], 1)
    return lake


def test_nothing_was_put_aside_yet(lake: Any, ldp: Ldp) -> None:
    lake.run(["1,1,5,a"], 1)
    assert ldp("list", "c.json") == (0, "No open batches in nyc.rides__quarantine.\n", "")
    code, _, err = ldp("show", "c.json")
    assert (code, "nothing was put aside yet" in err) == (1, True)


def test_a_target_that_is_a_file_has_no_quarantine(lake: Any, ldp: Ldp) -> None:
    path = lake.write()
    body = json.loads(path.read_text())
    body["metadata"]["target"] = {"name": "t", "format": "CSV", "path": "t.csv"}
    del body["metadata"]["quality"], body["metadata"]["window"]
    path.write_text(json.dumps(body))
    code, _, err = ldp("list", "c.json")
    assert (code, "only an Iceberg table has a quarantine" in err) == (1, True)


def test_list_tells_rules_and_state(two: Any, ldp: Ldp) -> None:
    code, out, _ = ldp("list", "c.json")
    assert code == 0
    assert "range(amount): 2, cast: 1, not_null(city): 1  open" in out
    (item,) = json.loads(ldp("list", "c.json", "--json")[1])["batches"]
    assert (item["state"], item["rows"], item["unread"]) == ("open", 3, 1)
    assert item["window"] == "2026-01-01T00:00:00Z/2026-01-02T00:00:00Z"


def test_show_tells_values_and_texts(two: Any, ldp: Ldp) -> None:
    code, out, _ = ldp("show", "c.json")
    assert code == 0
    assert "rows that could not be read:" in out
    assert "r.csv:5  x,2026-01-01,1,b" in out
    assert out.rstrip().endswith("(3 rows)")
    assert ldp("show", "c.json", "--limit", "1")[1].rstrip().endswith("(1 of 3 rows)")
    assert "(1 row)" in ldp("show", "c.json", "--rule", "not_null(city)")[1]
    rows = json.loads(ldp("show", "c.json", "--json")[1])
    assert [row["id"] for row in rows if row["id"]] == [2, 3]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_what_show_writes_requeue_reads(two: Any, ldp: Ldp, ending: str) -> None:
    name = f"bad.{ending}"
    code, _, err = ldp("show", "c.json", "--batch", two.newest, "--output", name)
    assert (code, err) == (0, f"3 rows written to {name} as {ending}\n")
    code, _, _ = ldp("requeue", "c.json", "--batch", two.newest, "--rows", name, "--on-failure", "warn")
    assert code == 0
    assert two.rows() == [(1, 5, "a"), (2, -5, "b"), (3, -6, None)]
    assert two.aside() == [-1]


def test_formats_that_make_no_sense(two: Any, ldp: Ldp) -> None:
    assert "needs --output" in ldp("show", "c.json", "--format", "parquet")[2]
    assert "say --format" in ldp("show", "c.json", "--output", "x.txt")[2]
    assert "exclude each other" in ldp("show", "c.json", "--json", "--format", "csv")[2]


def test_a_requeue_that_a_rule_blocks_exits_with_3(two: Any, ldp: Ldp) -> None:
    batch = two.newest
    assert ldp("requeue", "c.json", "--batch", batch, "--on-failure", "fail")[0] == 3
    assert ldp("requeue", "c.json", "--batch", batch, "--on-failure", "fail", "--dry-run")[0] == 3
    assert ldp("requeue", "c.json", "--batch", batch, "--dry-run")[0] == 0
    assert (two.ids(), two.states()) == ([1], ["open"])
    assert "there is no batch 7x" in ldp("requeue", "c.json", "--batch", "7x")[2]


def test_a_second_requeue_says_so(two: Any, ldp: Ldp) -> None:
    batch = two.newest
    body = json.loads(ldp("requeue", "c.json", "--batch", batch[:12], "--on-failure", "warn", "--json")[1])
    assert (body["batch"], body["status"], body["rows_written"]) == (batch, "published", 2)
    code, out, _ = ldp("requeue", "c.json", "--batch", batch)
    assert (code, out) == (0, f"batch {batch} was requeued already, in snapshot {body['snapshot_id']}\n")
    code, _, err = ldp("requeue", "c.json", "--batch", batch, "--dry-run")
    assert (code, "it was requeued already" in err) == (1, True)


def test_drop_is_a_preview_until_yes(two: Any, ldp: Ldp) -> None:
    assert "say which" in ldp("drop", "c.json")[2]
    code, out, err = ldp("drop", "c.json", "--all")
    assert (code, "open" in out, "--yes drops them" in err) == (0, True, True)
    assert two.aside() == [-1, 2, 3]
    assert ldp("drop", "c.json", "--all", "--yes")[1].endswith("3 rows dropped from nyc.rides__quarantine\n")
    assert two.states() == []
    body = json.loads(ldp("drop", "c.json", "--all", "--yes", "--json")[1])
    assert (body["batches"], body["committed"]) == ([], False)
