"""Routes of one's own: a class that loads from one format to another, in place of the generic route."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ldp_core import registry
from ldp_core.config import Config
from ldp_core.errors import ConfigError, PipelineNotFound
from ldp_core.plan.keyed import Ask, CommitContext, needless_adopt
from ldp_core.run.pipeline import Pipeline
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import run


class Route(Protocol):
    """What a registered class must be: made from a config, and able to run."""

    def __init__(self, config: Config) -> None: ...

    def run(self, mode: str | None = None) -> PipelineResult:
        """Load."""
        ...


R = TypeVar("R", bound=type)
_ROUTES: dict[tuple[str, str, str | None], Any] = {}


def register_pipeline(source_format: str, target_format: str, engine: str | None = None) -> Callable[[R], R]:
    """A class decorator: configs of this route are run by the class.

    Args:
        source_format: The word of ``metadata.source.format``, in any case.
        target_format: The word of ``metadata.target.format``.
        engine: The word of ``metadata.source.engine``, where the route is for that engine alone.
    """

    def register(cls: R) -> R:
        _ROUTES[_key(source_format, target_format, engine)] = cls
        return cls

    return register


def get_pipeline_class(source_format: str, target_format: str, engine: str | None = None) -> Any:
    """The class that runs a route: the registered one, else the generic ``Pipeline``.

    Raises:
        PipelineNotFound: Neither is there; the message lists the sources or targets that are installed.
    """
    found = _own(source_format, target_format, engine)
    if found is not None:
        return found
    aliases = {("JSON", "BIGQUERY"): "BIGQUERY", ("JSON", None): "JSONL"}
    source = aliases.get((source_format.upper(), engine.upper() if engine else None), source_format)
    for group, word in (("ldp.sources", source), ("ldp.targets", target_format)):
        if registry.find(group, word, ignore_case=True) is None:
            kind = group.removeprefix("ldp.").removesuffix("s")
            raise PipelineNotFound(
                f"no {kind} is called {word!r}; installed: {', '.join(registry.names(group))}"
            )
    return Pipeline


def registered_pipelines() -> list[dict[str, str | None]]:
    """The registered routes: source, target, engine and class."""
    return [
        {
            "source": source,
            "target": target,
            "engine": engine,
            "class": f"{cls.__module__}.{cls.__qualname__}",
        }
        for (source, target, engine), cls in sorted(_ROUTES.items(), key=lambda item: str(item[0]))
    ]


def run_config(
    path_or_config: str | Path | Config, mode: str | None = None, **options: Any
) -> PipelineResult:
    """Load what a config describes, by the class registered for its route or by the generic route.

    Args:
        path_or_config: A JSON or YAML file, or a config.
        mode: A write mode that stands above the config's own.
        options: ``window``, ``idempotency_key``, ``overlap``, ``adopt``, ``run_id``, ``attempt``,
            ``memory_limit``, ``strict``, ``progress``, ``clock`` and ``on_failure``, as for
            ``ldp_core.run.runner.run``. A registered class gets the first six as ``commit=``, where its
            ``run`` takes one; the rest is read by the generic route alone.

    Raises:
        ConfigError: The config has errors; carries them all. Or a window or a key is asked of a registered
            class whose ``run`` takes no ``commit``.
        DataQualityError: A gate held the batch back; nothing was published.
        LDPError: Anything else that stopped the run; nothing was published.
    """
    config = path_or_config if isinstance(path_or_config, Config) else Config.from_file(path_or_config)
    own = own_route(config)
    if own is not None:
        return _run_own(own(config), mode, options)
    return run(config, mode=mode, **options)


def own_route(config: Config) -> Any:
    """The class that is registered for the route of a config; None where the generic one runs it."""
    source = config.source
    return _own(source.get("format"), config.target.get("format"), source.get("engine"))


def _run_own(route: Any, mode: str | None, options: Mapping[str, Any]) -> PipelineResult:
    """Run a registered class. A window or a key is never dropped: without them each call would load again.

    Raises:
        ConfigError: It takes neither, and one is asked for.
    """
    asked = {
        name: options[name]
        for name, nothing in asdict(CommitContext()).items()
        if options.get(name, nothing) != nothing
    }
    wrong = needless_adopt(Ask(asked.get("window"), asked.get("idempotency_key"), adopt="adopt" in asked))
    if wrong:
        raise ConfigError.from_problems(tuple(wrong))
    takes = inspect.signature(route.run).parameters
    if asked and ("commit" in takes or any(one.kind is one.VAR_KEYWORD for one in takes.values())):
        kept: PipelineResult = route.run(mode, commit=CommitContext(**asked))
        return kept
    if "window" in asked or "idempotency_key" in asked:
        raise ConfigError(
            f"{type(route).__name__}, the class registered for this route, loads no window and takes no key",
            hint="give its run a parameter commit, a ldp_core.CommitContext, or leave them out",
        )
    result: PipelineResult = route.run(mode)
    return result


def _own(source_format: Any, target_format: Any, engine: Any) -> Any:
    """The registered class of a route, the one for its engine first."""
    key = _key(str(source_format), str(target_format), str(engine) if engine else None)
    return _ROUTES.get(key) or _ROUTES.get((key[0], key[1], None))


def _key(source_format: str, target_format: str, engine: str | None) -> tuple[str, str, str | None]:
    return source_format.upper(), target_format.upper(), engine.upper() if engine else None
