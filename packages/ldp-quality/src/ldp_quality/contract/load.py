"""Reads a contract file and says everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ldp_core.config.fitting import within
from ldp_core.config.load import Document, load_document
from ldp_core.config.secrets import find_secrets, is_secret_key, mask
from ldp_core.config.validate import shown
from ldp_core.errors import Problem

from ldp_quality.contract._schema import VERSIONS, schema_of
from ldp_quality.contract._twice import twice
from ldp_quality.contract._variables import (
    PLACES,
    filled,
    own,
    own_problems,
    used,
    variables,
    without_value,
)

_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_HINT = "say ${NAME} for a variable, or leave it out"


@dataclass(frozen=True)
class Loaded:
    """A contract file as data.

    Attributes:
        document: What it holds, with the line of every key.
        version: Its ``apiVersion``; None where LDP does not read it.
        problems: What is wrong with it, each with file and line.
        open: Places that need a number, or one of some words, and hold a variable without a value.
        variables: The names of its variables.
    """

    document: Document
    version: str | None
    problems: tuple[Problem, ...] = ()
    open: tuple[Problem, ...] = ()
    variables: tuple[str, ...] = ()

    def placed(self, problem: Problem) -> Problem:
        """A problem with its file and line, and without anything secret in its text."""
        return replace(
            problem,
            message=mask(problem.message),
            file=self.document.name,
            line=self.document.line_of(problem.key),
        )


def load(path: str | Path, given: Mapping[str, Any] | None = None) -> Loaded:
    """Read and validate a contract.

    Args:
        path: A JSON or YAML file.
        given: Values of variables, above those that it gives itself.

    Raises:
        ConfigError: It is not there, or not JSON or YAML; what else is wrong is among the problems.
    """
    from ldp_quality.contract._findings import findings

    document = load_document(path)
    wrong = version_problem(document.data)
    loaded = Loaded(document, None if wrong else document.data["apiVersion"])
    if wrong:
        return replace(loaded, problems=(loaded.placed(wrong),))
    own_ones = list(own_problems(document.data))
    secrets = [*_secrets(document.data), *own_ones]
    known = tuple(dict.fromkeys((*used(document.data), *own(document.data))))
    loaded = replace(loaded, document=replace(document, data=filled(document.data, given)), variables=known)
    hidden = [problem.key for problem in secrets]
    found = [
        problem
        for problem in findings(loaded.document.data, schema_of(str(loaded.version)))
        if not any(within(problem.key, key) for key in hidden)
    ]
    values = {**own(document.data), **(given or {})}
    unset = [_unset(loaded.document.data, problem, values) for problem in found]
    found = [
        _explained(document.data, problem)
        for problem, without in zip(found, unset, strict=True)
        if without is None
    ]
    every = sorted(
        [*secrets, *found, *twice(loaded.document.data)],
        key=lambda problem: document.line_of(problem.key) or 0,
    )
    return replace(
        loaded,
        problems=tuple(loaded.placed(problem) for problem in every),
        open=tuple(loaded.placed(problem) for problem in unset if problem is not None),
    )


def _explained(written: Mapping[str, Any], problem: Problem) -> Problem:
    """That what stands there is the value of a variable, where nothing else is hinted at."""
    held = _at(written, problem.key)
    names = variables(held, PLACES) if isinstance(held, str) else []
    if not names or problem.hint:
        return problem
    return replace(problem, hint=f"what stands there is the value of {names[0]}")


def _unset(data: Mapping[str, Any], problem: Problem, values: Mapping[str, Any]) -> Problem | None:
    """That a place which the standard does not take as it is only lacks the value of a variable."""
    held = _at(data, problem.key)
    names = variables(held, PLACES) if isinstance(held, str) else []
    if not names:
        return None
    listed = ", ".join(values)
    return Problem(
        without_value(names), key=problem.key, hint=f"these have one: {listed}" if listed else None
    )


def version_problem(data: Mapping[str, Any]) -> Problem | None:
    """Why LDP does not read a contract of this version; None when it does."""
    version = data.get("apiVersion")
    read = f"LDP reads {', '.join(VERSIONS[:-1])} and {VERSIONS[-1]}"
    if version is None:
        known = "kind" in data or "schema" in data
        hint = f"say which version of the standard it is: {read}" if known else "is this a data contract?"
        return Problem("is required", key="apiVersion", hint=hint)
    if version in VERSIONS:
        return None
    if f"v{version}" in VERSIONS:
        return Problem(f"must be written v{version}, not {shown(version)}", key="apiVersion")
    text = f"{shown(version)} is not a version of the standard that is read"
    return Problem(text, key="apiVersion", hint=read)


def _secrets(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Secrets in the file; a reference to a variable is none."""
    for problem in find_secrets(data):
        value = _at(data, problem.key)
        if not (isinstance(value, str) and _REFERENCE.fullmatch(value)):
            yield Problem(problem.message, key=problem.key, hint=_HINT)
    yield from _secret_pairs(data, "")


def _secret_pairs(value: Any, key: str) -> Iterator[Problem]:
    """Custom properties whose name says that their value is a secret."""
    if isinstance(value, Mapping):
        name, held = value.get("property"), value.get("value")
        secret = isinstance(name, str) and is_secret_key(name) and isinstance(held, str) and held
        if secret and not _REFERENCE.fullmatch(str(held)):
            yield Problem("looks like an inline secret", key=f"{key}.value", hint=_HINT)
        for name, item in value.items():
            yield from _secret_pairs(item, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _secret_pairs(item, f"{key}[{at}]")


def _at(data: Any, key: str) -> Any:
    """The value of a dotted key; None where names with dots in them hide it."""
    for part in re.findall(r"[^.\[\]]+|\[\d+\]", key):
        try:
            data = data[int(part[1:-1])] if part.startswith("[") else data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data
