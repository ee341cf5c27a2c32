"""The kinds of plugins, as entry points register them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ldp_core.errors import Problem
from ldp_core.shape import Shape
from ldp_core.spi.load import Extract, TargetSession
from ldp_core.spi.run import RunContext
from ldp_core.spi.spec import Spec

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog


class Source(Protocol):
    """A kind of source, registered in ``ldp.sources`` under the word of ``format``."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say. Reads nothing; keys are relative to the spec: ``columns.fare``.

        Parts that the shape refuses are left out of the spec, even required ones.
        """

    def describe(self, spec: Spec) -> str:
        """A few words for ``plan``: the path, the query, the table."""

    def missing(self, spec: Spec) -> str | None:
        """Why the source cannot be read at present (an absent file), or None. Looks, does not open."""

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Open for reading.

        Args:
            spec: The ``metadata.source`` of a config.
            ctx: The run.
            wanted: The types that the target's columns have (only when no transform stands between);
                text sources cast to them, typed sources ignore it.
        """


class Transform(Protocol):
    """A kind of transform, registered in ``ldp.transforms`` under its key."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say."""

    def apply(self, spec: Spec, sql: str, schema: pa.Schema, ctx: RunContext) -> tuple[str, pa.Schema]:
        """Wrap the SQL of the rows so far; returns the new SQL and its Arrow schema."""


@dataclass(frozen=True)
class TargetInfo:
    """What ``plan`` says of a target.

    Attributes:
        name: ``nyc.rides`` or a path.
        mode: The write mode that holds.
        catalog: The catalog's kind, for tables.
        exists: Whether it is there; None where nobody looked.
        rows: Rows in it, where metadata tells.
        snapshot_id: The current snapshot.
        notes: Lines for the user.
    """

    name: str
    mode: str
    catalog: str | None = None
    exists: bool | None = None
    rows: int | None = None
    snapshot_id: int | None = None
    notes: tuple[str, ...] = ()


class Target(Protocol):
    """A kind of target, registered in ``ldp.targets`` under the word of ``format``."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say; see ``Source.problems``. Reads nothing."""

    def describe(self, spec: Spec, mode: str | None = None) -> TargetInfo:
        """For ``plan``: peeks at metadata, creates nothing, imports nothing heavy for local catalogs."""

    def open(self, spec: Spec, ctx: RunContext, mode: str | None = None) -> TargetSession:
        """Begin a load; ``mode`` overrides the config's ``write_mode``."""


class CatalogProvider(Protocol):
    """A kind of catalog, registered in ``ldp.catalogs`` under the word of ``type``."""

    shape: Shape

    def problems(self, spec: Spec) -> list[Problem]:
        """What the shape cannot say (a password in a URI)."""

    def namespace(self, spec: Spec) -> str:
        """The namespace of the config's table."""

    def open(self, spec: Spec, *, create: bool) -> Catalog:
        """A pyiceberg catalog.

        Args:
            spec: The ``catalog`` of a config.
            create: Whether folders, the SQLite file and its tables may be made.

        Raises:
            TableNotFound: ``create`` is false and there is no catalog.
            CatalogError: It cannot be reached.
        """


class Section(Protocol):
    """A part of a config's ``metadata``, registered in ``ldp.sections`` under its key."""

    shape: Any
    """A ``ldp_core.shape.Type``."""
    hashed: bool
    """Whether it is part of the spec hash."""

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """What the shape cannot say; ``spec`` is the whole metadata. Keys are relative to the section.

        Parts that the shape refuses are left out of the value, even required ones.
        """

    def canonical(self, value: Any, spec: Spec) -> Any:
        """The value as it is hashed."""

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """Lines (label, text) for ``plan``."""


class Describes(Protocol):
    """What a section may do besides: it knows what the table is. Its words stand above ``metadata.docs``."""

    def docs(self, value: Any, spec: Spec) -> Mapping[str, Any]:
        """What it knows, in the keys of ``metadata.docs``; ``spec`` is the whole metadata."""


class EventSink(Protocol):
    """Where events go, registered in ``ldp.event_sinks``."""

    shape: Shape

    def open(self, spec: Spec) -> Callable[[Mapping[str, Any]], None]:
        """A function that takes one event; it may raise, the run logs a warning and goes on."""


@dataclass(frozen=True)
class DoctorLine:
    """One finding of ``ldp doctor``.

    Attributes:
        ok: Whether it is as it should be.
        what: What was looked at.
        found: What was found.
        fix: The exact command or edit that mends it.
    """

    ok: bool
    what: str
    found: str
    fix: str | None = None
