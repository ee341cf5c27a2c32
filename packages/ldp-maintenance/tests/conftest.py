"""What an environment with this package alone cannot run."""

from __future__ import annotations

import os

NEED_OTHER_PACKAGES = [
    "cases/test_maint_beside.py",
    "cases/test_maint_cases.py",
    "cases/test_maint_platform.py",
    "cases/test_maint_states.py",
    "commands/test_maint_config_command.py",
    "commands/test_maint_run_command.py",
    "upkeep/test_maint_workflow.py",
]
"""Tests that call the ``ldp`` command, or run workflows."""
collect_ignore = NEED_OTHER_PACKAGES if os.environ.get("LDP_ISOLATED") else []
