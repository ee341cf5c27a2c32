"""What an environment with this package alone cannot run."""

from __future__ import annotations

import os

NEED_OTHER_PACKAGES = [
    "backfill/test_backfill_command.py",
    "cases/test_orchestration_cases.py",
    "schedule/test_schedule_list.py",
    "schedule/test_schedule_run.py",
    "schedule/test_schedule_tick.py",
    "status/test_orchestration_status.py",
    "workflow/test_workflow_command.py",
    "workflow/test_workflow_jobs.py",
]
"""Tests that call the ``ldp`` command, or whose configs have checks."""
collect_ignore = NEED_OTHER_PACKAGES if os.environ.get("LDP_ISOLATED") else []
