"""An interrupt right after a commit: the table keeps what it was given."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import ldp_core.commit._tidy as tidy
import pytest
from ldp_core._signals import uninterrupted
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.commit.recover import sweep
from ldp_core.testing.builders import append, new_table, orphans

NAME = ("nyc", "rides")


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
@pytest.mark.parametrize("step", ["delete_quietly", "trim_metadata"])
def test_what_fails_after_the_commit_deletes_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: type[BaseException]
) -> None:
    cat = LocalIcebergCatalog("nyc", tmp_path / "wh")
    append(load_base(cat, NAME, new_table()), "r0", [0])

    def fail(*args: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(tidy, step, fail)
        with pytest.raises(error):
            append(load_base(cat, NAME), "r1", [1])
    assert sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist()) == [0, 1]
    sweep(load_base(cat, NAME))
    assert sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist()) == [0, 1]
    assert not orphans(load_base(cat, NAME))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_for_the_end_of_a_short_step(number: signal.Signals) -> None:
    def handler(*args: Any) -> None:
        raise KeyboardInterrupt

    steps = []

    def step(signals: int) -> None:
        with uninterrupted():
            for _ in range(signals):
                signal.raise_signal(number)
            steps.append(signals)

    before = signal.signal(number, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            step(1)
        assert steps == [1]
        assert signal.getsignal(number) is handler
        with pytest.raises(KeyboardInterrupt):
            step(2)
        assert steps == [1]
    finally:
        signal.signal(number, before)


HALF = """
    import os, signal, sys
    from ldp_core.catalogs import LocalIcebergCatalog
    from ldp_core.commit.base import load_base
    from ldp_core.testing import builders
    from pyiceberg.serializers import ToOutputFile

    def half(metadata, output, overwrite=False):
        with output.create(overwrite=overwrite) as stream:
            stream.write(b"{")
        os.kill(os.getpid(), signal.SIGKILL)

    base = load_base(LocalIcebergCatalog("nyc", sys.argv[1]), ("nyc", "rides"))
    ToOutputFile.table_metadata = staticmethod(half)
    builders.append(base, "r1", [1])
"""


def test_half_a_metadata_file_is_swept(tmp_path: Path) -> None:
    cat = LocalIcebergCatalog("nyc", tmp_path / "wh")
    append(load_base(cat, NAME, new_table()), "r0", [0])
    command = [sys.executable, "-c", textwrap.dedent(HALF), str(tmp_path / "wh")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert any(".half-" in path for path in orphans(load_base(cat, NAME)))
    sweep(load_base(cat, NAME))
    assert not orphans(load_base(cat, NAME))
