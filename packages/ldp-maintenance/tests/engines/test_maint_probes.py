"""What the installed pyiceberg can do, by doing it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from ldp_maintenance import probes
from ldp_maintenance.doctor import installation


def test_everything_that_operations_need_is_there_and_nothing_is_left_behind(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = {probe.name: probe for probe in probes.probes()}
    assert all(probe.usable for probe in found.values())
    assert found["replace snapshots"].library
    assert found["sequence numbers kept in rewritten manifests"].library
    assert found["delete manifests"].ours
    assert found["equality deletes"].ours
    assert found["added files keep their own partition spec"].ours
    assert found["streaming writes"].ours
    assert not found["metadata of format version 3 written"].needed
    assert not list(tmp_path.iterdir())


def test_the_doctor_says_it_line_by_line_and_soon():
    began = time.process_time()
    lines = list(installation())
    assert time.process_time() - began < 2
    assert lines[-1].found == "usable: yes"
    assert len(lines) == 8
    assert all(line.ok for line in lines)


def test_what_nobody_can_do_is_not_usable_and_has_a_fix(monkeypatch):
    def broken(base):
        raise RuntimeError("not in this build")

    monkeypatch.setattr(probes, "_equality_library", broken)
    monkeypatch.setattr(probes, "_equality", broken)
    lines = {line.what: line for line in installation()}
    assert not lines["pyiceberg: equality deletes"].ok
    assert "cannot be rewritten" in lines["pyiceberg: equality deletes"].found
    assert lines["maintenance"].found == "usable: no"
    assert lines["maintenance"].fix
