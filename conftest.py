"""What a full job asks of the tests.

With ``LDP_NO_SKIPS`` a test that is skipped fails the suite: such a job has all that its tests need. With
``LDP_SAME_EXAMPLES`` property tests try the same examples each time, so that a job never fails over a change
that it did not come with; without it, each run explores new ones. ``LDP_FEW_EXAMPLES`` tries few of them: for
jobs that look at a version, where the whole proof is made by another.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings

# Wall time says nothing on a machine that others use, too: no example is too slow.
settings.register_profile("explore", deadline=None)
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("few", derandomize=True, deadline=None, max_examples=10)
_WANTED = {"LDP_FEW_EXAMPLES": "few", "LDP_SAME_EXAMPLES": "same"}
settings.load_profile(next((name for word, name in _WANTED.items() if os.environ.get(word)), "explore"))

ALLOWED = ("root writes anywhere", "root reads everything", "no systemd here")
"""Reasons that no install takes away."""


class NoSkips:
    """Remembers what was skipped, tests and whole modules, and fails the session over it."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.take(report)

    def pytest_collectreport(self, report: Any) -> None:
        self.take(report)

    def take(self, report: Any) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
            if not any(word in reason for word in ALLOWED):
                self.found[report.nodeid] = reason

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.found:
            terminalreporter.section("skipped, and nothing may be")
            for test, reason in self.found.items():
                terminalreporter.line(f"{test}: {reason}")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("LDP_NO_SKIPS") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NoSkips())
