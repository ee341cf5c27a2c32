"""The demo: after upkeep the same questions have the same answers, from a tenth of the files."""

from __future__ import annotations

from pathlib import Path

from ldp_maintenance.demo import QUERIES, run_demo
from ldp_maintenance.demo.days import MODES


def test_the_queries_of_the_demo_read_a_tenth_of_the_files_and_answer_the_same(tmp_path: Path) -> None:
    told: list[str] = []
    found = run_demo(tmp_path / "demo", told.append)
    assert len(QUERIES) == 4
    for mode in MODES:
        assert set(found[mode]["queries"]) == set(QUERIES)
        for name, query in found[mode]["queries"].items():
            assert query["same"], (mode, name)
            assert query["files_after"] * 10 <= query["files_before"], (mode, name, query)
    assert found["merge_on_read"]["before"]["delete_files"] > 100
    assert found["merge_on_read"]["after"]["delete_files"] == 0
    assert not any("ANOTHER ANSWER" in line for line in told)
