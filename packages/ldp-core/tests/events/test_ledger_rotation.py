"""The ledger in several files: nothing is lost or read twice, whoever writes and reads at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.events import jsonl


def event(number: int, text: str = "") -> dict[str, Any]:
    return {"event_id": str(number), "type": "run.started", "payload": {"text": text}}


def ids(events: Any) -> list[int]:
    return [int(item["event_id"]) for item in events]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.text(max_size=200), max_size=30), st.integers(1, 2000))
def test_a_ledger_of_many_files_reads_as_one(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], limit: int
) -> None:
    file = tmp_path_factory.mktemp("events") / "events.jsonl"
    for number, text in enumerate(texts):
        jsonl.append(file, event(number, text), limit=limit)
    assert ids(jsonl.read(file)) == list(range(len(texts)))
    assert ids(jsonl.read_back(file)) == list(range(len(texts)))[::-1]
    for part in file.parent.glob("*.jsonl"):
        assert part.stat().st_size <= limit or len(part.read_bytes().splitlines()) == 1


def test_files_that_were_set_aside_never_change(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    for number in range(3):
        jsonl.append(file, event(number), limit=1)
    before = {part.name: part.read_bytes() for part in tmp_path.glob("events.*.jsonl")}
    assert sorted(before) == ["events.1.jsonl", "events.2.jsonl"]
    for number in range(3, 12):
        jsonl.append(file, event(number), limit=1)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert ids(jsonl.read(file)) == list(range(12))


def test_a_torn_line_at_the_end_of_each_file_spoils_nothing(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    for number in range(4):
        jsonl.append(file, event(number), limit=150)
        with file.open("ab") as out:
            out.write(b'{"event_id": "torn", "ty')
    assert len(list(tmp_path.glob("events*.jsonl"))) > 1
    assert ids(jsonl.read(file)) == [0, 1, 2, 3]
    assert ids(jsonl.read_back(file)) == [3, 2, 1, 0]


def test_a_ledger_whose_newest_file_is_away_is_still_one(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    for number in range(2):
        jsonl.append(file, event(number), limit=1)
    file.rename(tmp_path / "events.2.jsonl")
    assert jsonl.exists(file)
    assert ids(jsonl.read(file)) == [0, 1]


def test_a_reader_that_began_before_a_rotation_reads_each_event_once(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    for number in range(3):
        jsonl.append(file, event(number), limit=10**6)
    for read, wanted in ((jsonl.read, [0, 1, 2]), (jsonl.read_back, [3, 2, 1, 0])):
        reader = read(file)
        found = [next(reader)]
        jsonl.append(file, event(len(list(jsonl.read(file)))), limit=1)
        found += list(reader)
        assert ids(found) == wanted


def test_writers_and_a_reader_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    code = """if True:
        import sys
        from pathlib import Path
        from ldp_core.events import jsonl
        for turn in range(100):
            event = {"event_id": f"{sys.argv[2]}-{turn}", "type": "run.started", "payload": "x" * 300}
            jsonl.append(Path(sys.argv[1]), event, limit=4000)
    """
    workers = [subprocess.Popen([sys.executable, "-c", code, str(file), str(n)]) for n in range(4)]
    while any(worker.poll() is None for worker in workers):
        for read in (jsonl.read, jsonl.read_back):
            seen = [item["event_id"] for item in read(file)]
            assert len(seen) == len(set(seen))
    assert [worker.returncode for worker in workers] == [0] * 4
    names = [item["event_id"] for item in jsonl.read(file)]
    assert len(names) == len(set(names)) == 400
    for worker in range(4):
        own = [name for name in names if name.startswith(f"{worker}-")]
        assert own == [f"{worker}-{turn}" for turn in range(100)]
    assert len(list(tmp_path.glob("events.*.jsonl"))) > 10
    lines = [line for part in tmp_path.glob("*.jsonl") for line in part.read_text().split("\n") if line]
    assert all(json.loads(line) for line in lines)


def test_the_end_is_read_without_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    with file.open("w") as out:
        for number in range(20_000):
            out.write(json.dumps(event(number, "x" * 400)) + "\n")
    reader = jsonl.read_back(file)
    assert int(next(reader)["event_id"]) == 19_999
    with file.open("r+b") as out:
        out.write(b"\0" * (file.stat().st_size // 2))
    assert ids(next(reader) for _ in range(50)) == list(range(19_949, 19_999))[::-1]
