"""A catalog and its files that fail on demand: before a call, in it, or after it with the answer lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

from ldp_core.catalogs.sqlite import LocalIcebergCatalog

When = Literal["before", "after", "half"]


@dataclass
class Plan:
    """Which call fails, and how.

    Attributes:
        index: The call that fails, counted from 0; None lets all pass.
        when: ``before``: the call does nothing; ``after``: it takes effect and its answer is lost; ``half``:
            as after, and a file to write stays behind in part, as on a full disk.
        error: What is raised.
        times: How many calls from ``index`` on fail; those that a failing call makes itself do not count.
        calls: The names of the calls made so far.
    """

    index: int | None = None
    when: When = "before"
    error: type[BaseException] = ConnectionError
    times: int = 1
    calls: list[str] = field(default_factory=list)
    _taking_effect: bool = False

    def call(self, name: str, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Make a call, or fail it."""
        at = len(self.calls)
        self.calls.append(name)
        fails = self.index is not None and self.index <= at < self.index + self.times
        if not fails or self._taking_effect:
            return function(*args, **kwargs)
        if self.when == "before":
            raise self.error(f"injected before {name}")
        self._taking_effect = True
        try:
            made = function(*args, **kwargs)
            if self.when == "half" and name == "new_output":
                with made.create() as stream:
                    stream.write(b"half")
        finally:
            self._taking_effect = False
        raise self.error(f"injected after {name}")


_plan = Plan()


@contextmanager
def faults(plan: Plan) -> Iterator[Plan]:
    """Let a plan rule every ``FaultyCatalog`` and its files in this process."""
    global _plan
    outer, _plan = _plan, plan
    try:
        yield plan
    finally:
        _plan = outer


class FaultyFileIO(PyArrowFileIO):
    """Files whose opening and deleting can fail."""

    def new_input(self, location: str) -> PyArrowFile:
        """Open for reading."""
        return _plan.call("new_input", super().new_input, location)  # type: ignore[no-any-return]

    def new_output(self, location: str) -> PyArrowFile:
        """Open for writing."""
        return _plan.call("new_output", super().new_output, location)  # type: ignore[no-any-return]

    def delete(self, location: Any) -> None:
        """Delete."""
        _plan.call("delete", super().delete, location)


class FaultyCatalog(LocalIcebergCatalog):
    """A local catalog whose calls can fail."""

    def __init__(self, name: str, path: Any, **properties: Any) -> None:
        super().__init__(name, path, **{"py-io-impl": "ldp_core.testing.faults.FaultyFileIO", **properties})

    def load_table(self, identifier: Any) -> Any:
        """Load a table."""
        return _plan.call("load_table", super().load_table, identifier)

    def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:
        """Commit."""
        return _plan.call("commit_table", super().commit_table, table, requirements, updates)
