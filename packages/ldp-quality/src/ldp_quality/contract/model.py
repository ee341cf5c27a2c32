"""A data contract: what it says of its tables, and where in the file it says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ldp_core.errors import ConfigError

if TYPE_CHECKING:
    from ldp_core.config.load import Document

    from ldp_quality.contract.rules import ContractRule
    from ldp_quality.plan import Context
    from ldp_quality.result import QualityReport

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Origin:
    """Where something stands.

    Attributes:
        file: The file as it was named.
        line: From 1.
        key: Such as ``schema[0].properties[1].quality[0]``.
    """

    file: str | None = None
    line: int | None = None
    key: str = ""

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line) if part is not None) or self.key


@dataclass(frozen=True)
class QualityItem:
    """One item of ``quality``, as it is written.

    Attributes:
        type: ``library``, ``sql``, ``custom`` or ``text``; library where it names a metric or a rule.
        values: All its keys.
        origin: Where it stands.
    """

    type: str
    values: Mapping[str, Any]
    origin: Origin

    @property
    def name(self) -> str | None:
        """What it is called."""
        return self.values.get("name")

    @property
    def description(self) -> str | None:
        """What it says for a person."""
        return self.values.get("description")

    @property
    def dimension(self) -> str | None:
        """``completeness``, ``uniqueness`` and so on."""
        return self.values.get("dimension")

    @property
    def severity(self) -> str | None:
        """How bad it is when it breaks, in the contract's own word."""
        return self.values.get("severity")


@dataclass(frozen=True)
class ContractProperty:
    """A column, or a part of one.

    Attributes:
        name: Its name in the contract.
        column: Its name in the table: ``physicalName``, else the name.
        values: All its keys as they are written.
        origin: Where it stands.
        quality: What must be true of it.
        parts: The properties inside it: of an object, of the items of a list, of a map's key and value.
    """

    name: str
    column: str
    values: Mapping[str, Any]
    origin: Origin
    quality: tuple[QualityItem, ...] = ()
    parts: tuple[ContractProperty, ...] = ()

    @property
    def logical_type(self) -> str | None:
        """``string``, ``integer`` and so on."""
        return self.values.get("logicalType")

    @property
    def physical_type(self) -> str | None:
        """The type in the words of its server, such as ``varchar(18)``."""
        return self.values.get("physicalType")

    @property
    def options(self) -> Mapping[str, Any]:
        """``logicalTypeOptions``."""
        return self.values.get("logicalTypeOptions") or {}

    @property
    def required(self) -> bool:
        """Whether it has a value in every row."""
        return self.values.get("required") is True

    @property
    def unique(self) -> bool:
        """Whether no two rows have the same value."""
        return self.values.get("unique") is True

    @property
    def primary_key(self) -> bool:
        """Whether it is part of the primary key."""
        return self.values.get("primaryKey") is True

    @property
    def accepted(self) -> tuple[Any, ...]:
        """The values of its ``enum``; none where it has no such list."""
        return tuple(item["value"] for item in self.values.get("enum") or ())

    @property
    def description(self) -> str | None:
        """What it says for a person; what it is called in the business where it says nothing else."""
        return self.values.get("description") or self.values.get("businessName")

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.values.get("tags") or ())


