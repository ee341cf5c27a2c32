"""From a config to the stages of its load."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ldp_core import registry
from ldp_core.config import Config
from ldp_core.config.catalogs import find_catalog
from ldp_core.config.sections.observability import sinks
from ldp_core.errors import ConfigError, Problem
from ldp_core.plan.keyed import NOTHING, Ask, of_config
from ldp_core.plan.keyed import problems as asked
from ldp_core.plan.stages import Check, Plan, Read, Reshape, Write
from ldp_core.spi import PreparedGate


def problems(config: Config, mode: str | None = None, ask: Ask = NOTHING) -> tuple[Problem, ...]:
    """Every finding about a config, and about the mode that the command line asks for.

    ``run`` and ``plan`` both ask here and nowhere else, so that one refuses what the other refuses.
    """
    found = [*config.problems()]
    told = {problem.key for problem in found}
    found += [problem for problem in _missing_gates(config) if problem.key not in told]
    if mode is not None and not _errors(found):
        found += _mode_problems(config, mode)
    if not _errors(found):
        found += asked(config, ask)
    return tuple(dict.fromkeys(found))


def build(config: Config, mode: str | None = None, ask: Ask = NOTHING) -> Plan:
    """The stages of a config's load. Loads plugins; reads no data and looks at no table.

    Args:
        config: The config.
        mode: A write mode that stands above the config's own.
        ask: The window or the key of the run.

    Raises:
        ConfigError: The config has errors; carries them all.
    """
    errors = _errors(problems(config, mode, ask))
    if errors:
        raise ConfigError.from_problems(tuple(errors))
    source, target = config.source_kind(), config.target_kind()

    def find(name: str) -> dict[str, Any]:
        return find_catalog(name, config.base_dir, config.env)

    plan = Plan(
        identifier=config.identifier,
        read=Read(source, registry.load("ldp.sources", source), config.spec("source")),
        transforms=tuple(
            Reshape(name, registry.load("ldp.transforms", name), spec) for name, spec in config.transforms()
        ),
        checks=tuple(_check(config, name) for name in _gates(config)),
        write=Write(target, registry.load("ldp.targets", target), config.spec("target"), mode),
        base_dir=config.base_dir,
        spec_hash=config.spec_hash(),
        sinks=tuple(sinks(config.section("observability") or {}, find)),
        file=config.name,
        docs=_docs(config),
    )
    return of_config(config, plan, ask)


def _docs(config: Config) -> dict[str, Any]:
    """What is said of the table: what another section knows of it (a contract) stands above ``docs``."""
    found = dict(config.section("docs") or {})
    for name in registry.names("ldp.sections"):
        if config.metadata.get(name) is None:
            continue
        describe = getattr(registry.load("ldp.sections", name), "docs", None)
        said = describe(config.section(name), config.spec("metadata")) if describe else {}
        columns = {**(found.get("columns") or {}), **(said.get("columns") or {})}
        found = {**found, **said, **({"columns": columns} if columns else {})}
    return found


def _errors(found: tuple[Problem, ...] | list[Problem]) -> list[Problem]:
    return [problem for problem in found if problem.severity == "error"]


def _gates(config: Config) -> list[str]:
    """The sections of this config that are gates."""
    return [name for name in registry.names("ldp.gates") if config.metadata.get(name) is not None]


def _missing_gates(config: Config) -> list[Problem]:
    """Gates fail closed: a section whose gate is not installed refuses the run."""
    return [
        Problem(
            "its gate is not installed",
            key=f"metadata.{name}",
            file=config.name,
            line=config.document.line_of(f"metadata.{name}"),
            hint=f"pip install {package}",
        )
        for name, package in registry.PACKAGES["ldp.gates"].items()
        if config.metadata.get(name) is not None and registry.find("ldp.gates", name) is None
    ]


def _check(config: Config, name: str) -> Check:
    section = config.section(name)
    spec = config.spec("metadata")
    known = {"target": config.spec("target").values, "identifier": config.identifier}
    spec = replace(spec, values={**spec.values, **known})

    def prepare() -> PreparedGate:
        prepared: PreparedGate = registry.load("ldp.gates", name).prepare(section, spec)
        return prepared

    return Check(name, check_text(section), prepare)


def check_text(section: Any) -> str:
    """``3 checks, on_failure=fail``, for a section that lists its checks."""
    count = len(section.get("checks") or ())
    parts = [f"contract {section['contract']}"] if section.get("contract") else []
    parts += [f"{count} {'check' if count == 1 else 'checks'}"] if count or not parts else []
    return f"{', '.join(parts)}, on_failure={section.get('on_failure', 'fail')}"


def _mode_problems(config: Config, mode: str) -> list[Problem]:
    """What the config lacks for a mode that it does not name itself, such as ``join_cols`` for upsert."""
    target = {**config.target, "write_mode": mode}
    body = {**config.document.data, "metadata": {**config.metadata, "target": target}}
    other = Config.from_dict(body, base_dir=config.base_dir, env=config.env)
    known = {(problem.key, problem.message) for problem in config.problems()}
    return [
        replace(
            problem,
            message=f"{problem.message} (with --mode {mode})",
            file=config.name,
            line=config.document.line_of(problem.key),
        )
        for problem in other.problems()
        if (problem.key, problem.message) not in known
    ]
