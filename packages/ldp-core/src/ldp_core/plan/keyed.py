"""What makes a run a keyed one: its window and its key, from the config and from what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ldp_core.config import Config, canonical
from ldp_core.errors import ConfigError, Problem
from ldp_core.ids import unfit
from ldp_core.plan.stages import Plan
from ldp_core.spi import Keyed, Spec
from ldp_core.window.model import Window
from ldp_core.window.parse import parse_window
from ldp_core.window.placeholders import fill, placeholders


@dataclass(frozen=True)
class Ask:
    """What a caller asks of one run besides the config.

    Attributes:
        window: A window as ``parse_window`` reads it.
        idempotency_key: A key that stands in place of the one that the window gives.
        overlap: ``allow`` or ``refuse``, above the config's own.
        adopt: Whether what another config published under the key counts as this one's.
        now: The moment that ``yesterday`` is counted from.
    """

    window: Any = None
    idempotency_key: str | None = None
    overlap: str | None = None
    adopt: bool = False
    now: datetime | None = None


NOTHING = Ask()
AUTO = "auto"
"""The key that the window gives, as if none had been asked for."""


@dataclass(frozen=True)
class CommitContext:
    """How ``Pipeline.run`` publishes: for which window, under which key, as which attempt of which run.

    Attributes:
        run_id: The run: a uuid or any text; made when it is None.
        attempt: From 1; a later one keeps all earlier ones from publishing.
        window: ``START/END``, a pair, or ``yesterday``, ``last-week``, ``last-month``.
        idempotency_key: A key that stands in place of the one that the window gives.
        overlap: ``allow`` or ``refuse``, above the config's own.
        adopt: Whether what another config published under the key counts as this one's.
    """

    run_id: str | None = None
    attempt: int = 1
    window: Any = None
    idempotency_key: str | None = None
    overlap: str | None = None
    adopt: bool = False

    def ask(self, now: datetime) -> Ask:
        """What it asks of a plan."""
        return Ask(self.window, self.idempotency_key, self.overlap, self.adopt, now)


def section(config: Config) -> dict[str, Any]:
    """``metadata.window``; empty where there is none, or it says ``none``."""
    value = config.section("window")
    return dict(value) if isinstance(value, dict) else {}


def zone_of(config: Config) -> str:
    """The time zone of the config's windows."""
    return str(section(config).get("timezone") or "UTC")


def problems(config: Config, ask: Ask) -> list[Problem]:
    """What is wrong with what was asked of a config that is right in itself."""
    try:
        window_of(config, ask)
    except ConfigError as error:
        return [Problem(error.message, hint=error.hint)]
    return [*_windowless(config, ask), *_wrong(ask, config.target_kind())]


def _windowless(config: Config, ask: Ask) -> list[Problem]:
    """A window asked of a config that says it has none."""
    if ask.window is None or config.section("window") != "none":
        return []
    return [
        Problem(
            "metadata.window is none: the config has no windows",
            key="metadata.window",
            file=config.name,
            line=config.document.line_of("metadata.window"),
            hint="leave --window out, or give metadata.window a size",
        )
    ]


def _wrong(ask: Ask, target: str) -> list[Problem]:
    """What is wrong with the key and the overlap that were asked of any plan, a config's or Python's."""
    found, key = [], ask.idempotency_key
    if key is not None and (why := unfit("idempotency_key", key)):
        found.append(Problem(why))
    if key == AUTO and ask.window is None:
        found.append(
            Problem(
                "idempotency key auto needs a window, because the key is derived from it", hint="--window"
            )
        )
    if ask.overlap not in (None, "allow", "refuse"):
        found.append(Problem(f"overlap must be allow or refuse, got {ask.overlap!r}"))
    found += needless_adopt(ask)
    if (key is not None or ask.adopt) and target != "ICEBERG":
        found.append(
            Problem(
                "a file target takes no idempotency key: every run replaces the file whole",
                hint="leave --idempotency-key and --adopt out; --window is allowed",
            )
        )
    return found