@dataclass(frozen=True)
class ContractTable:
    """An object of the contract's schema.

    Attributes:
        name: Its name in the contract.
        physical_name: Its name where it is stored; the name where nothing else is said.
        values: All its keys as they are written.
        origin: Where it stands.
        properties: Its columns.
        quality: What must be true of it.
    """

    name: str
    physical_name: str
    values: Mapping[str, Any]
    origin: Origin
    properties: tuple[ContractProperty, ...] = ()
    quality: tuple[QualityItem, ...] = ()

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of its primary key, in their order."""
        keys = [item for item in self.properties if item.primary_key]

        def place(item: ContractProperty) -> float:
            position = item.values.get("primaryKeyPosition")
            return position if isinstance(position, int) and position > 0 else float("inf")

        return tuple(item.column for item in sorted(keys, key=place))

    @property
    def description(self) -> str | None:
        """What it says for a person."""
        return self.values.get("description")

    @property
    def grain(self) -> str | None:
        """What one row is."""
        return self.values.get("dataGranularityDescription")

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.values.get("tags") or ())

    def column(self, name: str) -> ContractProperty | None:
        """A column by its name in the contract or in the table."""
        for item in self.properties:
            if name in (item.name, item.column):
                return item
        return None


@dataclass(frozen=True)
class ServiceLevel:
    """One of ``slaProperties``.

    Attributes:
        property: Such as ``latency``.
        value: What was agreed.
        unit: Such as ``d``.
        elements: What it is about, such as ``orders.created_at``.
        values: All its keys as they are written.
        origin: Where it stands.
    """

    property: str
    value: Any
    unit: str | None
    elements: tuple[str, ...]
    values: Mapping[str, Any]
    origin: Origin


@dataclass(frozen=True)
class Contract:
    """A data contract in the Open Data Contract Standard.

    Attributes:
        id: What tells it from all others.
        version: Its own version.
        api_version: The version of the standard.
        tables: What its ``schema`` holds.
        service_levels: What it promises of its service.
        values: The whole document, with the values of its variables.
        file: The file as it was named.
        lines: Where each of its keys stands.
        variables: The names of its variables.
    """

    id: str
    version: str
    api_version: str
    tables: tuple[ContractTable, ...] = ()
    service_levels: tuple[ServiceLevel, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    file: str | None = None
    lines: Document | None = field(default=None, repr=False, compare=False)
    variables: tuple[str, ...] = ()

    @classmethod
    def from_file(cls, path: str | Path, variables: Mapping[str, Any] | None = None) -> Contract:
        """Read a contract.

        Args:
            path: A JSON or YAML file.
            variables: Values of its variables, above those that it gives itself.

        Raises:
            ConfigError: It is not there, breaks the standard, or has a rule that cannot be understood;
                carries every problem with its file, line and key. Or a variable is a secret, or none of
                its own.
        """
        from ldp_quality.contract._variables import checked, unknown
        from ldp_quality.contract.read import read

        contract, problems = read(path, checked(variables))
        errors = tuple(problem for problem in problems if problem.severity == "error")
        if errors or contract is None:
            raise ConfigError.from_problems(errors)
        for name, message, hint in unknown(variables or {}, contract.variables):
            raise ConfigError(message, file=contract.file, key=f"variables.{name}", hint=hint)
        return contract

    @property
    def name(self) -> str | None:
        """What it is called."""
        return self.values.get("name")

    @property
    def status(self) -> str | None:
        """``draft``, ``active`` and so on."""
        return self.values.get("status")

    @property
    def domain(self) -> str | None:
        """The domain that its data belongs to."""
        return self.values.get("domain")

    @property
    def description(self) -> str | None:
        """What its data is for."""
        described = self.values.get("description") or {}
        return described.get("purpose") or described.get("usage")

    @property
    def owner(self) -> str | None:
        """The team's name, else the member whose role is owner; None where nobody is named."""
        team = self.values.get("team") or {}
        if isinstance(team, Mapping) and team.get("name"):
            return str(team["name"])
        members = team.get("members") or () if isinstance(team, Mapping) else team
        for member in members:
            if str(member.get("role", "")).strip().lower() in ("owner", "data owner"):
                name = member.get("name") or member.get("username")
                return None if name is None else str(name)
        return None

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.values.get("tags") or ())

    @property
    def on_failure(self) -> str | None:
        """What a failure does, where the contract as a whole says so; its rules may say otherwise."""
        from ldp_quality.contract._extras import extras
        from ldp_quality.policy import policy_of

        return policy_of(extras(self.values.get("customProperties"), "").values.get("on_failure"))

    @property
    def max_share(self) -> float | None:
        """The share of the rows (0 to 1) that may be put aside, where the contract says so."""
        from ldp_quality.contract._extras import extras
        from ldp_quality.share import share_of

        written = extras(self.values.get("customProperties"), "").values.get("max_share")
        return None if written is None else share_of(written)

    def table(self, name: str | None = None) -> ContractTable:
        """One of its tables, by its name in the contract or where it is stored.

        Args:
            name: May be left out where there is only one.

        Raises:
            ConfigError: There is no such table, none at all, or several and no name.
        """
        known = ", ".join(table.name for table in self.tables) or "none"
        if not self.tables:
            raise ConfigError(
                "the contract has no tables", file=self.file, key="schema", hint="describe one under schema"
            )
        if name is None:
            if len(self.tables) != 1:
                raise ConfigError(
                    f"the contract has several tables: {known}", file=self.file, hint="name one"
                )
            return self.tables[0]
        for table in self.tables:
            if name in (table.name, table.physical_name):
                return table
        raise ConfigError(f"the contract has no table {name}; it has: {known}", file=self.file)

    def rules(self, table: str | None = None) -> tuple[ContractRule, ...]:
        """What must be true, as rules to run; also those that cannot run, which say why.

        Args:
            table: Only those of one table; all of them by default.

        Raises:
            ConfigError: There is no such table.
        """
        from ldp_quality.contract.rules import rules_of

        wanted = None if table is None else self.table(table).name
        found, _ = rules_of(self)
        return tuple(rule for rule in found if wanted is None or rule.table in (wanted, ""))

    def check(
        self, df: Any, table: str | None = None, *, context: Mapping[str, Any] | Context | None = None
    ) -> QualityReport:
        """Judge rows by what the contract says of a table; nothing is raised where they break it.

        Args:
            df: As for ``run_checks``: rows in memory, files or tables where they lie.
            table: What the rows are of; may be left out where the contract has only one table.
            context: As for ``run_checks``.

        Raises:
            ConfigError: There is no such table, or ``df`` cannot be read.
        """
        from ldp_quality.contract.guard import check

        return check(self, df, table, context)

    def guard(
        self,
        df: Any,
        table: str | None = None,
        on_failure: str | None = None,
        *,
        context: Mapping[str, Any] | Context | None = None,
    ) -> AbstractContextManager[QualityReport]:
        """Judge rows before a block works with them: ``with contract.guard(df) as report:``.

        Where the rows break a rule, the block does not run. What only warns is logged.

        Args:
            df: As for ``check``; a RecordBatchReader is refused, for it can be read only once.
            table: As for ``check``.
            on_failure: ``fail`` or ``warn``, above what the rules and the contract say; where nobody says
                anything, a failure raises.
            context: As for ``run_checks``.

        Raises:
            DataQualityError: A rule failed or could not be evaluated; carries the report.
            ConfigError: As for ``check``, or ``on_failure`` is another word.
        """
        from ldp_quality.contract.guard import guard_of

        return guard_of(self, table, on_failure, context).over(df)

    def guarded(
        self,
        table: str | None = None,
        on_failure: str | None = None,
        *,
        context: Mapping[str, Any] | Context | None = None,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Judge the rows that a function returns: ``@contract.guarded(table="orders")``.

        The function returns what it did where the rows keep the contract, and raises as ``guard`` does where
        they break it.

        Args:
            table: As for ``check``.
            on_failure: As for ``guard``.
            context: As for ``run_checks``.

        Raises:
            ConfigError: There is no such table, or ``on_failure`` is another word.
        """
        from ldp_quality.contract.guard import decorator, guard_of

        return decorator(guard_of(self, table, on_failure, context))
