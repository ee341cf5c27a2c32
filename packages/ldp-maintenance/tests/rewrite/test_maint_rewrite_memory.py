"""A rewrite with too little memory: what the engine says is told once, and what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_maintenance import Doing, Ordering, Policy, Rewrite, Target, rewrite_data_files
from ldp_maintenance.policy import SortKey
from ldp_maintenance.testing import builders, looks


@pytest.mark.parametrize(
    ("jobs", "hint"), [(1, "raise --memory-limit"), (2, "raise --memory-limit, or use fewer --jobs")]
)
def test_maint_rewrite_with_too_little_memory(tmp_path: Path, jobs: int, hint: str) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 3)
    policy = Policy(rewrite=Rewrite(skip_newest=None), ordering=Ordering("sort", sort=(SortKey("id"),)))
    doing = Doing(commit=True, memory_limit="1MB", jobs=jobs)
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), doing)
    assert (outcome.status, outcome.hint) == ("failed", hint)
    assert "the table's files: the engine ran out of memory: " in str(outcome.reason)
    assert "Possible solutions" not in str(outcome.reason)
    assert "preserve_insertion_order" not in str(outcome.reason)
    assert len(looks.live_files(table)) == 3