def needless_adopt(ask: Ask) -> list[Problem]:
    """Adopting is about what was published under a key: without one there is nothing to take over."""
    if not ask.adopt or ask.window is not None or ask.idempotency_key is not None:
        return []
    return [
        Problem(
            "adopt needs a window or a key: it takes over what another config published under that key",
            hint="give --window or --idempotency-key, or leave --adopt out",
        )
    ]


def _refuse(found: list[Problem]) -> None:
    if found:
        raise ConfigError.from_problems(tuple(found))


def window_of(config: Config, ask: Ask) -> Window | None:
    """The window asked for.

    Raises:
        ConfigError: It is none.
    """
    return None if ask.window is None else parse_window(ask.window, zone_of(config), ask.now)


def of_config(config: Config, plan: Plan, ask: Ask) -> Plan:
    """The plan of one window of a config.

    Raises:
        ConfigError: The window or the key is none.
    """
    _refuse(_windowless(config, ask))
    path = str(config.path or config.name or "")
    return keyed(plan, ask, section(config), str(config.metadata.get("id") or ""), path)


def keyed(plan: Plan, ask: Ask, said: Mapping[str, Any] | None = None, id: str = "", path: str = "") -> Plan:
    """The plan of one window: its path filled in, its key made.

    Args:
        plan: The stages.
        ask: What was asked.
        said: ``metadata.window``.
        id: ``metadata.id``.
        path: The config file, for messages.

    Raises:
        ConfigError: The window or the key is none.
    """
    _refuse(_wrong(ask, plan.write.kind))
    said = said or {}
    zone = str(said.get("timezone") or "UTC")
    window = None if ask.window is None else parse_window(ask.window, zone, ask.now)
    key = None if ask.idempotency_key == AUTO else ask.idempotency_key
    if key is None and window is not None and plan.write.kind == "ICEBERG":
        key = key_of(plan, window)
    source = plan.read.spec
    made = Keyed(
        pipeline=plan.identifier,
        source=(plan.read.kind, str(source.get("name") or "")),
        id=id,
        path=path,
        key=key,
        start=window.start if window else None,
        end=window.end if window else None,
        zone=zone,
        column=said.get("column") if window else None,
        overlap=(ask.overlap or said.get("overlap") or "refuse") == "allow",
        adopt=ask.adopt,
        empty=said.get("empty") == "publish" and window is not None,
    )
    read = replace(plan.read, spec=filled(source, window, zone))
    return replace(plan, read=read, keyed=made)


def key_of(plan: Plan, window: Window, *, replace: bool = False) -> str:
    """The key of a window of a plan into a table.

    Args:
        plan: The stages.
        window: The window.
        replace: Whether it is the key under which the window is replaced.
    """
    return keys_of(plan, (window,), replace=replace)[0]


def keys_of(plan: Plan, windows: Sequence[Window], *, replace: bool = False) -> list[str]:
    """The keys of windows of a plan into a table; see ``key_of``."""
    from ldp_core.catalogs.access import namespace

    target = plan.write.spec
    name = f"{namespace(target.sub('catalog'))}.{target.get('name')}"
    keys = [canonical.idempotency_key(plan.identifier, name, one.start, one.end) for one in windows]
    return [canonical.replace_key(key, plan.spec_hash) for key in keys] if replace else keys


def filled(spec: Spec, window: Window | None, zone: str) -> Spec:
    """A source whose path is that of one window; without a window its placeholders stay."""
    path = spec.get("path")
    if window is None or not isinstance(path, str) or not placeholders(path):
        return spec
    return replace(spec, values={**spec.values, "path": fill(path, window, zone)})


def has_placeholder(plan: Plan) -> bool:
    """Whether the path of the source waits for a window."""
    path = plan.read.spec.get("path")
    return isinstance(path, str) and bool(placeholders(path))


def need_window(plan: Plan) -> None:
    """Refuse to read a path whose placeholders nothing fills.

    Raises:
        ConfigError: It has one.
    """
    if has_placeholder(plan):
        fill(plan.read.spec.get("path"), None, "UTC")
