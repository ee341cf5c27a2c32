"""What the steps of a case do, and what of their outcome must hold. Shared with other packages' cases."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from case_files import write_files
from case_tables import look_at, plain, snapshots_of, type_name
from ldp_cli.main import main

COUNTS = re.compile(r"read (\d+) rows, wrote (\d+) rows")
CHANGE = re.compile(r"target (\S+): (append|overwrite|upsert), (\d+) -> (\d+) rows")
COUNTED = ("errors", "warnings", "notes")
"""Texts for people, of which only how many there are must hold."""


def _run(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    args = [word.replace("<DIR>", str(folder)) for word in step["run"]]
    code = main(args)
    out, err = capsys.readouterr()
    assert code == expect["exit"], f"ldp {' '.join(args)}\n{out}{err}"
    if "json" in expect:
        _holds(json.loads(out), expect["json"])
    wanted = expect.get("out", "")
    for pattern in (COUNTS, CHANGE):
        if (found := pattern.search(wanted)) is not None:
            ours = pattern.search(out)
            assert ours is not None, out
            assert ours.groups() == found.groups(), out
    if args and args[0] == "query" and wanted:
        assert _cells(out) == _cells(wanted)


def _holds(ours: dict[str, Any], wanted: dict[str, Any]) -> None:
    """The keys that a case kept, such as ``tasks.*.status``; of texts for people only how many there are."""
    for key, value in wanted.items():
        found = at(ours, key.split("."))
        if key in COUNTED:
            assert len(found or ()) == len(value or ()), found
        else:
            assert same(found, value), f"{key}: {found} is not {value}"


def at(value: Any, key: list[str]) -> Any:
    """The value of a dotted key; ``*`` stands for each item of a list."""
    for number, part in enumerate(key):
        if part == "*":
            return [at(item, key[number + 1 :]) for item in value]
        value = value.get(part) if isinstance(value, dict) else value
    return value


def same(found: Any, wanted: Any) -> bool:
    """Whether a value is the one of a case: of an error whether there is one, of an id that it is a text."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(
            (found.get(key) is None) == (item is None) if key == "error" else same(found.get(key), item)
            for key, item in wanted.items()
        )
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return isinstance(found, str) if wanted in ("<ID>", "<SNAP>") else bool(found == wanted)


def _cells(text: str) -> list[list[Any]]:
    """The header and the rows of a printed table, numbers as numbers."""
    lines = [line for line in text.splitlines() if not line.startswith(("(", "..."))]
    cells = [[_number(cell) for cell in re.split(r"\s{2,}", line.strip())] for line in lines]
    return [row for row in cells if not all(str(cell).strip("-") == "" for cell in row)]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _table(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    found = look_at(folder, step["table"])
    if "table" in expect:
        assert found.get("table", "there") is None
        assert found["catalog"] == expect.get("catalog", found["catalog"])
        return
    assert found["rows"] == expect["rows"]
    assert found["schema"] == {name: type_name(kind) for name, kind in expect["schema"].items()}
    if "data" in expect:
        assert found["data"] == sorted(json.dumps(plain(row)) for row in expect["data"])
    if "spec" in expect:
        assert [f"{name}:{transform}" for name, transform, _ in found["spec"]] == expect["spec"]
    if "partitions" in expect:
        assert found["partitions"] == set(expect["partitions"])


def _write(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    write_files(folder, step["write"])


def _remove(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    names = step["rm"] if isinstance(step["rm"], list) else [step["rm"]]
    for name in names:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _events(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    lines = (folder / step["events"]).read_text().splitlines()
    events = [json.loads(line) for line in lines]
    found = [
        [
            event["type"],
            event["attempt"],
            event["seq"],
            event["payload"].get("status"),
            event["payload"].get("task"),
        ]
        for event in events
    ]
    assert found == expect["events"]


def _operation(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    OPERATIONS[step["op"]](folder, step, expect)


def _hash(folder: Path, step: dict[str, Any], expect: dict[str, Any]) -> None:
    from ldp_core.config import Config

    assert Config.from_dict(step["config"], base_dir=folder).spec_hash() == expect["hash"]


def _shortcut(folder: Path, step: dict[str, Any], expect: dict[str, Any]) -> None:
    from ldp_core.errors import ConfigError
    from ldp_core.window import shortcut

    now = datetime.fromisoformat(step["now"])
    if "raises" in expect:
        with pytest.raises(ConfigError):
            shortcut(step["name"], step["timezone"], now)
        return
    window = shortcut(step["name"], step["timezone"], now)
    hours = window.length.total_seconds() / 3600
    assert [window.start.isoformat(), window.end.isoformat(), hours] == [
        expect["start"],
        expect["end"],
        expect["hours"],
    ]


def _iter_windows(folder: Path, step: dict[str, Any], expect: dict[str, Any]) -> None:
    from ldp_core.window import iter_windows
    from ldp_core.window.parse import moment

    zone = step["timezone"]
    start, end = (moment(step[name], name, zone) for name in ("from", "to"))
    found = list(iter_windows(start, end, step["size"], zone))
    assert len(found) == expect["n"]
    hours = [window.length.total_seconds() / 3600 for window in found]
    assert hours[: len(expect["hours"])] == expect["hours"]
    assert found[0].start.isoformat() == expect["first"]
    assert found[-1].start.isoformat() == expect["last"] or found[-1].end.isoformat() == expect["last"]


OPERATIONS = {"hash": _hash, "shortcut": _shortcut, "iter_windows": _iter_windows}


def _snapshots(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    """What the summaries say of keyed publishes; how many snapshots there are does not count."""
    found = snapshots_of(folder, step["snaps"])
    if expect.get("table", "there") is None:
        assert found is None
        return
    keyed = [snap for snap in expect["snapshots"] if "ldp.idempotency-key" in snap]
    ours = [snap for snap in found if "ldp.idempotency-key" in snap]
    assert len(ours) == len(keyed)
    for snap, wanted in zip(ours, keyed, strict=True):
        for name in (
            "added-records",
            "total-records",
            "ldp.idempotency-key",
            "ldp.attempt",
            "ldp.logical-window",
        ):
            if name in wanted:
                assert snap[name] == wanted[name], name
        if "<" not in wanted["ldp.run-id"]:
            assert snap["ldp.run-id"] == wanted["ldp.run-id"]


STEPS: dict[str, Callable[[Path, dict[str, Any], dict[str, Any], Any], None]] = {
    "run": _run,
    "table": _table,
    "write": _write,
    "rm": _remove,
    "events": _events,
    "snaps": _snapshots,
    "op": _operation,
}
