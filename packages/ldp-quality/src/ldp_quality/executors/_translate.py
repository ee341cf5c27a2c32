"""Users' conditions, written for DuckDB, in PostgreSQL's words: only what means the same in both.

The tree is the one that ``predicate`` has guarded. Every node is written here, with its type; a node, an
argument or a type that is not named is refused, and the check is then not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ldp_quality.executors import _functions as functions
from ldp_quality.executors._typed import (
    BOOL,
    DATE,
    DEC,
    FLOAT,
    INT,
    MOMENTS,
    NULL,
    NUMBERS,
    SPAN,
    TEXT,
    TS,
    TSTZ,
    Typed,
    alike,
    as_float,
    as_moment,
    literal,
    of_column,
    refused,
    text,
)
from ldp_quality.kinds import Kind
from ldp_quality.plan import CannotEvaluate

if TYPE_CHECKING:
    from sqlglot import exp

_COMPARED = {
    "EQ": "=",
    "NEQ": "<>",
    "LT": "<",
    "LTE": "<=",
    "GT": ">",
    "GTE": ">=",
    "NullSafeEQ": "IS NOT DISTINCT FROM",
    "NullSafeNEQ": "IS DISTINCT FROM",
}
_INTEGERS = {"SMALLINT": "int2", "INT": "int4", "BIGINT": "int8"}
_SPANS = frozenset({"year", "month", "week", "day", "hour", "minute", "second"})
_NODES = {
    "Length": "length",
    "MD5": "md5",
    "StartsWith": "starts_with",
    "EndsWith": "ends_with",
    "Contains": "contains",
    "Lower": "lower",
    "Upper": "upper",
    "Reverse": "reverse",
    "Abs": "abs",
    "Sign": "sign",
    "Sqrt": "sqrt",
    "IsNan": "isnan",
    "IsInf": "isinf",
    "Year": "year",
    "Quarter": "quarter",
    "Month": "month",
    "Week": "week",
    "WeekOfYear": "week",
    "Day": "day",
    "DayOfMonth": "dayofmonth",
    "DayOfYear": "dayofyear",
    "DayOfWeek": "dayofweek",
    "DayOfWeekIso": "isodow",
    "Hour": "hour",
    "Minute": "minute",
    "Second": "second",
    "Ceil": "ceil",
    "Floor": "floor",
}
"""Functions that the parser knows by a node of their own, with ``this`` and at most ``expression``."""


def to_postgres(condition: str, places: Mapping[str, str], kinds: Mapping[str, Kind]) -> str:
    """A guarded condition as PostgreSQL's.

    Args:
        condition: In DuckDB's dialect.
        places: SQL of each column, by the user's name.
        kinds: Kind of each column, by the user's name.

    Raises:
        CannotEvaluate: Some part of it has no same meaning there, or it is not true or false.
    """
    from ldp_quality.predicate import tree_of

    written = _Writer(places, kinds).write(tree_of(condition))
    if written.type not in (BOOL, NULL):
        raise CannotEvaluate(f"{condition!r} gives {written.type}, not true or false")
    return f"({written.sql})" if written.type == BOOL else "(NULL::boolean)"


class _Writer:
    def __init__(self, places: Mapping[str, str], kinds: Mapping[str, Kind]) -> None:
        self._places = places
        self._kinds = kinds
        self._writers: dict[str, tuple[Callable[[Any], Typed], set[str]]] = {
            "Column": (self._column, {"this"}),
            "Literal": (self._literal, {"this", "is_string"}),
            "Boolean": (lambda n: Typed("true" if n.this else "false", BOOL), {"this"}),
            "Null": (lambda n: Typed("NULL", NULL), set()),
            "Paren": (lambda n: self.write(n.this), {"this"}),
            "Not": (lambda n: Typed(f"(NOT {self._boolean(n.this)})", BOOL), {"this"}),
            "And": (lambda n: self._joined(n, "AND"), {"this", "expression"}),
            "Or": (lambda n: self._joined(n, "OR"), {"this", "expression"}),
            "Is": (self._is, {"this", "expression"}),
            "Between": (self._between, {"this", "low", "high"}),
            "In": (self._in, {"this", "expressions"}),
            "Neg": (self._negative, {"this"}),
            "Add": (lambda n: self._sum(n, "+"), {"this", "expression"}),
            "Sub": (lambda n: self._sum(n, "-"), {"this", "expression"}),
            "Mul": (self._product, {"this", "expression"}),
            "Div": (self._quotient, {"this", "expression"}),
            "Mod": (self._rest, {"this", "expression"}),
            "Like": (lambda n: self._like(n, ignore_case=False), {"this", "expression"}),
            "ILike": (lambda n: self._like(n, ignore_case=True), {"this", "expression"}),
            "RegexpLike": (lambda n: self._matches(n, whole=False), {"this", "expression"}),
            "RegexpFullMatch": (lambda n: self._matches(n, whole=True), {"this", "expression"}),
            "Cast": (self._cast, {"this", "to"}),
            "Case": (self._case, {"this", "ifs", "default"}),
            "If": (self._if, {"this", "true", "false"}),
            "Interval": (self._interval, {"this", "unit"}),
            "Coalesce": (lambda n: self._one_of(n, "coalesce"), {"this", "expressions"}),
            "Greatest": (lambda n: self._one_of(n, "greatest"), {"this", "expressions", "ignore_nulls"}),
            "Least": (lambda n: self._one_of(n, "least"), {"this", "expressions", "ignore_nulls"}),
            "Nullif": (self._nullif, {"this", "expression"}),
            "Concat": (lambda n: self._texts("concat", *n.expressions), {"expressions", "safe", "coalesce"}),
            "DPipe": (lambda n: self._texts("||", n.this, n.expression), {"this", "expression", "safe"}),
            "StrPosition": (
                lambda n: self._texts("strpos", n.this, n.args["substr"]),
                {"this", "substr"},
            ),
            "Replace": (
                lambda n: self._texts("replace", n.this, n.expression, n.args["replacement"]),
                {"this", "expression", "replacement"},
            ),
            "Trim": (self._trim, {"this", "expression", "position"}),
            "Left": (lambda n: self._part("left", n.this, n.expression), {"this", "expression"}),
            "Right": (lambda n: self._part("right", n.this, n.expression), {"this", "expression"}),
            "Substring": (
                lambda n: self._part("substr", n.this, n.args["start"], n.args.get("length")),
                {"this", "start", "length"},
            ),
            "SplitPart": (self._split_part, {"this", "delimiter", "part_index"}),
            "Round": (self._round, {"this", "decimals"}),
            "Extract": (
                lambda n: functions.extract(n.this.name.lower(), self.write(n.expression)),
                {"this", "expression"},
            ),
            "TimestampTrunc": (self._trunc, {"this", "unit"}),
            "DateTrunc": (self._trunc, {"this", "unit"}),
            "DateDiff": (self._date_diff, {"this", "expression", "unit", "date_part_boundary"}),
            "Anonymous": (self._anonymous, {"this", "expressions"}),
            **{name: (self._compared, {"this", "expression"}) for name in _COMPARED},
            **{name: (self._named, {"this", "expression"}) for name in _NODES},
        }

    def write(self, node: exp.Expr) -> Typed:
        """One node, and all below it."""
        name = type(node).__name__
        if name not in self._writers:
            raise refused(node.sql("duckdb"))
        writer, known = self._writers[name]
        given = {key for key, value in node.args.items() if value not in (None, False, [])}
        if given - known - {"negate", "typed"}:
            raise refused(node.sql("duckdb"))
        written = writer(node)
        return Typed(f"(NOT {written.sql})", BOOL) if node.args.get("negate") else written

    def _column(self, node: exp.Expr) -> Typed:
        same = [name for name in self._places if name.lower() == node.name.lower()]
        if len(same) != 1:
            raise CannotEvaluate(f"{node.name!r} is no column of the table, which has {list(self._places)}")
        return of_column(same[0], self._places[same[0]], self._kinds[same[0]])

    def _literal(self, node: exp.Expr) -> Typed:
        value = str(node.this)
        if node.args["is_string"]:
            return Typed(f'({text(value)} COLLATE "C")', TEXT, text=value)
        if re.fullmatch(r"\d{1,18}", value):
            return Typed(value, INT, whole=int(value))
        if re.fullmatch(r"\d*\.\d+|\d+\.\d*", value) and len(value) < 39:
            return Typed(f"'{value}'::numeric", DEC, digits=len(value) - 1)
        if re.fullmatch(r"(\d+\.?\d*|\.\d+)[eE][+-]?\d{1,3}", value):
            return Typed(f"'{value}'::float8", FLOAT)
        raise refused(f"the number {value}")

    def _boolean(self, node: exp.Expr) -> str:
        written = self.write(node)
        if written.type == NULL:
            return "NULL::boolean"
        if written.type != BOOL:
            raise refused(f"{written.type} as true or false")
        return written.sql

    def _joined(self, node: exp.Expr, word: str) -> Typed:
        return Typed(f"({self._boolean(node.this)} {word} {self._boolean(node.expression)})", BOOL)

    def _is(self, node: exp.Expr) -> Typed:
        word = type(node.expression).__name__
        if word == "Null":
            return Typed(f"({self.write(node.this).sql} IS NULL)", BOOL)
        if word != "Boolean":
            raise refused(node.sql("duckdb"))
        return Typed(f"({self._boolean(node.this)} IS {'TRUE' if node.expression.this else 'FALSE'})", BOOL)

    def _pair(self, left: Typed, operator: str, right: Typed) -> str:
        (one, other), _ = alike([left, right], "a comparison")
        return f"({one.sql} {operator} {other.sql})"

    def _compared(self, node: exp.Expr) -> Typed:
        operator = _COMPARED[type(node).__name__]
        return Typed(self._pair(self.write(node.this), operator, self.write(node.expression)), BOOL)

    def _between(self, node: exp.Expr) -> Typed:
        value, low, high = (self.write(node.args[name]) for name in ("this", "low", "high"))
        return Typed(f"({self._pair(value, '>=', low)} AND {self._pair(value, '<=', high)})", BOOL)

    def _in(self, node: exp.Expr) -> Typed:
        value = self.write(node.this)
        tests = [self._pair(value, "=", self.write(item)) for item in node.expressions]
        if not tests:
            raise refused(node.sql("duckdb"))
        return Typed(f"({' OR '.join(tests)})", BOOL)

    def _negative(self, node: exp.Expr) -> Typed:
        item = self.write(node.this)
        if item.type not in NUMBERS:
            raise refused(f"- of {item.type}")
        whole = None if item.whole is None else -item.whole
        return Typed(f"(-{item.sql})", item.type, whole=whole, digits=item.digits)

    def _sum(self, node: exp.Expr, sign: str) -> Typed:
        left, right = self.write(node.this), self.write(node.expression)
        types = (left.type, right.type)
        if types[0] in MOMENTS and types[1] == SPAN:
            return functions.moved(left, right, sign)
        if types == (SPAN, left.type) and sign == "+" and types[1] in MOMENTS:
            return functions.moved(right, left, sign)
        if types == (DATE, INT):
            return Typed(f"({left.sql} {sign} ({right.sql})::int)", DATE)
        if sign == "-" and types == (DATE, DATE):
            return Typed(f"({left.sql} - {right.sql})", INT)
        if sign == "-" and types[0] in MOMENTS and types[1] in MOMENTS and TSTZ not in types:
            return Typed(f"({as_moment(left, TS).sql} - {as_moment(right, TS).sql})", SPAN)
        return self._numbers(left, sign, right)

    def _numbers(self, left: Typed, sign: str, right: Typed) -> Typed:
        if {left.type, right.type} - NUMBERS:
            raise refused(f"{left.type} {sign} {right.type}")
        (one, other), type_ = alike([left, right], sign)
        return Typed(f"({one.sql} {sign} {other.sql})", type_)

    def _product(self, node: exp.Expr) -> Typed:
        return self._numbers(self.write(node.this), "*", self.write(node.expression))

    def _quotient(self, node: exp.Expr) -> Typed:
        left, right = (as_float(self.write(part)) for part in (node.this, node.expression))
        return Typed(f"({left.sql} / {right.sql})", FLOAT)

    def _rest(self, node: exp.Expr) -> Typed:
        left, right = self.write(node.this), self.write(node.expression)
        if FLOAT in (left.type, right.type):
            raise refused("% of floats")
        return self._numbers(left, "%", right)

    def _like(self, node: exp.Expr, *, ignore_case: bool) -> Typed:
        return functions.like(self.write(node.this), self.write(node.expression), ignore_case=ignore_case)

    def _matches(self, node: exp.Expr, *, whole: bool) -> Typed:
        return functions.matches(self.write(node.this), self.write(node.expression), whole=whole)

    def _cast(self, node: exp.Expr) -> Typed:
        item, target = self.write(node.this), node.args["to"]
        name = str(target.this.name)
        if name in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMPTZ"):
            wanted = {"DATE": DATE, "TIMESTAMPTZ": TSTZ}.get(name, TS)
            if item.text is not None:
                return literal(item.text, wanted, "a cast")
            if item.type in MOMENTS | {NULL}:
                return as_moment(item, wanted)
        if name in _INTEGERS and item.type in {INT, DEC, FLOAT, TEXT, NULL}:
            return Typed(f"(({item.sql})::{_INTEGERS[name]})", INT)
        if name == "DOUBLE":
            return Typed(f"(({item.sql})::float8)", FLOAT) if item.type == TEXT else as_float(item)
        if name == "DECIMAL" and item.type in {INT, DEC, NULL} and target.expressions:
            precision, scale = ([int(part.name) for part in target.expressions] + [0])[:2]
            return Typed(f"(({item.sql})::numeric({precision}, {scale}))", DEC, digits=precision)
        if name in ("TEXT", "VARCHAR") and item.type in {TEXT, INT, BOOL, NULL} and not target.expressions:
            return Typed(f'(({item.sql})::text COLLATE "C")', TEXT)
        if name == "BOOLEAN" and item.type in {BOOL, INT}:
            return item if item.type == BOOL else Typed(f"({item.sql} <> 0)", BOOL)
        raise refused(f"a cast of {item.type} to {name}")

    def _case(self, node: exp.Expr) -> Typed:
        subject = self.write(node.this) if node.this is not None else None
        conditions = []
        for item in node.args["ifs"]:
            when = self._boolean(item.this) if subject is None else ""
            conditions.append(
                when or self._pair(subject or self.write(item.this), "=", self.write(item.this))
            )
        default = node.args.get("default")
        values = [self.write(item.args["true"]) for item in node.args["ifs"]]
        values.append(self.write(default) if default is not None else Typed("NULL", NULL))
        return self._chosen(conditions, values)

    def _if(self, node: exp.Expr) -> Typed:
        other = node.args.get("false")
        values = [
            self.write(node.args["true"]),
            self.write(other) if other is not None else Typed("NULL", NULL),
        ]
        return self._chosen([self._boolean(node.this)], values)

    def _chosen(self, conditions: list[str], values: list[Typed]) -> Typed:
        same, type_ = alike(values, "CASE")
        if type_ == DEC and any(item.type == INT for item in same):
            same = [Typed(f"(({item.sql})::numeric)", DEC) for item in same]
        whens = " ".join(
            f"WHEN {when} THEN {item.sql}" for when, item in zip(conditions, same[:-1], strict=True)
        )
        return Typed(f"(CASE {whens} ELSE {same[-1].sql} END)", type_)

    def _interval(self, node: exp.Expr) -> Typed:
        unit = node.args.get("unit")
        name = unit.name.lower().removesuffix("s") if unit is not None else ""
        amount = str(node.this.name) if type(node.this).__name__ == "Literal" else ""
        if name not in _SPANS or not re.fullmatch(r"-?\d{1,6}", amount):
            raise refused(node.sql("duckdb"))
        return Typed(f"'{amount} {name}'::interval", SPAN)

    def _one_of(self, node: exp.Expr, name: str) -> Typed:
        return functions.one_of(name, [self.write(item) for item in (node.this, *node.expressions)])

    def _nullif(self, node: exp.Expr) -> Typed:
        return functions.one_of("nullif", [self.write(node.this), self.write(node.expression)])

    def _texts(self, name: str, *nodes: exp.Expr) -> Typed:
        return functions.text_call(name, [self.write(node) for node in nodes])

    def _trim(self, node: exp.Expr) -> Typed:
        characters = node.args.get("expression")
        given = self.write(characters) if characters is not None else None
        return functions.trim(self.write(node.this), given, str(node.args.get("position") or "").lower())

    def _part(self, name: str, item: exp.Expr, *numbers: exp.Expr | None) -> Typed:
        written = [self.write(number) if number is not None else None for number in numbers]
        return functions.part(name, self.write(item), *written)

    def _split_part(self, node: exp.Expr) -> Typed:
        separator, number = self.write(node.args["delimiter"]), self.write(node.args["part_index"])
        return functions.split_part(self.write(node.this), separator, number)

    def _round(self, node: exp.Expr) -> Typed:
        digits = node.args.get("decimals")
        return functions.rounded(
            "round", self.write(node.this), self.write(digits) if digits is not None else None
        )

    def _trunc(self, node: exp.Expr) -> Typed:
        return functions.date_trunc(node.args["unit"].name.lower(), self.write(node.this))

    def _date_diff(self, node: exp.Expr) -> Typed:
        unit = node.args.get("unit")
        if unit is None:
            raise refused(node.sql("duckdb"))
        return functions.date_diff(unit.name.lower(), self.write(node.expression), self.write(node.this))

    def _named(self, node: exp.Expr) -> Typed:
        other = node.args.get("expression")
        return self._call(_NODES[type(node).__name__], [node.this, *([] if other is None else [other])])

    def _anonymous(self, node: exp.Expr) -> Typed:
        name = str(node.name).lower()
        if name in ("date_part", "datepart") and len(node.expressions) == 2:
            part = self.write(node.expressions[0]).text
            return functions.extract(str(part).lower(), self.write(node.expressions[1]))
        known = {"prefix": "starts_with", "suffix": "ends_with"}.get(name, name)
        return self._call(known, node.expressions)

    def _call(self, name: str, nodes: list[exp.Expr]) -> Typed:
        items = [self.write(node) for node in nodes]
        if name in ("length", "strlen", "md5", "starts_with", "ends_with", "contains"):
            return functions.text_call(name, items)
        if len(items) == 1:
            if name in ("lower", "upper", "reverse"):
                return functions.ascii_call(name, items[0])
            if name in ("abs", "sign", "sqrt", "isnan", "isinf", "isfinite"):
                return functions.number(name, items[0])
            if name in ("ceil", "floor"):
                return functions.rounded(name, items[0])
            return functions.extract(name, items[0])
        raise refused(f"the function {name}")
