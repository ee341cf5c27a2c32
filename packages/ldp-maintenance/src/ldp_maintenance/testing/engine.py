"""What every engine of maintenance must do: subclass ``EngineConformance`` and name the engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ldp_core.errors import LDPError

from ldp_maintenance.engines import Engine, operation_on
from ldp_maintenance.model import OPERATIONS, Doing, Operation, Target
from ldp_maintenance.policy import Policy, Rewrite
from ldp_maintenance.testing import builders, looks

if TYPE_CHECKING:
    from pyiceberg.table import Table


class EngineConformance:
    """Tests of an engine. Plugins subclass it as ``class TestX(EngineConformance)``.

    Attributes:
        engine: The engine under test.
        converges: Whether a second run of each operation is known to do nothing.
    """

    engine: Engine
    converges = True

    def made(self, folder: Path) -> Target:
        """A table with small files, manifests and deletes, on a catalog that the engine reaches."""
        place = builders.catalog(folder)
        table = builders.table(
            place, properties={"commit.manifest-merge.enabled": "false", "owner": "nobody"}
        )
        first, second, *_ = builders.small_files(table, 5)
        builders.delete_positions(table, {first: [0], second: [1, 2]})
        builders.overwrite(table, first, range(1, 10))
        policy = Policy(properties={"owner": "somebody"}, rewrite=Rewrite(target_file_size_bytes=100_000))
        return Target(place, ("db", "t"), policy)

    def table(self, target: Target) -> Table:
        """The table of a target, as it is now."""
        return target.catalog.load_table(target.identifier)

    def test_what_it_says_of_itself(self) -> None:
        """Its words are those of this package, and each operation is either done or refused."""
        able, refused = self.engine.can(), self.engine.refuses()
        assert self.engine.name
        assert not {*able, *refused} - {*OPERATIONS}
        assert not {*able} & {*refused}
        assert {*able, *refused} == {*OPERATIONS}
        notes = [line for one in able.values() for line in (one.note, *one.refuses)]
        assert not [line for line in (*notes, *refused.values()) if "\n" in line]

    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_a_preview_changes_nothing(self, operation: Operation, tmp_path: Path) -> None:
        """And is refused where the engine has none."""
        able = self.engine.can().get(operation)
        target = self.made(tmp_path)
        before = self._state(target)
        if able is None or not able.preview:
            with pytest.raises(LDPError):
                self._run(operation, target, Doing())
        else:
            outcome = self._run(operation, target, Doing())
            assert outcome.operation == operation
            assert outcome.status in ("preview", "nothing", "skipped")
        assert self._state(target) == before

    @pytest.mark.parametrize("operation", OPERATIONS)
    def test_rows_stay_and_a_second_run_does_nothing(self, operation: Operation, tmp_path: Path) -> None:
        """Whatever the operation is."""
        if operation not in self.engine.can():
            with pytest.raises(LDPError):
                operation_on(self.engine.name, operation)
            return
        target = self.made(tmp_path)
        before = looks.rows(self.table(target))
        outcome = self._run(operation, target, Doing(commit=True))
        assert outcome.status in ("done", "nothing", "skipped")
        table = self.table(target)
        assert looks.rows(table) == before
        assert looks.entries_in_manifest_of_wrong_content(table) == 0
        assert looks.referenced_files(table) <= looks.files_on_disk(table)
        if self.converges:
            assert self._run(operation, target, Doing(commit=True)).status in ("nothing", "skipped")

    def test_a_table_that_is_not_there_is_said_so(self, tmp_path: Path) -> None:
        """By an error of ldp, not by one of a library."""
        target = replace(self.made(tmp_path), identifier=("db", "absent"))
        with pytest.raises(LDPError):
            self._run("rewrite-data-files", target, Doing(commit=True))

    def _run(self, operation: Operation, target: Target, doing: Doing) -> Any:
        return operation_on(self.engine.name, operation, commit=doing.commit)(target, doing)

    def _state(self, target: Target) -> tuple[str, set[str]]:
        table = self.table(target)
        return table.metadata_location, looks.files_on_disk(table)
