"""What a JSON Schema validator finds, as the one-line problems that LDP prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ldp_core.config.load import child, kind_of
from ldp_core.config.names import nearest
from ldp_core.config.validate import shown
from ldp_core.errors import Problem

from ldp_quality.contract._schema import SERVERS_SINCE, SINCE, TYPES_SINCE

if TYPE_CHECKING:
    from jsonschema import ValidationError

_TYPES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_UNKNOWN = ("additionalProperties", "unevaluatedProperties")


def findings(data: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Problem]:
    """Every way in which a document breaks the schema, each with its key, each once."""
    from jsonschema import Draft201909Validator

    errors = list(Draft201909Validator(schema).iter_errors(data))
    errors.sort(key=lambda error: [str(part).zfill(6) for part in error.absolute_path])
    broken = [list(error.absolute_path) for error in errors if error.validator not in _UNKNOWN]
    found: list[Problem] = []
    for error in errors:
        found += _problems(error, schema, broken)
    return list(dict.fromkeys(found))


def key_of(path: Sequence[Any]) -> str:
    """``schema[0].properties[1].name``."""
    key = ""
    for part in path:
        key = f"{key}[{part}]" if isinstance(part, int) else child(key, str(part))
    return key


def _problems(
    error: ValidationError, schema: Mapping[str, Any], broken: Sequence[Sequence[Any]]
) -> Iterator[Problem]:
    key, word = key_of(error.absolute_path), error.validator
    value: Any = error.instance
    wanted: Any = error.validator_value
    if word in _UNKNOWN:
        here = list(error.absolute_path)
        yield from _unknown(error, schema, key, any(path[: len(here)] == here for path in broken))
    elif word == "required":
        missing = re.match(r"'(.+)' is a required property", error.message)
        yield Problem("is required", key=child(key, missing[1] if missing else ""))
    elif word in ("oneOf", "anyOf"):
        yield from _choice(error, schema, key, broken)
    elif word == "enum":
        choices = [str(item) for item in wanted]
        near = nearest(value, choices) if isinstance(value, str) else None
        hint = _later(value) or (f"did you mean {near}?" if near else None)
        yield Problem(f"must be {_one_of(choices)}, not {shown(value)}", key=key, hint=hint)
    elif word == "type":
        yield Problem(f"must be {_types(wanted)}, not {kind_of(value)}", key=key)
    elif word == "pattern":
        yield Problem(f"{shown(value)} does not match {wanted}", key=key)
    elif word in ("minItems", "maxItems"):
        least = "at least" if word == "minItems" else "at most"
        count = wanted
        yield Problem(f"needs {least} {count} item{'' if count == 1 else 's'}, has {len(value)}", key=key)
    elif word == "uniqueItems":
        yield Problem("holds an item twice", key=key)
    elif word == "not":
        yield Problem("has a key that does not belong here: from", key=key)
    else:
        text = " ".join(error.message.split())
        yield Problem(text if len(text) <= 160 else f"{text[:157]}...", key=key)


def _one_of(choices: Sequence[str]) -> str:
    if len(choices) == 1:
        return choices[0]
    more = f" and {len(choices) - 12} more" if len(choices) > 12 else ""
    return f"one of {', '.join(choices[:12])}{more}"


def _types(wanted: Any) -> str:
    listed = [wanted] if isinstance(wanted, str) else list(wanted)
    return " or ".join(_TYPES.get(item, item) for item in listed)


def _unknown(
    error: ValidationError, schema: Mapping[str, Any], key: str, explained: bool
) -> Iterator[Problem]:
    """Keys that nobody knows; and those that others of the same object do not go with.

    A validator counts a key as unknown too where the part of the schema that knows it has failed; there
    that failure is what is told.
    """
    known = set(_keys(error.schema, schema, set()))
    parent = error.parent
    while parent is not None:
        known |= set(_keys(parent.schema, schema, set()))
        parent = parent.parent
    stray = re.findall(r"'([^']*)'", error.message.partition("(")[2])
    held: Any = error.instance
    for name in (item for item in stray if item in held):
        here = child(key, name)
        if name not in known:
            near = nearest(name, [item for item in known if item not in held])
            hint = _later(name) or (f"did you mean {near}?" if near else "the standard has no such key here")
            yield Problem("unknown key", key=here, hint=hint)
        elif not explained:
            yield Problem("does not go with the other keys of this object", key=here, hint=_goes_with(name))


def _goes_with(name: str) -> str | None:
    if name.startswith("must") or name == "arguments":
        return "it needs a metric"
    return {"query": "it needs type: sql", "engine": "it needs type: custom", "rule": "say metric"}.get(name)


def _keys(part: Any, schema: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """Every key that a part of the schema knows of, whatever its conditions say."""
    if not isinstance(part, Mapping):
        return
    yield from part.get("properties", {})
    reference = part.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen.add(reference)
        target: Any = schema
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]
        yield from _keys(target, schema, seen)
    for word in ("allOf", "anyOf", "oneOf"):
        for item in part.get(word, ()):
            yield from _keys(item, schema, seen)
    for word in ("then", "else"):
        yield from _keys(part.get(word), schema, seen)


def _later(word: Any) -> str | None:
    """That a later version of the standard knows the word."""
    for version, holders in SINCE.items():
        if any(word in keys for keys in holders.values()):
            return f"it came with apiVersion {version}"
        if word in TYPES_SINCE[version] or word in SERVERS_SINCE[version]:
            return f"it came with apiVersion {version}"
    return None


def _choice(
    error: ValidationError, schema: Mapping[str, Any], key: str, broken: Sequence[Sequence[Any]]
) -> Iterator[Problem]:
    """An object that must be one of several: of what kind it is decides which of them is meant."""
    every: Any = error.validator_value
    options = [name for option in every if isinstance(option, Mapping) for name in option.get("required", ())]
    if options and isinstance(error.instance, Mapping):
        given = [name for name in options if name in error.instance]
        wrong = [item for item in error.context or () if item.validator != "required"]
        if len(given) == 1 and wrong:
            for item in wrong:
                yield from _problems(item, schema, broken)
        elif given:
            yield Problem(f"only one of {' and '.join(given)} may be given", key=key)
        else:
            few = " or ".join(options) if len(options) < 3 else f"an operator such as {options[0]}"
            yield Problem(f"needs {few}", key=key)
        return
    inside = [item for item in error.context or () if len(item.absolute_path) > len(error.absolute_path)]
    if inside:
        for item in inside:
            yield from _problems(item, schema, broken)
        return
    wanted: list[Any] = [item.validator_value for item in error.context or () if item.validator == "type"]
    if wanted:
        listed = _types([name for item in wanted for name in ([item] if isinstance(item, str) else item)])
        yield Problem(f"must be {listed}, not {kind_of(error.instance)}", key=key)
        return
    patterns = [item.validator_value for item in error.context or () if item.validator == "pattern"]
    if patterns:
        yield Problem(f"{shown(error.instance)} is neither table.column nor section/id/...", key=key)
        return
    text = " ".join(error.message.split())
    yield Problem(text if len(text) <= 160 else f"{text[:157]}...", key=key)
