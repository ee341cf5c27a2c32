"""A config as YAML with a remark beside each suggestion."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ldp_core.profile.suggest import Suggestion

_PLAIN = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True)
class Draft:
    """Everything that a written config says.

    Attributes:
        identifier: Of the pipeline, and the name of source and table.
        what: One line about the data, a remark at the top.
        source: Keys of the source besides its name and columns.
        columns: Column to type word and remark.
        catalog: The catalog object, or the name of one in ldp.yaml.
        keys: Candidate keys.
        partition: The partition suggestion.
        checks: The checks.
        gated: Whether checks can be judged here (ldp-quality is installed).
        remarks: Lines about the data that need a person's eye.
    """

    identifier: str
    what: str
    source: Mapping[str, Any]
    columns: Mapping[str, tuple[str, str]]
    catalog: Mapping[str, Any] | str
    keys: tuple[tuple[str, ...], ...]
    partition: Suggestion | None
    checks: tuple[Suggestion, ...]
    gated: bool
    remarks: tuple[str, ...] = ()


def to_yaml(draft: Draft) -> str:
    """The config as YAML 1.2 text with comments; loads unchanged."""
    lines = [f"# {_line(draft.what)}"]
    lines += [f"# Look at this: {_line(remark)}" for remark in draft.remarks]
    lines += ["apiVersion: ldp/v1", f"identifier: {_scalar(draft.identifier)}", "metadata:"]
    lines += ["  source:", f"    name: {_scalar(draft.identifier)}"]
    lines += [f"    {key}: {_scalar(value)}" for key, value in draft.source.items()]
    if draft.columns:
        lines.append("    columns:")
        lines += [
            f"      {_scalar(name)}: {_scalar(word)}{_remark(why)}"
            for name, (word, why) in draft.columns.items()
        ]
    lines += ["  target:", f"    name: {_scalar(draft.identifier)}", "    format: ICEBERG"]
    lines += _keys(draft.keys)
    lines += _partition(draft.partition)
    lines += _catalog(draft.catalog)
    lines += _quality(draft)
    return "\n".join(lines) + "\n"


def _keys(keys: tuple[tuple[str, ...], ...]) -> list[str]:
    if not keys:
        return ["    write_mode: append"]
    shown = " or ".join(flow(list(key)) for key in keys[:3])
    return [
        f"    # Candidate key: {_line(shown)} tells all rows apart.",
        f"    # To replace rows by key: write_mode: upsert and join_cols: {_line(flow(list(keys[0])))}",
        "    write_mode: append",
    ]


def _partition(found: Suggestion | None) -> list[str]:
    if found is None:
        return []
    mark = "" if found.active else "# "
    body = ", ".join(f"{name}: {_scalar(value)}" for name, value in found.body.items())
    return [f"    # {_line(found.evidence)}", f"    {mark}partition_by:", f"    {mark}  - {{{body}}}"]


def _catalog(catalog: Mapping[str, Any] | str) -> list[str]:
    if isinstance(catalog, str):
        return [f"    catalog: {_scalar(catalog)}"]
    return ["    catalog:", *(f"      {key}: {_scalar(value)}" for key, value in catalog.items())]


def _quality(draft: Draft) -> list[str]:
    if not draft.checks:
        return []
    mark = "" if draft.gated else "# "
    lines = [] if draft.gated else ["  # Checks need ldp-quality: pip install ldp-quality"]
    lines += [f"  {mark}quality:", f"  {mark}  on_failure: fail", f"  {mark}  checks:"]
    for check in draft.checks:
        body = ", ".join(f"{name}: {flow(value)}" for name, value in check.body.items())
        lines += [f"    {mark}  # {_line(check.evidence)}", f"    {mark}  - {{{body}}}"]
    return lines


def flow(value: Any) -> str:
    """A list or a scalar as YAML on one line."""
    if isinstance(value, list):
        return f"[{', '.join(_scalar(item) for item in value)}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """A value as YAML; a text is plain only where no reader takes it for something else."""
    if isinstance(value, str) and _PLAIN.match(value) and value.lower() not in _WORDS:
        return value
    if isinstance(value, str) and value in ("ldp/v1",):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _remark(text: str) -> str:
    return f"  # {_line(text)}" if text else ""


def _line(text: str) -> str:
    """A text on one line, printable."""
    return "".join(char if char.isprintable() else " " for char in text)
