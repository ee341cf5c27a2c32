"""From layers of settings to one policy that says of each setting where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ldp_maintenance.config.layers import EVOLVES, RULES, Layer, layer
from ldp_maintenance.config.properties import layer_of
from ldp_maintenance.policy import Policy

DEFAULTS = Policy()


def resolve(
    *,
    table: Mapping[str, Any] | None = None,
    section: Mapping[str, Any] | None = None,
    properties: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
    command_line: Mapping[str, Any] | None = None,
    name: str = "",
) -> Policy:
    """The policy of a table.

    The command line comes first, then the table's section of a table-config file, the ``maintenance`` section
    of its config, the properties of the table, the ``defaults`` of the file (only where it has no section for
    the table, which replaces them whole), and what this package does by default.

    Args:
        table: The table's own section of a table-config file.
        section: ``metadata.maintenance`` of its config.
        properties: All properties of the table.
        defaults: ``defaults`` of a table-config file.
        command_line: Values by their place in a policy: ``{"expire.keep_last": 3}``.
        name: The table, for messages.

    Raises:
        ConfigError: A property of the table is no fit setting.
    """
    layers = (
        layer("file defaults", defaults if table is None else None),
        layer_of(properties or {}, name),
        layer("config", section),
        layer("table", table),
        Layer("command line", command_line or {}),
    )
    return combined(layers)


def combined(layers: tuple[Layer, ...]) -> Policy:
    """One policy of several layers; later ones win."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for one in layers:
        for place, value in one.values.items():
            values[place] = value
            origins[place] = one.origin
    _evolution(values, origins)
    policy = DEFAULTS
    for place, value in values.items():
        policy = _with(policy, place, value)
    if (
        not policy.expire.enabled
        and policy.orphans.enabled
        and origins.get("orphans.enabled") != "command line"
    ):
        policy = _with(policy, "orphans.enabled", False)
        origins["orphans.enabled"] = origins.get("expire.enabled", "defaults")
    return replace(policy, origins=origins)


def _evolution(values: dict[str, Any], origins: dict[str, str]) -> None:
    """Whether there are rules, and which, as the one value that a policy has."""
    enabled, rules = values.pop(EVOLVES, None), values.pop(RULES, None)
    of_enabled, of_rules = origins.pop(EVOLVES, None), origins.pop(RULES, None)
    if enabled is False:
        values["evolution"], origins["evolution"] = (), str(of_enabled)
    elif rules is not None:
        values["evolution"], origins["evolution"] = rules, str(of_rules)
    elif enabled is not None:
        values["evolution"], origins["evolution"] = DEFAULTS.evolution, str(of_enabled)


def _with(policy: Policy, place: str, value: Any) -> Policy:
    """The policy with another value at a place."""
    head, _, rest = place.partition(".")
    if rest:
        inner: Any = getattr(policy, head)
        value = {**inner, rest: value} if isinstance(inner, Mapping) else replace(inner, **{rest: value})
    return replace(policy, **{head: value})


def places(policy: Policy) -> Iterator[tuple[str, Any, str]]:
    """Each setting of a policy: its place, its value, and where it comes from."""
    for one in fields(policy):
        value = getattr(policy, one.name)
        if one.name == "origins":
            continue
        if one.name == "properties":
            inner = dict(value).items()
        elif is_dataclass(value) and one.name != "ordering":
            inner = {item.name: getattr(value, item.name) for item in fields(value)}.items()
        else:
            yield one.name, value, policy.origins.get(one.name, "defaults")
            continue
        for name, item in inner:
            place = f"{one.name}.{name}"
            yield place, item, policy.origins.get(place, "defaults")
