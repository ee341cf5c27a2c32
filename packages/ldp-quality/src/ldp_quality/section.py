"""``metadata.quality``: what a config says of its data, and whether a failure blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ldp_core import registry
from ldp_core.errors import ConfigError, LDPError, Problem
from ldp_core.shape import Key, ListOf, MapOf, Named, OneOf, Scalar, Shape, Text, Type
from ldp_core.spi import Spec

from ldp_quality import histories
from ldp_quality._words import ON_FAILURE, in_our_words
from ldp_quality.config import GROUP, rule_from_item
from ldp_quality.rule import FAIL, KEYS, POLICIES, QUARANTINE
from ldp_quality.share import MAX_SHARE, SHARE, share_of

_CHECKS = ListOf(Named(GROUP, by="check", also=KEYS))
_POLICY = Text(choices=POLICIES, ignore_case=True)


class QualitySection:
    """The section as ``ldp_core.spi.Section`` wants it."""

    shape: Type = OneOf(
        (
            _CHECKS,
            Shape(
                (
                    Key(
                        "on_failure",
                        _POLICY,
                        "fail publishes nothing, warn publishes and says so, quarantine puts the bad rows "
                        "aside and publishes the others.",
                        default=FAIL,
                    ),
                    *(Key(name, _POLICY, "Another word for on_failure.") for name in ON_FAILURE),
                    Key(
                        "max_share",
                        SHARE,
                        "The share of the rows that may be put aside, by the source too; above it the run "
                        "fails.",
                        default="10%",
                    ),
                    Key("checks", _CHECKS, "What must be true of the rows.", default=[]),
                    Key(
                        "contract",
                        Text(pattern=r"\S"),
                        "A data contract (ODCS); its rules are checks, too, and it describes the table.",
                    ),
                    Key(
                        "variables",
                        MapOf(Scalar()),
                        "Values of the contract's variables ${NAME}, above those that it gives itself.",
                    ),
                ),
                doc="Checks that the rows must pass before they are published.",
            ),
        )
    )
    hashed = True

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """What the shapes cannot say; keys such as ``checks[0].min``, or ``[0].min`` of a bare list."""
        place = "checks" if isinstance(value, Mapping) else ""
        found = []
        for at, item in enumerate(_items(value)):
            for problem in _of_check(item, spec):
                key = f"{place}[{at}]" + (f".{problem.key}" if problem.key else "")
                found.append(Problem(problem.message, key=key, hint=problem.hint))
        found += _of_words(value)
        found += _of_variables(value)
        found += histories.problems(_items(value), spec, place)
        if contract_path(value, spec) is not None:
            from ldp_quality.contracted import problems

            found += problems(value, spec)
        return found or _of_target(value, spec)

    def canonical(self, value: Any, spec: Spec) -> dict[str, Any]:
        """``{on_failure, checks}`` in one spelling; a contract by its content; ``max_share`` unless usual."""
        from ldp_core.config.canonical import file_hash

        path = contract_path(value, spec)
        contract: dict[str, Any] = {} if path is None else {"contract": file_hash(path)}
        if variables_of(value):
            contract["variables"] = variables_of(value)
        share = max_share(value)
        most = {} if share in (None, MAX_SHARE) else {"max_share": share}
        checks = [in_our_words(item) if isinstance(item, Mapping) else item for item in _items(value)]
        return {"on_failure": on_failure(value), "checks": checks, **contract, **most}

    def docs(self, value: Any, spec: Spec) -> dict[str, Any]:
        """What the contract says of the table, as ``metadata.docs`` has it.

        Raises:
            ConfigError: The contract is not there or has errors.
        """
        if contract_path(value, spec) is None:
            return {}
        from ldp_quality.contracted import find

        found = find(value, spec)
        return found.docs() if found else {}

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """One line: how many checks, and what a failure does."""
        count = len(_items(value))
        parts = [f"contract {value['contract']}"] if contract_path(value, spec) is not None else []
        parts += [f"{count} check{'' if count == 1 else 's'}"] if count or not parts else []
        held = on_failure(value)
        own = [word for item in _items(value) if (word := _own(item)) not in (None, held)]
        more = "".join(f", {own.count(word)} with {word}" for word in dict.fromkeys(own))
        return [("quality", f"{', '.join(parts)}, on_failure={held}{more}")]


def _own(item: Any) -> str | None:
    """What a check says itself of its failure."""
    word = item.get("on_failure", item.get("on_fail")) if isinstance(item, Mapping) else None
    return word.lower() if isinstance(word, str) else None


def contract_path(section: Any, spec: Spec) -> str | None:
    """The contract file that a section names, from the config's folder; None without one."""
    named = section.get("contract") if isinstance(section, Mapping) else None
    return spec.path(named) if isinstance(named, str) and named.strip() else None


