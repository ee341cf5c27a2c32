"""One tree of errors with one table of exit codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class LDPError(Exception):
    """Base of every error that LDP raises on purpose.

    Args:
        message: One clear line: what is wrong.
        file: The file it is about, as the user wrote it.
        line: The line in that file, from 1.
        key: The dotted key in a config, such as ``metadata.target.write_mode``.
        hint: What to do about it.
        retriable: Whether another attempt may succeed.
    """

    code = "error"
    exit_code = 1
    retriable = False

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        hint: str | None = None,
        retriable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.key = key
        self.hint = hint
        if retriable is not None:
            self.retriable = retriable

    def __str__(self) -> str:
        """Render as ``file:line: key: message; hint``."""
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        parts = [part for part in (place, self.key, self.message) if part]
        text = ": ".join(parts)
        return f"{text}; {self.hint}" if self.hint else text

    def to_dict(self) -> dict[str, Any]:
        """The ``error`` object that ``--json`` prints."""
        return {
            "code": self.code,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "key": self.key,
            "hint": self.hint,
            "retriable": self.retriable,
        }


@dataclass(frozen=True)
class Problem:
    """One finding about a config: an error, a warning or a note.

    Attributes:
        message: What is wrong, without the place.
        key: Dotted key, list items by position: ``metadata.quality.checks[0].min``.
        file: The file as the user named it; filled in by whoever knows it.
        line: Line in that file, from 1.
        hint: What to do.
        severity: ``error``, ``warning`` or ``note``; only errors refuse a run.
    """

    message: str
    key: str = ""
    file: str | None = None
    line: int | None = None
    hint: str | None = None
    severity: str = "error"

    def __str__(self) -> str:
        """Render as ``file:line: key: message; hint``."""
        return str(LDPError(self.message, file=self.file, line=self.line, key=self.key, hint=self.hint))

    def to_dict(self) -> dict[str, Any]:
        """The object that ``plan --json`` prints in ``problems``."""
        return {
            "severity": self.severity,
            "message": self.message,
            "key": self.key,
            "file": self.file,
            "line": self.line,
            "hint": self.hint,
        }


class ConfigError(LDPError):
    """A config or an argument is wrong.

    Attributes:
        problems: Every problem found, not only the first.
    """

    code = "config"

    def __init__(self, message: str, *, problems: tuple[Problem, ...] = (), **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.problems = problems

    @classmethod
    def from_problems(cls, problems: tuple[Problem, ...]) -> ConfigError:
        """One error that carries every problem; its text is one line a problem."""
        error = cls("\n".join(str(problem) for problem in problems), problems=problems)
        if len(problems) == 1:
            only = problems[0]
            error = cls(
                only.message, file=only.file, line=only.line, key=only.key, hint=only.hint, problems=problems
            )
        return error

    def about(self, key: str) -> tuple[Problem, ...]:
        """Its problems; where it carries none, itself as one: about its file, or about a key without one.

        Args:
            key: What named the thing that is wrong.
        """
        if self.problems:
            return self.problems
        if self.file:
            return (Problem(self.message, self.key or "", self.file, self.line, self.hint),)
        return (Problem(self.message, key, hint=self.hint),)


class UsageError(LDPError):
    """A command line is wrong."""

    code = "usage"


class Interrupted(LDPError):
    """SIGINT or SIGTERM stopped it; nothing that was not published takes effect."""

    code = "interrupted"
    exit_code = 130
    retriable = True


class SourceNotFound(LDPError, FileNotFoundError):
    """A source file, folder or object is not there (yet); another attempt may find it."""

    code = "source_not_found"
    retriable = True


class SourceError(LDPError):
    """A source is there and cannot be read as what the config says it is."""

    code = "source"


class DriftError(LDPError):
    """Data does not fit the table: a value that cannot be cast without loss, or a type that changes."""

    code = "drift"


class NoData(LDPError, ValueError):
    """There is no row to write."""

    code = "no_data"


class TableNotFound(LDPError):
    """The table, its namespace or its catalog does not exist."""

    code = "table_not_found"


class SnapshotNotFound(LDPError):
    """The table has no such snapshot, branch, tag or moment."""

    code = "snapshot_not_found"


class CatalogError(LDPError):
    """A catalog cannot be opened or does not answer."""

    code = "catalog"


class PipelineNotFound(LDPError):
    """No source, target or route of that name is installed."""

    code = "pipeline_not_found"


class EngineNotFound(LDPError):
    """An optional dependency is not installed; the hint says which extra brings it."""

    code = "engine_not_found"


class QueryError(LDPError):
    """A query is refused or does not run."""

    code = "query"


class CommitConflict(LDPError):
    """The table changed under a commit in a way that cannot be re-based."""

    code = "commit_conflict"
    retriable = True


class TableChanged(CommitConflict):
    """Others made the table, or changed its columns, while rows were being fitted to what it was before.

    A run that has published nothing begins again on the table that there is now.
    """


class CommitUnknown(LDPError):
    """A commit was sent and nobody can say whether it took effect."""

    code = "commit_unknown"


class DataQualityError(LDPError):
    """A gate held the data back; nothing was published.

    Attributes:
        report: The report of the gate (``ldp_quality.QualityReport`` for checks).
    """

    code = "data_quality"
    exit_code = 3

    def __init__(self, message: str, report: Any = None, **kwargs: Any) -> None:
        super().__init__(message, **kwargs)
        self.report = report

    def to_dict(self) -> dict[str, Any]:
        """The ``error`` object, with the report."""
        body = super().to_dict()
        if self.report is not None:
            body["report"] = self.report.to_dict()
        return body
