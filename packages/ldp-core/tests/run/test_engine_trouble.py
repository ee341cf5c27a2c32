"""A full disk, too little memory, a folder that cannot be written: one line with the place and what to do."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from ldp_core import DuckDBEngine
from ldp_core._trouble import trouble, words
from ldp_core.errors import LDPError, QueryError, UsageError
from ldp_core.query.output import atomic
from ldp_core.run.registered import run_config

Project = Callable[..., Path]
ROWS = "SELECT random() AS a, hash(range) AS b FROM range(3000000)"
BIG = f"{ROWS} ORDER BY b"
SPILL = (
    "Out of Memory Error: failed to offload data block of size 256.0 KiB (768.0 KiB/976.5 KiB used).\n"
    "This limit was set by the 'max_temp_directory_size' setting.\n"
    "You can adjust this setting, by using (for example) PRAGMA max_temp_directory_size='10GiB'"
)
"""What the engine says of a full spill folder: when it notices depends on its version and its threads."""


def failing(sql: str, **settings: str) -> duckdb.Error:
    """The error of a query on a small engine."""
    con = duckdb.connect(config={"memory_limit": "30MB", "threads": 2, **settings})
    with pytest.raises(duckdb.Error) as caught:
        con.execute(sql).fetchall()
    return caught.value


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the full device of Linux")
def test_a_full_disk_is_its_place_and_what_to_do(tmp_path: Path) -> None:
    error = failing(f"COPY ({ROWS}) TO '/dev/full' (FORMAT csv)", temp_directory=str(tmp_path))
    found = trouble(error)
    assert str(found) == "no space left on device: /dev/full; make room and run it again"
    assert found is not None
    assert found.retriable


def test_memory_and_spill_are_told_apart(tmp_path: Path) -> None:
    full = trouble(duckdb.OutOfMemoryException(SPILL), tmp_path)
    assert str(full).startswith(
        f"no room to spill rows into {tmp_path}: failed to offload data block of size "
    )
    assert full is not None
    assert full.hint == "make room there or raise --memory-limit; TMPDIR names another folder"
    short = trouble(failing(BIG, temp_directory=""))
    assert str(short).startswith("the engine ran out of memory: ")
    assert str(short).endswith("; raise --memory-limit")
    assert all("\n" not in str(error) and "PRAGMA" not in str(error) for error in (full, short))


@pytest.mark.parametrize(
    ("text", "said", "shown"),
    [
        (
            '{"exception_type":"IO","exception_message":"Could not write file \\"a b.csv\\": '
            'Input/output error","errno":"5"}',
            "input/output error: a b.csv; look at the disk, then run it again",
            None,
        ),
        (
            'IO Error: Cannot open file "wh/x": Permission denied',
            "permission denied: wh/x; let this user read and write there",
            None,
        ),
        (
            'IO Error: Failed to create directory "wh/x": Read-only file system\n\nLINE 1: COPY',
            "read-only file system: wh/x; write to another place, or make this one writable",
            None,
        ),
        (
            'IO Error: Async: {"exception_type":"IO","exception_message":"Outer: {\\"exception_type\\":'
            '\\"IO\\",\\"exception_message\\":\\"no such thing\\"}"}',
            None,
            "no such thing",
        ),
        (
            'IO Error: Async write failed: {"exception_type":"Out of Memory","exception_message":"no block"}',
            "the engine ran out of memory: no block; raise --memory-limit",
            None,
        ),
        ('Conversion Error: {"exception_type": is no number', None, None),
        ("Binder Error: no column x\n\nLINE 1: SELECT x", None, "Binder Error: no column x"),
    ],
)
def test_what_the_engine_says_is_one_line(text: str, said: str | None, shown: str | None) -> None:
    error = duckdb.IOException(text)
    found = trouble(error)
    assert (str(found) if found else None) == said
    if shown:
        assert words(error) == shown


def test_a_value_that_reads_like_a_full_disk_is_a_value() -> None:
    text = 'Invalid Input Error: row 3 says "x": No space left on device'
    assert trouble(duckdb.InvalidInputException(text)) is None


def test_a_run_whose_files_may_not_grow_says_where(project: Project) -> None:
    sql = f"SELECT r.* FROM source, ({ROWS}) AS r"
    path = project(transforms=[{"sql": sql}])
    done = subprocess.run(
        [sys.executable, "-m", "ldp_cli", "run", str(path), "--json"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, resource.RLIM_INFINITY)),
    )
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("ldp: error: ")]
    assert len(lines) == 1
    assert lines[0].startswith("ldp: error: file too large: ")
    assert "exception_type" not in done.stderr
    error = json.loads(done.stdout)["error"]
    assert error["retriable"]
    assert error["hint"] == "let files grow larger there (ulimit -f), or write to another place"


def test_a_query_and_a_run_without_memory_say_the_same(project: Project) -> None:
    engine = DuckDBEngine(duckdb.connect(config={"memory_limit": "10MB", "temp_directory": ""}))
    with pytest.raises(QueryError, match=r"^the engine ran out of memory: [^\n]*; raise --memory-limit$"):
        engine.query("SELECT list(range) FROM range(10000000)")
    path = project(transforms=[{"sql": "SELECT list(range) AS n FROM range(100000000), source"}])
    with pytest.raises(LDPError, match=r"^(the engine ran out of memory|no room to spill)[^\n]*$"):
        run_config(path, memory_limit="20MB")


def test_a_result_that_does_not_fit_the_disk_says_where(tmp_path: Path) -> None:
    said = "out.parquet cannot be written: no space left on device; make room and run it again$"
    text = "Error writing bytes to file. Detail: [errno 28] No space left on device"  # as pyarrow has it
    with pytest.raises(UsageError, match=said), atomic(tmp_path / "out.parquet"):
        raise OSError(28, text)
