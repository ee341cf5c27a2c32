"""The shape of a pipeline config, put together from what is installed."""

from __future__ import annotations

from collections.abc import Collection

from ldp_core import registry
from ldp_core.errors import LDPError
from ldp_core.shape import (
    Anything,
    Key,
    ListOf,
    Literal,
    Named,
    OneOf,
    Shape,
    Text,
    Type,
    Variant,
)

API_VERSION = "ldp/v1"
KINDS = ("Pipeline", "Workflow")
RESERVED_KINDS = ("Metrics", "Report", "Profiles")
SECTION_PACKAGES = {
    "quality": "ldp-quality",
    "retries": "ldp-orchestration",
    "sla": "ldp-orchestration",
    "maintenance": "ldp-maintenance",
}
"""Sections that belong to a package which may be absent."""
HARMLESS_SECTIONS = frozenset({"schedule", "retries", "sla", "maintenance", "docs"})
"""Sections that change no run: left alone when nobody is there to read them."""

NOT_EMPTY = Text(pattern=r"\S")
_LABEL = OneOf((Text(), Literal(None)))
CREDENTIALS = Shape(
    keys=(
        Key("name", Text(), "A name for the credentials."),
        Key("path", Text(), "The key file, relative to the config's folder."),
    ),
    doc="Where the credentials of a service are. The file's content is never shown.",
)
COMMON = (
    Key("name", NOT_EMPTY, "The name of the table or of the data."),
    Key("engine", Text(), "An older key: `BIGQUERY` with format `JSON` is a query file; else ignored."),
    Key("credentials", CREDENTIALS, "A key file for services that need one."),
)
SOURCE = Named(
    group="ldp.sources",
    by="format",
    aliases={"JSON": "JSONL"},
    also=COMMON,
    variants=(Variant("JSON", "engine", "BIGQUERY", "BIGQUERY"),),
)
"""What ``metadata.source`` may be."""
TARGET = Named(group="ldp.targets", by="format", aliases={"JSON": "JSONL"}, also=COMMON)
"""What ``metadata.target`` may be."""


def transforms_type() -> Type:
    """What ``metadata.transforms`` may be: a list of steps, each of the shape of one installed plugin."""
    return ListOf(OneOf(tuple(shape for _, shape in transform_shapes())))


def transform_shapes() -> list[tuple[str, Shape]]:
    """The shapes of the transforms that load, by entry name."""
    found: list[tuple[str, Shape]] = []
    for name in registry.names("ldp.transforms"):
        try:
            found.append((name, registry.load("ldp.transforms", name).shape))
        except LDPError:
            continue
    return found


def sections() -> list[str]:
    """The names of the sections that installed packages understand."""
    return registry.names("ldp.sections")


def metadata_shape(only: Collection[str] | None = None) -> Shape:
    """The shape of ``metadata``.

    Args:
        only: Load the plugins of these keys alone; the others are known and may be anything.
    """
    keys = [
        Key("source", SOURCE, "Where the rows come from.", required=True),
        Key("target", TARGET, "Where they go.", required=True),
        Key(
            "transforms",
            transforms_type() if only is None or "transforms" in only else Anything(),
            "Steps between the two, in order.",
        ),
        Key("id", NOT_EMPTY, "Tells apart two configs that would otherwise be one publisher."),
        Key("engine", NOT_EMPTY, "What executes the load.", default="duckdb"),
    ]
    for name in sorted({*sections(), *SECTION_PACKAGES}):
        keys.append(Key(name, _section_type(name, only), SECTION_DOCS.get(name, "")))
    return Shape(keys=tuple(keys), doc="What is loaded, from where, to where, and under which rules.")


def _section_type(name: str, only: Collection[str] | None) -> Type:
    if name not in sections() or (only is not None and name not in only):
        return Anything()
    try:
        found: Type = registry.load("ldp.sections", name).shape
    except LDPError:
        return Anything()
    checks = [key.type for key in found.keys if key.name == "checks"] if isinstance(found, Shape) else []
    return OneOf((checks[0], found)) if name == "quality" and checks else found


SECTION_DOCS = {
    "docs": "What the table is, for people; written into the table.",
    "maintenance": "How the table is kept fast.",
    "observability": "Where the events of a run go.",
    "quality": "The checks that a batch must pass before it is published.",
    "retries": "How often a failed run is tried again.",
    "schedule": "When it runs: five-field cron, or @hourly, @daily, @weekly, @monthly.",
    "sla": "When the data must be there.",
    "window": "The stretch of time that one run loads.",
}


def pipeline_shape(only: Collection[str] | None = None) -> Shape:
    """The shape of a whole config of the kind Pipeline; ``only`` as for ``metadata_shape``."""
    return Shape(
        keys=(
            Key("apiVersion", Literal(API_VERSION), "The version of the format.", default=API_VERSION),
            Key("kind", Literal("Pipeline"), "What the file is.", default="Pipeline"),
            Key("identifier", NOT_EMPTY, "The name of the pipeline; part of its keys.", required=True),
            Key("who", _LABEL, "A label: who it is for."),
            Key("what", _LABEL, "A label: what it loads."),
            Key("where", _LABEL, "A label: where the data is from."),
            Key("when", _LABEL, "hourly, daily, weekly or monthly mean a schedule; else a label."),
            Key("how", _LABEL, "A label: how it runs."),
            Key("metadata", metadata_shape(only), "What it does.", required=True),
        ),
        doc="A pipeline: one source, one target, and what must hold between them.",
    )
