"""Where rows lie, and who answers checks about them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ldp_core.shape import Shape

from ldp_quality.plan import Executor


class Source(Protocol):
    """A set of rows that ``run_checks`` takes."""

    def opened(self, memory_limit: str | None = None) -> AbstractContextManager[Executor]:
        """Open the rows for checks.

        Args:
            memory_limit: The limit of an engine in this process, such as ``250MB``.
        """
        ...


class Engine(Protocol):
    """An engine for checks, registered in ``ldp.check_executors`` under its name."""

    shape: Shape
    """What says where the rows are."""

    def source(self, values: Mapping[str, Any]) -> Source:
        """The rows that such a description means. Reads nothing.

        Raises:
            ConfigError: It is wrong.
        """
        ...
