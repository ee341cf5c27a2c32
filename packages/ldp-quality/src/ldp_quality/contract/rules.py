"""The rules of a contract: everything it says of the rows, each to run or with the reason why it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ldp_core.errors import ConfigError, Problem

from ldp_quality.checks.base import Check
from ldp_quality.checks.logical import LogicalTypes
from ldp_quality.checks.metric import DUPLICATES, Metric
from ldp_quality.checks.not_run import NotRun
from ldp_quality.checks.unique import Unique
from ldp_quality.contract import _columns, _custom, _sla
from ldp_quality.contract._drift import drift
from ldp_quality.contract._extras import Extras, extras, merged, severity_of
from ldp_quality.contract._library import CannotRun, library
from ldp_quality.contract._query import query
from ldp_quality.contract._scope import scope_of
from ldp_quality.contract._types import inside_of, is_measure, types_of
from ldp_quality.contract._variables import PLACES, variables, without_value
from ldp_quality.contract.model import Contract, ContractProperty, ContractTable, Origin, QualityItem
from ldp_quality.policy import policy_of
from ldp_quality.rule import FAIL, QUARANTINE, WARN, Rule
from ldp_quality.share import share_of

_OF_TABLES = ("on_failure", "keep", "scope")
"""What a table says for all its rules."""


@dataclass(frozen=True)
class ContractRule:
    """A rule, and where it comes from.

    Attributes:
        rule: What to run.
        table: The contract's name of the table; empty where it names none.
        origin: Where it stands in the file.
        description: What it says for a person.
        dimension: ``completeness``, ``uniqueness`` and so on.
        severity: How bad it is, in the contract's own word.
    """

    rule: Rule
    table: str
    origin: Origin
    description: str | None = None
    dimension: str | None = None
    severity: str | None = None

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return self.rule.check.label

    @property
    def reason(self) -> str | None:
        """Why it does not run; None where it does."""
        return self.rule.check.reason if isinstance(self.rule.check, NotRun) else None


def rules_of(contract: Contract) -> tuple[tuple[ContractRule, ...], tuple[Problem, ...]]:
    """Every rule of a contract, and what is wrong with those that are meant for LDP alone."""
    mapper = _Mapper(contract)
    found = list(mapper.rules())
    return tuple(_told_apart(found)), tuple(dict.fromkeys(mapper.problems))


def _told_apart(found: list[ContractRule]) -> Iterator[ContractRule]:
    """No two rules of a table have one name."""
    seen: dict[tuple[str, str], int] = {}
    for item in found:
        at = seen[item.table, item.name] = seen.get((item.table, item.name), 0) + 1
        if at > 1:
            check = replace(item.rule.check, name=f"{item.name} #{at}")
            item = replace(item, rule=replace(item.rule, check=check))
        yield item


class _Mapper:
    """Maps one contract, and gathers its problems."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self.problems: list[Problem] = []

    def rules(self) -> Iterator[ContractRule]:
        self._whole()
        for table in self._contract.tables:
            yield from self._table(table)
        yield from self._levels()

    def _whole(self) -> None:
        """What the contract says of all its rules."""
        said = extras(self._contract.values.get("customProperties"), "")
        self.problems += said.problems
        for word, read in (("on_failure", policy_of), ("max_share", share_of)):
            try:
                read(said.values.get(word, 0 if word == "max_share" else None))
            except ConfigError as error:
                self.problems.append(Problem(error.message, key=said.keys[word]))

    def _table(self, table: ContractTable) -> Iterator[ContractRule]:
        outer = self._extras(table.values, table.origin.key)
        outer = Extras(
            {name: value for name, value in outer.values.items() if name in _OF_TABLES}, outer.keys
        )
        types = types_of(table)
        if types:
            means, compare, problems = drift(table.values.get("customProperties"), table.origin.key)
            self.problems += problems
            yield from self._derived(
                LogicalTypes(types, means, compare, inside_of(table)), table, table.origin.key, outer
            )
        keep = self._keep_of_key(table)
        for derived in _columns.of_table(table, self._contract):
            said = merged(keep, outer)
            yield from self._derived(derived.check, table, f"{table.origin.key}.{derived.key}", said)
        for column in table.properties:
            yield from self._column(column, table, outer)
        for item in table.quality:
            yield from self._item(item, table, None, outer)

    def _keep_of_key(self, table: ContractTable) -> Extras:
        """Which row of a repeated primary key stays, where a property of it says so."""
        for item in table.properties if table.primary_key else ():
            said = extras(item.values.get("customProperties"), item.origin.key) if item.primary_key else None
            if said and "keep" in said.values:
                return Extras({"keep": said.values["keep"]}, {"keep": said.keys["keep"]})
        return Extras()

    def _column(
        self, column: ContractProperty, table: ContractTable, outer: Extras
    ) -> Iterator[ContractRule]:
        own = merged(outer, self._extras(column.values, column.origin.key))
        open_ = variables([column.values.get(key) for key in ("enum", "logicalTypeOptions", "physicalName")])
        for derived in _columns.of_column(column, table, self._contract):
            check = derived.check
            about = f"{column.name}: {derived.key}"
            if is_measure(column):
                check = NotRun(f"{column.name} is a measure and no column", about)
            elif open_:
                check = NotRun(without_value(open_), about)
            key = f"{column.origin.key}.{derived.key}" if derived.key else column.origin.key
            yield from self._derived(check, table, key, own)
        for item in column.quality:
            yield from self._item(item, table, column, outer)

    def _derived(self, check: Check, table: ContractTable, key: str, said: Extras) -> Iterator[ContractRule]:
        """A rule that follows from the schema."""
        if not check.counts_rows:
            values = {name: value for name, value in said.values.items() if not name.endswith("_above")}
            said = Extras(values, said.keys)
        rule = self._rule(check, _softened(said, check))
        if rule is not None:
            line = self._line(key)
            yield ContractRule(rule, table.name, Origin(self._contract.file, line, key))

    def _line(self, key: str) -> int | None:
        return self._contract.lines.line_of(key) if self._contract.lines else None

    def _item(
        self, item: QualityItem, table: ContractTable, column: ContractProperty | None, outer: Extras
    ) -> Iterator[ContractRule]:
        """An item of ``quality``."""
        own = self._extras(item.values, item.origin.key)
        said = merged(outer, own)
        if item.severity is not None:
            said = merged(
                Extras({"severity": item.severity}, {"severity": f"{item.origin.key}.severity"}), said
            )
        rule: Rule | None
        if item.type == "custom" and _custom.is_ours(item) and not (column and is_measure(column)):
            rule, problems = _custom.ldp_rule(item, column)
            self.problems += problems
            if rule is not None and rule.on_failure is not None and "on_failure" not in own.values:
                rest = {name: value for name, value in said.values.items() if name != "on_failure"}
                said = Extras(rest, said.keys)
        else:
            rule = self._bare(self._check(item, table, column))
        if rule is not None:
            if "on_failure" not in own.values:
                said = _softened(said, rule.check)
            if "keep" in own.values and not (rule.never_judged or _has_keys(rule.check)):
                self.problems.append(Problem("keep is about rows that repeat a key", key=own.keys["keep"]))
            rule = self._more(rule, said)
        if rule is not None:
            yield ContractRule(rule, table.name, item.origin, item.description, item.dimension, item.severity)

    def _check(self, item: QualityItem, table: ContractTable, column: ContractProperty | None) -> Check:
        try:
            if column is not None and is_measure(column):
                raise CannotRun(f"{column.name} is a measure and no column")
            open_ = variables({**item.values, "description": None}, PLACES if item.type == "sql" else ())
            if open_ and item.type in ("library", "sql"):
                raise CannotRun(without_value(open_))
            if item.type == "library":
                return library(item, table, column)
            if item.type == "sql":
                return query(item, table, column)
            raise CannotRun(_reason(item))
        except CannotRun as error:
            return NotRun(str(error), _about(item, column), name=item.name)

    def _levels(self) -> Iterator[ContractRule]:
        for level in self._contract.service_levels:
            if not _sla.is_fresh(level):
                continue
            said = self._extras(level.values, level.origin.key)
            for element in level.elements or ("",):
                table, check = "", None
                try:
                    if not element:
                        raise CannotRun("it has no element, such as orders.created_at")
                    found, column = _sla.column_of(element, self._contract)
                    table, check = found.name, _sla.freshness(level, column.column)
                except CannotRun as error:
                    check = NotRun(str(error), f"{level.property} {element}".strip())
                rule = self._rule(check, said)
                if rule is not None:
                    yield ContractRule(rule, table, level.origin, level.values.get("description"))

    def _extras(self, values: Mapping[str, Any], key: str) -> Extras:
        found = extras(values.get("customProperties"), key)
        self.problems += found.problems
        if "max_share" in found.values:
            place = found.keys["max_share"]
            self.problems.append(Problem("is for the contract as a whole", key=place))
        rest = {name: value for name, value in found.values.items() if name != "max_share"}
        return Extras(rest, found.keys, found.problems)

    def _rule(self, check: Check, said: Extras) -> Rule | None:
        """A rule with what is said of it."""
        return self._more(self._bare(check), said)

    def _bare(self, check: Check) -> Rule:
        """A rule of which nothing is said; one that nothing runs does not hold data back by itself."""
        return Rule(check=check, on_failure=WARN if isinstance(check, NotRun) else None)

    def _more(self, rule: Rule, said: Extras) -> Rule | None:
        values = dict(said.values)
        keep = values.pop("keep", None)
        if "severity" in values:
            values["severity"] = severity_of(values["severity"])
        values.setdefault("scope", rule.scope or scope_of(rule.check))
        try:
            if keep is not None and _has_keys(rule.check):
                values["check"] = replace(rule.check, **{"keep": keep})
            return replace(rule, **values)
        except ConfigError as error:
            key = said.keys.get(error.key or "where") or next(iter(said.keys.values()), "")
            self.problems.append(Problem(error.message, key=key, hint=error.hint))
            return None


def _has_keys(check: Check) -> bool:
    """Whether it is about rows that repeat a key."""
    return isinstance(check, Unique) or (isinstance(check, Metric) and check.metric == DUPLICATES)


def _softened(said: Extras, check: Check) -> Extras:
    """What is said of all rules of a table or a column: one that names no rows to put aside fails."""
    word = said.values.get("on_failure")
    if check.names_rows or isinstance(check, NotRun) or str(word).lower() != QUARANTINE:
        return said
    return Extras({**said.values, "on_failure": FAIL}, said.keys, said.problems)


def _reason(item: QualityItem) -> str:
    if item.type == "text":
        return "it is a text for people"
    return f"the engine {item.values.get('engine')} is not ours; ours is engine: ldp"


def _about(item: QualityItem, column: ContractProperty | None) -> str:
    """What tells an item from others in a report."""
    place = f"{column.name}: " if column is not None else ""
    words = {
        "library": item.values.get("metric") or item.values.get("rule") or "library",
        "custom": item.values.get("engine"),
        "text": item.description or "text",
        "sql": "sql",
    }
    text = " ".join(str(words.get(item.type, item.type)).split())
    return place + (text if len(text) <= 60 else f"{text[:57]}...")
