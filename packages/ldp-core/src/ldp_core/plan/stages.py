"""The stages of one load. ``run`` executes them and ``plan`` prints them, so a plan cannot lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldp_core.spi import Keyed, PreparedGate, Source, Spec, Target, Transform

GateMaker = Callable[[], PreparedGate]


@dataclass(frozen=True)
class Read:
    """Where the rows come from.

    Attributes:
        kind: The entry name of the source, such as ``CSV``.
        source: The plugin.
        spec: Its part of the config.
    """

    kind: str
    source: Source
    spec: Spec

    @property
    def text(self) -> str:
        """What ``plan`` says of it."""
        return f"{self.kind} {self.source.describe(self.spec)}"


@dataclass(frozen=True)
class Reshape:
    """One transform.

    Attributes:
        kind: The entry name, such as ``sql``.
        transform: The plugin.
        spec: Its part of the config.
    """

    kind: str
    transform: Transform
    spec: Spec

    @property
    def text(self) -> str:
        """What ``plan`` says of it."""
        value = self.spec.get(self.kind) or self.spec.get(f"{self.kind}_file") or ""
        line = " ".join(str(value).split())
        return f"{self.kind} {line if len(line) <= 80 else f'{line[:77]}...'}".rstrip()


@dataclass(frozen=True)
class Check:
    """One gate.

    Attributes:
        name: The section it reads, such as ``quality``.
        text: What ``plan`` says of it.
        prepare: Reads the section, once, before the source is opened.
    """

    name: str
    text: str
    prepare: GateMaker


@dataclass(frozen=True)
class Write:
    """Where the rows go.

    Attributes:
        kind: The entry name of the target, such as ``ICEBERG``.
        target: The plugin.
        spec: Its part of the config.
        mode: The write mode asked for on the command line; None for the config's own.
    """

    kind: str
    target: Target
    spec: Spec
    mode: str | None = None


@dataclass(frozen=True)
class Plan:
    """All that one load does, in order: read, transforms, cast, write, checks, publish.

    Attributes:
        identifier: The pipeline's name.
        read: The first stage.
        transforms: The stages between, in order.
        checks: The gates, which judge what was written and is not yet visible.
        write: The target, for the stages cast, write and publish.
        base_dir: The folder that relative paths start from.
        spec_hash: The hash of the config; empty for a pipeline of Python objects.
        sinks: The event sinks, each with its ``type`` and options.
        file: The config as the user named it.
        docs: ``metadata.docs``, for targets that keep them.
        keyed: The window and the key of the run.
        max_share: The share of the rows (0 to 1) that may be put aside; None leaves it to the gates.
    """

    identifier: str
    read: Read
    write: Write
    transforms: tuple[Reshape, ...] = ()
    checks: tuple[Check, ...] = ()
    base_dir: Path = field(default_factory=Path.cwd)
    spec_hash: str = ""
    sinks: tuple[Mapping[str, Any], ...] = ()
    file: str | None = None
    docs: Mapping[str, Any] = field(default_factory=dict)
    keyed: Keyed | None = None
    max_share: float | None = None

    @property
    def route(self) -> str:
        """``CSV -> ICEBERG``."""
        return f"{self.read.kind} -> {self.write.kind}"

    def stages(self, target: str, mode: str) -> list[tuple[str, str]]:
        """Each stage as (kind, text).

        Args:
            target: The target's name, as ``Target.describe`` gives it.
            mode: The write mode that holds.
        """
        lines = [("read", self.read.text)]
        lines += [("transform", step.text) for step in self.transforms]
        lines.append(("cast", f"to the columns of {target}"))
        lines.append(("write", "files that nobody sees yet"))
        lines += [("check", f"{check.name}: {check.text}") for check in self.checks]
        lines.append(("publish", f"{mode} to {target} in one step"))
        return lines
