"""Everything that is wrong with a config, found in one go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core.config import canonical
from ldp_core.config.catalogs import CATALOG, NamedCatalog, check_env, lookup
from ldp_core.config.fitting import Fitting, fitting, within
from ldp_core.config.load import child
from ldp_core.config.names import entry_of, nearest, plugin, words
from ldp_core.config.pipeline import (
    HARMLESS_SECTIONS,
    KINDS,
    RESERVED_KINDS,
    SECTION_PACKAGES,
    SOURCE,
    TARGET,
    pipeline_shape,
    transform_shapes,
)
from ldp_core.config.secrets import find_secrets, mask
from ldp_core.config.validate import check, shown
from ldp_core.errors import ConfigError, LDPError, Problem
from ldp_core.shape import Named
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from ldp_core.config.model import Config


def find_problems(config: Config) -> tuple[Problem, ...]:
    """Every finding about a config, with file and line, each once."""
    data = config.document.data
    kind = _kind(data.get("kind", "Pipeline"))
    if kind is not None:
        return (_placed(kind, config),)
    secrets = find_secrets(data)
    hidden = {problem.key for problem in secrets}
    found = [*secrets, *_structure(config), *_plugins(config, secrets)]
    kept = [
        _placed(problem, config) for problem in found if problem in secrets or not _under(problem.key, hidden)
    ]
    return tuple(dict.fromkeys(kept))


def _under(key: str, hidden: set[str]) -> bool:
    return any(within(key, name) for name in hidden)


def _placed(problem: Problem, config: Config) -> Problem:
    """With file and line, and without anything secret in its text."""
    text = mask(problem.message)
    if problem.file is not None:
        return replace(problem, message=text)
    key = problem.key
    if isinstance(config.metadata.get("quality"), list | tuple):
        key = key.replace("metadata.quality.checks[", "metadata.quality[", 1)
    line = config.document.line_of(key)
    return replace(problem, message=text, key=key, file=config.name, line=line)


def _kind(kind: Any) -> Problem | None:
    if kind == "Pipeline":
        return None
    known = list(KINDS)
    if kind == "Workflow":
        return Problem(
            "a Workflow is no pipeline",
            key="kind",
            hint="run it with ldp workflow run (pip install ldp-orchestration)",
        )
    if kind in RESERVED_KINDS:
        return Problem(f"the kind {kind} is reserved for later; the kinds are {known}", key="kind")
    if not isinstance(kind, str):
        return Problem(f"must be one of {known}, not {shown(kind)}", key="kind")
    near = next((name for name in (*KINDS, *RESERVED_KINDS) if name.lower() == kind.lower()), None)
    near = near or nearest(kind, KINDS)
    message = f"unknown kind {kind!r}; the kinds are {known}, written exactly so"
    return Problem(message, key="kind", hint=f"did you mean {near!r}?" if near else None)


def _structure(config: Config) -> Iterator[Problem]:
    """What the shapes say, and what stands in sections that nobody here can read."""
    data = config.document.data
    metadata = data.get("metadata")
    present = set(metadata) if isinstance(metadata, Mapping) else set()
    for problem in check(pipeline_shape(only=present), data):
        yield _better(problem, config)
    for name in sorted(present):
        if name in SECTION_PACKAGES or registry.find("ldp.sections", name):
            yield from _absent(name)
    engine = config.metadata.get("engine")
    if isinstance(engine, str) and engine.lower() != "duckdb":
        yield Problem(
            f"the engine {engine!r} is not installed; installed: duckdb",
            key="metadata.engine",
            hint="pip install ldp-spark" if engine.lower() == "spark" else None,
        )


def _better(problem: Problem, config: Config) -> Problem:
    """The message about a format that nobody offers says which routes there are."""
    for name in ("source", "target"):
        key = f"metadata.{name}.format"
        part = getattr(config, name)
        type = SOURCE if name == "source" else TARGET
        if problem.key == key and isinstance(part.get("format"), str) and entry_of(type, part) is None:
            message, hint = unknown_route(name, part["format"])
            return replace(problem, message=message, hint=hint)
    return problem


def unknown_route(name: str, word: Any) -> tuple[str, str | None]:
    """The message and the hint for a format that no plugin offers.

    Args:
        name: ``source`` or ``target``.
        word: What the user wrote.
    """
    sources, targets = (", ".join(words(type)) or "none" for type in (SOURCE, TARGET))
    near = nearest(word, words(SOURCE if name == "source" else TARGET)) if isinstance(word, str) else None
    message = f"no {name} reads the format {shown(word)}" if name == "source" else ""
    message = message or f"no {name} writes the format {shown(word)}"
    return f"{message}; routes: {sources} -> {targets}", f"did you mean {near}?" if near else None


def _absent(name: str) -> Iterator[Problem]:
    """What it means that a section's package is not there, or does not load."""
    key = f"metadata.{name}"
    package = SECTION_PACKAGES.get(name)
    if registry.find("ldp.sections", name) is None:
        if name in HARMLESS_SECTIONS:
            yield Problem(
                f"{key} is left alone, because {package} is not installed", key=key, severity="note"
            )
        else:
            yield Problem(f"needs {package}, which is not installed", key=key, hint=f"pip install {package}")
        return
    groups = ["ldp.sections", *(["ldp.gates"] if name == "quality" else [])]
    for group in groups:
        try:
            registry.load(group, name)
        except LDPError as error:
            yield Problem(error.message, key=key, hint=error.hint)


