"""Measures rows: a look at the first ones, one pass for all numbers, one more for exact answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from ldp_core.errors import ConfigError

from ldp_quality import kinds
from ldp_quality._sql import Words
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.expr import Column
from ldp_quality.instants import show_ticks
from ldp_quality.kinds import Kind
from ldp_quality.plan import CannotEvaluate
from ldp_quality.profiling.model import ColumnProfile, Profile
from ldp_quality.profiling.patterns import PATTERNS, Pattern, sized

FEW = 20
"""Different values up to which a column is a set of words."""
_LOOK = 20_480
"""Rows of the first look; what they refute is not asked of all rows."""
_NEAR = 0.6
"""Share of different values, as estimated, from which a column may be a key."""
_KEYS = 8
_PAIRED = 12
_PAIRS = 3
_CALM = "1e150"
"""Floats beyond this are left out of mean and deviation, whose squares would not fit."""

_KEY_FAMILIES = {kinds.INTEGER, kinds.DECIMAL, kinds.TEXT, kinds.BINARY, kinds.OTHER, *kinds.TEMPORAL}
_PAIR_FAMILIES = {kinds.INTEGER, kinds.TEXT, kinds.OTHER, kinds.DATE}
_LISTED = {kinds.TEXT, kinds.INTEGER, kinds.BOOLEAN}


def profile(rows: Any, *, memory_limit: str | None = None) -> Profile:
    """Measure rows: nulls, different values, extremes, means, lengths, patterns, keys.

    Args:
        rows: What ``run_checks`` takes and DuckDB reads: a pyarrow Table or RecordBatchReader, a pandas or
            polars frame, a DuckDB relation, ``FileTable``, ``ldp_core.table(...)``.
        memory_limit: The engine's limit such as ``250MB``.

    Raises:
        ConfigError: It is none of these, two columns have one name, or DuckDB cannot read a value.
    """
    from ldp_quality.frames import opened

    with opened(rows, memory_limit=memory_limit) as there:
        if not isinstance(there, DuckDBExecutor):
            raise ConfigError(
                "a profile is measured by DuckDB, and these rows are in another engine; "
                "give a table of ldp_core, a FileTable or rows in memory"
            )
        try:
            return _Measure.of(there).profile()
        except CannotEvaluate as error:
            raise ConfigError(f"the rows cannot be measured: {error}") from error


@dataclass(frozen=True)
class _Measure:
    """One profile on its way.

    Attributes:
        rows: The rows.
        source: FROM text; its columns are called by position.
        words: How the checks write what they ask, so that both read values alike.
        types: DuckDB's type of each column.
    """

    rows: DuckDBExecutor
    source: str
    words: Words
    types: Mapping[str, str]

    @classmethod
    def of(cls, rows: DuckDBExecutor) -> _Measure:
        source, words = rows.relation([], ordered=False)
        found = rows.con.sql(f"SELECT * FROM {source}").types
        types = {name: str(type_) for name, type_ in zip(rows.columns, found, strict=False)}
        return cls(rows, source, words, types)

    def profile(self) -> Profile:
        patterns, keys = self._look()
        count, columns = self._numbers(patterns)
        columns = self._exact(columns, keys)
        found = Profile(count, tuple(columns))
        return found if found.keys or count < 2 else replace(found, pair=self._pair(columns, count))

    def _ask(self, wanted: Sequence[str], source: str) -> list[Any]:
        return list(self.rows.fetch(f"SELECT {', '.join(['count(*)', *wanted])} FROM {source}")[0])

    @property
    def _first(self) -> str:
        return f"(SELECT * FROM {self.source} LIMIT {_LOOK})"

    def _look(self) -> tuple[dict[str, tuple[Pattern, ...]], frozenset[str]]:
        """The patterns that the first rows do not refute, by column, and the columns that may be keys."""
        asked: list[tuple[str, Pattern | None]] = []
        wanted = []
        for name, kind in self.rows.columns.items():
            place = self.rows.places[name]
            if kind.family in _KEY_FAMILIES:
                asked.append((name, None))
                wanted.append(f"count(DISTINCT {place}) = count({place})")
            if kind.family == kinds.TEXT:
                asked += [(name, pattern) for pattern in PATTERNS]
                wanted += [self._matches(place, pattern) for pattern in PATTERNS]
        _, *answers = self._ask(wanted, self._first)
        held = [item for item, answer in zip(asked, answers, strict=True) if answer is not False]
        patterns: dict[str, tuple[Pattern, ...]] = {}
        for name, pattern in held:
            if pattern is not None:
                patterns[name] = (*patterns.get(name, ()), pattern)
        return patterns, frozenset(name for name, pattern in held if pattern is None)

    def _matches(self, place: str, pattern: Pattern) -> str:
        return f"bool_and({self.words.matches(place, pattern.regex)})"

    def _numbers(self, patterns: Mapping[str, tuple[Pattern, ...]]) -> tuple[int, list[ColumnProfile]]:
        """Everything that one pass tells."""
        wanted: list[str] = []
        spans: list[tuple[str, list[str]]] = []
        for name, kind in self.rows.columns.items():
            asked = dict(self._asked(name, kind, patterns.get(name, ())))
            spans.append((name, list(asked)))
            wanted += asked.values()
        count, *answers = self._ask(wanted, self.source)
        columns = []
        for name, words in spans:
            said = dict(zip(words, answers, strict=False))
            answers = answers[len(words) :]
            columns.append(self._column(name, count, said, patterns.get(name, ())))
        return count, columns

    def _asked(self, name: str, kind: Kind, patterns: Sequence[Pattern]) -> Iterator[tuple[str, str]]:
        place, family = self.rows.places[name], kind.family
        yield "count", f"count({place})"
        if family not in (kinds.NESTED, kinds.NULL):
            yield "distinct", f"approx_count_distinct({place})"
        value = self.words.value(Column(name))
        if family in kinds.INSTANTS and kind.unit != "ns":
            value = f"CASE WHEN isfinite({place}) THEN {value} END"
        if family == kinds.FLOAT:
            nan = self.words.is_nan(place)
            yield "nans", f"count(*) FILTER (WHERE {nan})"
            value = f"CASE WHEN NOT {nan} THEN {value} END"
        if family in kinds.ORDERED:
            yield "min", f"min({value})"
            yield "max", f"max({value})"
        if family in kinds.NUMERIC:
            number = f"CAST({place} AS DOUBLE)"
            calm = f" FILTER (WHERE abs({place}) < {_CALM})" if family == kinds.FLOAT else ""
            yield "mean", f"avg({number}){calm}"
            yield "stddev", f"stddev_samp({number}){calm}"
        if family == kinds.TEXT:
            length = f"length(CAST({place} AS VARCHAR))"
            yield "min_length", f"min({length})"
            yield "max_length", f"max({length})"
            yield from (
                (f"matches{at}", self._matches(place, pattern)) for at, pattern in enumerate(patterns)
            )

    def _column(
        self, name: str, rows: int, said: Mapping[str, Any], patterns: Sequence[Pattern]
    ) -> ColumnProfile:
        kind = self.rows.columns[name]
        low, high = said.get("min"), said.get("max")
        newest = high * kind.ns_per_tick if kind.family in kinds.INSTANTS and high is not None else None
        if kind.family in kinds.TEMPORAL and low is not None and high is not None:
            low, high = show_ticks(kind, low), show_ticks(kind, high)
        held = [pattern for at, pattern in enumerate(patterns) if said.get(f"matches{at}")]
        lengths = said.get("min_length") or 0, said.get("max_length") or 0
        fitting = (sized(pattern, *lengths) for pattern in held)
        nested = kind.family in (kinds.NESTED, kinds.NULL)
        return ColumnProfile(
            name,
            self.types[name],
            kind,
            rows,
            rows - said["count"],
            None if nested else min(said["distinct"], said["count"]),
            min=low,
            max=high,
            newest_ns=newest,
            mean=said.get("mean"),
            stddev=said.get("stddev"),
            nans=said.get("nans", 0),
            min_length=said.get("min_length"),
            max_length=said.get("max_length"),
            pattern=next((pattern for pattern in fitting if pattern is not None), None),
        )

    def _exact(self, columns: Sequence[ColumnProfile], keys: frozenset[str]) -> list[ColumnProfile]:
        """Exact counts where a column may be a key, and of each value where they are few."""
        likely = [column.name for column in columns if column.name in keys and _may_be_key(column)][:_KEYS]
        few = [column.name for column in columns if _may_be_few(column)]
        if not likely and not few:
            return list(columns)
        wanted = [f"count(DISTINCT {self.rows.places[name]})" for name in likely]
        wanted += [f"histogram({self.rows.places[name]})" for name in few]
        _, *answers = self._ask(wanted, self.source)
        counts = dict(zip(likely, answers, strict=False))
        lists = dict(zip(few, answers[len(likely) :], strict=True))
        found = []
        for column in columns:
            if column.name in counts:
                column = replace(column, distinct=counts[column.name], exact=True)
            if column.name in lists:
                column = _listed(column, lists[column.name] or {})
            found.append(column)
        return found

    def _pair(self, columns: Sequence[ColumnProfile], rows: int) -> tuple[str, str] | None:
        """Two columns that tell all rows apart; those with the fewest combinations say the most."""
        usable = [
            column
            for column in columns
            if column.kind.family in _PAIR_FAMILIES and not column.nulls and (column.distinct or 0) > 1
        ][:_PAIRED]
        pairs = [pair for pair in combinations(usable, 2) if _combinations(pair) >= rows * _NEAR]
        if not pairs:
            return None
        distinct = [f"count(DISTINCT {self._tuple(pair)}) = count(*)" for pair in pairs]
        _, *held = self._ask(distinct, self._first)
        kept = sorted((pair for pair, holds in zip(pairs, held, strict=True) if holds), key=_combinations)
        for pair in kept[:_PAIRS]:
            places = ", ".join(self.rows.places[column.name] for column in pair)
            groups = f"SELECT DISTINCT {places} FROM {self.source}"
            if self.rows.fetch(f"SELECT count(*) FROM ({groups})")[0][0] == rows:
                return pair[0].name, pair[1].name
        return None

    def _tuple(self, pair: tuple[ColumnProfile, ColumnProfile]) -> str:
        return f"({self.rows.places[pair[0].name]}, {self.rows.places[pair[1].name]})"


def _combinations(pair: tuple[ColumnProfile, ColumnProfile]) -> int:
    return (pair[0].distinct or 0) * (pair[1].distinct or 0)


def _may_be_key(column: ColumnProfile) -> bool:
    if column.count < 2 or column.distinct is None or column.distinct < column.count * _NEAR:
        return False
    # Whole numbers between two bounds cannot all differ where there are more of them than that.
    return column.kind.family != kinds.INTEGER or column.max - column.min + 1 >= column.count


def _may_be_few(column: ColumnProfile) -> bool:
    """Whether to list its values; the estimate is close where they are few."""
    return column.kind.family in _LISTED and column.distinct is not None and 0 < column.distinct <= FEW * 2


def _listed(column: ColumnProfile, counts: Mapping[Any, int]) -> ColumnProfile:
    """A column with its values where they are few; how many there are is exact in either case."""
    column = replace(column, distinct=len(counts), exact=True)
    if len(counts) > FEW:
        return column
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return replace(column, values=dict(ordered))
