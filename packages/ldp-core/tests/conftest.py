"""Which tests run where: some of them go through the command, which ldp-core alone does not bring."""

from __future__ import annotations

import os

NEED_OTHER_PACKAGES = [
    "api/test_api_pipelines.py",
    "cases/test_cases.py",
    "config/test_config_keys.py",
    "e2e/test_kill.py",
    "e2e/test_races.py",
    "plan/test_plan_command.py",
    "run/test_run_command.py",
    "run/test_run_interrupt.py",
    "window_runs/test_window_commands.py",
    "window_runs/test_window_configs.py",
]

# Set where ldp-core is tested with nothing else installed; everywhere else these tests run.
collect_ignore = NEED_OTHER_PACKAGES if os.environ.get("LDP_ISOLATED") else []
