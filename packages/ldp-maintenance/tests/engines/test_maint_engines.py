"""Engines: what each can do, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_core import registry
from ldp_core.errors import LDPError, PipelineNotFound, UsageError
from ldp_maintenance.engines import Capability, abilities, engines, find, operation_on
from ldp_maintenance.engines.local import local
from ldp_maintenance.model import OPERATIONS, Doing, Outcome, Target
from ldp_maintenance.testing import catalog, files_on_disk, v3_table
from ldp_maintenance.testing.engine import EngineConformance


class TestLocal(EngineConformance):
    engine = local


class Blunt:
    """An engine that does two things, one of them at once only."""

    name = "blunt"

    def can(self):
        return {"rewrite-manifests": Capability(preview=False), "expire-snapshots": Capability()}

    def refuses(self):
        return {"rewrite-data-files": "no rewrite there"}

    def run(self, operation, target, doing):
        return Outcome(operation, "done" if doing.commit else "preview")


@pytest.fixture
def blunt(monkeypatch):
    names, load = registry.names, registry.load
    monkeypatch.setattr(
        registry, "names", lambda group: [*names(group), *(["blunt"] * (group == find.GROUP))]
    )
    monkeypatch.setattr(
        registry, "load", lambda group, name: Blunt() if name == "blunt" else load(group, name)
    )


def test_the_local_engine_does_everything_with_a_preview():
    assert next(one.name for one in engines()) == "local"
    assert set(abilities()["local"]) == {*OPERATIONS}
    assert all(able["can"] and able["previews"] for able in abilities()["local"].values())


def test_what_cannot_preview_is_refused_without_yes(blunt):
    with pytest.raises(UsageError, match="engine blunt cannot preview rewrite-manifests"):
        operation_on("blunt", "rewrite-manifests", commit=False)
    run = operation_on("blunt", "rewrite-manifests", commit=True)
    assert run(None, Doing(commit=True)).status == "done"
    assert operation_on("blunt", "expire-snapshots", commit=False)(None, Doing()).status == "preview"


def test_what_it_does_not_do_is_refused_with_its_reason(blunt):
    with pytest.raises(UsageError, match="engine blunt does not do rewrite-data-files: no rewrite there"):
        operation_on("blunt", "rewrite-data-files")
    with pytest.raises(UsageError, match="does not do remove-orphans; use"):
        operation_on("blunt", "remove-orphans")
    able = abilities()["blunt"]
    assert able["rewrite-data-files"]["refuses"] == ["no rewrite there"]
    assert (able["rewrite-manifests"]["can"], able["rewrite-manifests"]["previews"]) == (True, False)


def test_an_unknown_engine_lists_the_known_ones_and_the_package():
    with pytest.raises(
        PipelineNotFound, match="no maintenance engine is called 'spark'; installed: local"
    ) as error:
        operation_on("spark", "rewrite-data-files")
    assert error.value.hint == "pip install ldp-spark"
    with pytest.raises(PipelineNotFound, match="no maintenance engine is called 'nope'"):
        operation_on("nope", "rewrite-data-files")


def test_version_three_is_refused_where_there_would_be_work(tmp_path: Path):
    made = v3_table(catalog(tmp_path))
    target = Target(made.catalog, made.name())
    before = made.metadata_location, files_on_disk(made)
    for operation, able in local.can().items():
        if any("format version 3" in line for line in able.refuses):
            try:
                said = local.run(operation, target, Doing(commit=True)).status
            except LDPError as error:
                said = error.message
            assert said in ("nothing", "skipped") or "format version" in said, operation
    made.refresh()
    assert (made.metadata_location, files_on_disk(made)) == before