def variables_of(section: Any) -> dict[str, Any]:
    """The values that a section gives to its contract's variables."""
    given = section.get("variables") if isinstance(section, Mapping) else None
    return dict(given) if isinstance(given, Mapping) else {}


def _of_variables(section: Any) -> Iterator[Problem]:
    """Values that no variable may have, or that no contract asks for."""
    from ldp_quality.contract._variables import problems_of

    given = variables_of(section)
    if given and not section.get("contract"):
        yield Problem("are those of a contract, and there is none", key="variables")
    for name, item in given.items():
        for problem in problems_of(str(name), item):
            yield Problem(problem, key=f"variables.{name}")


def on_failure(section: Any) -> str:
    """``fail``, ``warn`` or ``quarantine``."""
    return said_on_failure(section) or FAIL


def said_on_failure(section: Any) -> str | None:
    """What the section says of failures; None where it says nothing.

    Raises:
        ConfigError: Two words for it differ.
    """
    word = in_our_words(section).get("on_failure") if isinstance(section, Mapping) else None
    return None if word is None else str(word).lower()


def max_share(section: Any) -> float | None:
    """The share of the rows (0 to 1) that may be put aside; None where the section says nothing."""
    written = section.get("max_share") if isinstance(section, Mapping) else None
    return None if written is None else share_of(written)


def items_of(section: Any) -> list[Any]:
    """The checks of a section in either form."""
    return list(_items(section))


def _items(section: Any) -> list[Any]:
    found = section.get("checks") if isinstance(section, Mapping) else section
    return list(found) if isinstance(found, list | tuple) else []


def is_file(spec: Spec) -> bool:
    """Whether the config's target is none that rows can be put aside of."""
    target = spec.get("target")
    written = target.get("format") if isinstance(target, Mapping) else None
    return isinstance(written, str) and written.upper() != "ICEBERG"


def _of_words(value: Any) -> list[Problem]:
    """Other words of the section that do not say the same, and a share that is none."""
    found = []
    for read in (said_on_failure, max_share):
        try:
            read(value)
        except ConfigError as error:
            found.append(Problem(error.message, key=error.key or "", hint=error.hint))
    return found


def _of_target(value: Any, spec: Spec) -> list[Problem]:
    """Rows can be put aside only where the target is a table."""
    if not is_file(spec):
        return []
    key = "on_failure" if on_failure(value) == QUARANTINE else ""
    place = "checks" if isinstance(value, Mapping) else ""
    for at, item in enumerate(_items(value)):
        said = in_our_words(item).get("on_failure") if isinstance(item, Mapping) else None
        if not key and isinstance(said, str) and said.lower() == QUARANTINE:
            key = f"{place}[{at}].on_failure"
    if not key and said_on_failure(value) is None and contract_path(value, spec) is not None:
        from ldp_quality.contracted import find

        found = find(value, spec)
        if found and any(rule.on_failure == QUARANTINE for rule in found.rules()):
            key = "contract"
    return [Problem(NO_QUARANTINE, key=key, hint="say fail or warn")] if key else []


NO_QUARANTINE = "quarantine needs a target with format ICEBERG: rows of a file cannot be put aside"


def _of_check(item: Any, spec: Spec) -> list[Problem]:
    """Problems of one check; what its shape finds is the shape's to say."""
    word = item.get("check") if isinstance(item, Mapping) else None
    entry = registry.find(GROUP, word, ignore_case=True) if isinstance(word, str) else None
    if entry is None:
        return []
    try:
        plugin = registry.load(GROUP, entry)
    except LDPError:
        return []
    try:
        item = in_our_words(item)
    except ConfigError as error:
        return [Problem(error.message, key=error.key or "", hint=error.hint)]
    common = {key.name for key in KEYS}
    known = {key.name for key in plugin.shape.keys} | common
    needed = {key.name for key in plugin.shape.keys if key.required}
    given = {key for key in item if key != "check" and key != "$schema" and not key.startswith("x-")}
    if given - known or needed - given:
        return []
    own = {name: value for name, value in item.items() if name not in common}
    found: list[Problem] = plugin.problems(Spec(own, spec.base_dir, file=spec.file))
    if found:
        return found
    try:
        rule_from_item(entry, item)
    except ConfigError as error:
        return [Problem(error.message, key=error.key or "", hint=error.hint)]
    return []


SECTION = QualitySection()