def _plugins(config: Config, secrets: list[Problem]) -> Iterator[Problem]:
    """What the plugins say of the parts whose shape is right."""
    known_env = True
    try:
        check_env(config.base_dir, config.env)
    except ConfigError as error:
        yield from error.about("")
        known_env = False
    for name, type in (("source", SOURCE), ("target", TARGET)):
        yield from _endpoint(config, name, type, secrets, known_env=known_env)
    yield from _transforms(config)
    yield from _sections(config)
    from ldp_core.config.sections.schedule import notes_of_when

    yield from notes_of_when(config.when, config.metadata.get("schedule"))
    from ldp_core.config.windows import window_problems

    yield from window_problems(config)
    from ldp_core.config.bad_rows import bad_rows_problems

    yield from bad_rows_problems(config)


def _endpoint(
    config: Config, name: str, type: Named, secrets: list[Problem], *, known_env: bool
) -> Iterator[Problem]:
    key = f"metadata.{name}"
    written = config.metadata.get(name)
    if not isinstance(written, Mapping):
        return
    wrong = [*check(type, written), *_inside(secrets, key)]
    named: NamedCatalog | None = None
    if isinstance(written.get("catalog"), str):
        found: list[Problem] = []
        try:
            named = lookup(written["catalog"], config.base_dir, config.env) if known_env else None
            found = named.problems() if named else []
        except ConfigError as error:
            found = list(error.about(f"{key}.catalog"))
        yield from found
        if named is None or found:
            wrong.append(Problem("cannot be read", key="catalog"))
    fit = fitting(written, wrong)
    entry = entry_of(type, fit.value)
    if entry is None or plugin(type, entry).shape is None:
        return
    spec = replace(config, metadata={**config.metadata, name: fit.value}).spec(name)
    yield from _keyed(registry.load(type.group, entry).problems(spec), key, fit)
    if not isinstance(spec.values.get("catalog"), Mapping):
        return
    provider = registry.load(CATALOG.group, spec.values["catalog"]["type"])
    for problem in _keyed(provider.problems(spec.sub("catalog")), ""):
        if named is None:
            yield replace(problem, key=child(f"{key}.catalog", problem.key))
        else:
            yield named.placed(replace(problem, key=child(named.key, problem.key)))


def _inside(problems: list[Problem], key: str) -> list[Problem]:
    """The problems below a key, with keys that begin there."""
    return [
        replace(item, key=item.key[len(key) + 1 :]) for item in problems if item.key.startswith(f"{key}.")
    ]


def _keyed(problems: list[Problem], key: str, fit: Fitting | None = None) -> Iterator[Problem]:
    """Problems with full keys, without those that only the broken parts of an object may have caused."""
    for problem in problems:
        if problem.file is not None:  # of a file that the config names
            yield problem
            continue
        inner = problem.key[len(key) :].lstrip(".") if key and within(problem.key, key) else problem.key
        found = fit.at_home(replace(problem, key=inner)) if fit else problem
        if found is not None:
            yield replace(found, key=_joined(key, found.key))


def _joined(key: str, inner: str) -> str:
    if inner == key or inner.startswith((f"{key}.", f"{key}[")):
        return inner
    if inner.startswith("["):
        return f"{key}{inner}"
    return child(key, inner) if inner else key


def transform_entry(item: Any) -> str:
    """The entry name of the transform that an item of ``metadata.transforms`` means.

    Raises:
        ConfigError: No installed transform has that shape.
    """
    shapes = transform_shapes()
    for name, shape in shapes:
        if not check(shape, item):
            return name
    raise ConfigError(f"no transform reads {shown(item)}; installed: {', '.join(name for name, _ in shapes)}")


def _transforms(config: Config) -> Iterator[Problem]:
    items = config.metadata.get("transforms")
    if not isinstance(items, list | tuple):
        return
    for at, item in enumerate(items):
        key = f"metadata.transforms[{at}]"
        for name, shape in transform_shapes():
            if not check(shape, item):
                spec = Spec(item, config.base_dir, key, config.name)
                yield from _keyed(registry.load("ldp.transforms", name).problems(spec), key)
                break


def _sections(config: Config) -> Iterator[Problem]:
    spec = config.spec("metadata")
    for name in registry.names("ldp.sections"):
        if config.metadata.get(name) is None:
            continue
        try:
            section = registry.load("ldp.sections", name)
        except LDPError:
            continue
        written = config.metadata[name]
        written = canonical.quality(written) if name == "quality" else written
        wrong = check(section.shape, written)
        if wrong and (not isinstance(written, Mapping) or any(not problem.key for problem in wrong)):
            continue
        fit = fitting(written, wrong) if wrong else None
        left = replace(config, metadata={**config.metadata, name: fit.value}) if fit else config
        yield from _keyed(section.problems(left.section(name), spec), f"metadata.{name}", fit)
