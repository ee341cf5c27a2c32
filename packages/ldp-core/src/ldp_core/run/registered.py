"""Routes of one's own: a class that loads from one format to another, in place of the generic route."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ldp_core import registry
from ldp_core.config import Config
from ldp_core.errors import PipelineNotFound
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
        options: ``memory_limit``, ``strict``, ``progress``, ``clock``, ``run_id`` and ``attempt``, as for
            ``ldp_core.run.runner.run``; the generic route alone reads them.

    Raises:
        ConfigError: The config has errors; carries them all.
        DataQualityError: A gate held the batch back; nothing was published.
        LDPError: Anything else that stopped the run; nothing was published.
    """
    config = path_or_config if isinstance(path_or_config, Config) else Config.from_file(path_or_config)
    source, target = config.source, config.target
    own = _own(source.get("format"), target.get("format"), source.get("engine"))
    if own is not None:
        result: PipelineResult = own(config).run(mode)
        return result
    return run(config, mode=mode, **options)


def _own(source_format: Any, target_format: Any, engine: Any) -> Any:
    """The registered class of a route, the one for its engine first."""
    key = _key(str(source_format), str(target_format), str(engine) if engine else None)
    return _ROUTES.get(key) or _ROUTES.get((key[0], key[1], None))


def _key(source_format: str, target_format: str, engine: str | None) -> tuple[str, str, str | None]:
    return source_format.upper(), target_format.upper(), engine.upper() if engine else None
