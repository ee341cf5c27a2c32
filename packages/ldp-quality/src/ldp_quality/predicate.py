"""The users' own predicates: one condition over one row that can read nothing but that row."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from ldp_core.errors import ConfigError

if TYPE_CHECKING:
    from sqlglot import exp

_FUNCTION_NAMES = """
abs ceil ceiling floor round trunc sign sqrt cbrt exp ln log log2 log10 pow power mod greatest least
isnan isinf isfinite gcd lcm even factorial degrees radians sin cos tan asin acos atan atan2 pi
coalesce nullif ifnull if case cast try_cast typeof is_null length len char_length character_length
strlen octet_length bit_length lower lcase upper ucase trim ltrim rtrim substr substring
substring_grapheme left right replace translate reverse repeat lpad rpad concat concat_ws contains
starts_with ends_with prefix suffix position strpos instr ascii ord unicode chr split split_part
string_split str_split regexp_matches regexp_full_match regexp_extract regexp_extract_all
regexp_replace regexp_like md5 sha1 sha256 levenshtein damerau_levenshtein hamming jaccard
jaro_similarity jaro_winkler_similarity format_number to_hex hex from_hex unhex year month day hour
minute second quarter week weekofyear dayofweek isodow dayofyear dayofmonth weekday isoyear yearweek
era century decade millennium millisecond microsecond nanosecond epoch epoch_ms epoch_us epoch_ns
extract date_part datepart date_trunc datetrunc date_diff datediff date_sub datesub date_add dateadd
last_day make_date make_time make_timestamp monthname dayname strftime strptime try_strptime
to_timestamp timezone date timestamp to_days to_hours to_minutes to_seconds to_months to_years
to_weeks list_contains list_has array_contains array_has list_length array_length cardinality
list_sum list_min list_max list_avg list_count list_distinct list_unique list_position
list_any_value list_extract array_extract element_at map_extract map_keys map_values map_contains
struct_extract struct_contains list_value array_value row struct_pack list_has_any list_has_all
list_first list_last list_sort flatten bit_count xor and or not between in like ilike similar_to
"""
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
"""DuckDB functions of the values that they are given alone: none reads a file, the environment, a setting,
the clock or chance, and none is an aggregate."""


LEXEMES = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|(?P<refused>--|/\*|[$;\\]|\b(?:[ebxn]|u&)(?='))""", re.IGNORECASE
)
"""Plain texts and quoted names, on which every SQL reader agrees, and what readers may take differently."""


@functools.lru_cache(maxsize=256)
def columns_of(predicate: str) -> tuple[str, ...]:
    """The names that a predicate uses, guarded as ``tree_of`` does.

    Args:
        predicate: SQL in DuckDB's dialect, such as ``fare >= 0 OR refunded``.

    Returns:
        The names (a part of a struct by the first one), in their order. Without the columns at hand nobody
        can tell ``s.a``, the part of a struct, from a column ``a`` of a table ``s``.

    Raises:
        ConfigError: It is not exactly one condition, or does more than look at the row.
    """
    from sqlglot import exp

    tree = tree_of(predicate)
    names: dict[str, None] = {}
    for column in tree.find_all(exp.Column):
        parts = [part.name for part in column.parts]
        names.setdefault(parts[0])
    return tuple(names)


@functools.lru_cache(maxsize=256)
def tree_of(predicate: str) -> exp.Expr:
    """Guard a predicate, and give it as a tree, for reading only.

    Raises:
        ConfigError: It is not exactly one condition, or does more than look at the row.
    """
    tree = _parsed(predicate)
    for node in tree.walk():
        _refuse(node)
    return tree


def _parsed(predicate: str) -> exp.Expr:
    import sqlglot
    from sqlglot.errors import SqlglotError

    if not isinstance(predicate, str) or not predicate.strip():
        raise ConfigError(f"expression must be a SQL condition such as 'fare >= 0', got {predicate!r}")
    for lexeme in LEXEMES.finditer(predicate):
        if lexeme["refused"]:
            raise ConfigError(
                f"expression {predicate!r} must be exactly one condition, without {lexeme['refused']!r}"
            )
    try:
        statements = sqlglot.parse(f"SELECT (\n{predicate}\n)", read="duckdb")
        alone = sqlglot.parse(f"SELECT {predicate}", read="duckdb")
    except SqlglotError as error:
        raise ConfigError(f"expression {predicate!r} is not SQL: {told(error)}") from None
    if len(statements) != 1 or len(alone) != 1 or statements[0] is None or alone[0] is None:
        raise ConfigError(f"expression {predicate!r} must be exactly one condition")
    return _condition(predicate, statements[0], alone[0])


def told(error: Exception) -> str:
    """What the parser says, without its own words for what it was given."""
    text = str(error).splitlines()[0]
    if text.startswith("Error tokenizing"):
        return "a text or a quoted name does not end"
    text = re.sub(r"Required keyword: \S+ missing for <class \S+>", "an operand is missing", text)
    return re.sub(r"\.? Line \d+, Col: \d+\.?$", "", text)  # lines of what was put around it, too


def _condition(predicate: str, wrapped: exp.Expr, alone: exp.Expr) -> exp.Expr:
    """The condition, when it is one with parentheses around it and without (``1=1) OR (1=1`` is not)."""
    from sqlglot import exp

    trees = []
    for select in (wrapped, alone):
        used = {name for name, value in select.args.items() if value and name != "expressions"}
        listed = select.args.get("expressions") or []
        if not isinstance(select, exp.Select) or used - {"kind"} or len(listed) != 1:
            raise ConfigError(f"expression {predicate!r} must be exactly one condition")
        trees.append(listed[0])
    inside = trees[0]
    if not isinstance(inside, exp.Paren) or inside.this != trees[1]:
        raise ConfigError(f"expression {predicate!r} must be exactly one condition")
    condition: exp.Expr = trees[1]
    return condition


def _refuse(node: exp.Expr) -> None:
    from sqlglot import exp

    forbidden = (
        (exp.Query, "a query inside it"),
        (exp.Exists, "a query inside it"),
        (exp.Window, "a window over other rows"),
        (exp.AggFunc, "an aggregate over other rows"),
        (exp.Star, "*"),
        (exp.Lambda, "a lambda"),
        (exp.Alias, "an alias"),
        (exp.Placeholder, "a parameter"),
        (exp.Parameter, "a parameter"),
        (exp.SessionParameter, "a setting"),
        (exp.Command, "a command"),
        (exp.DDL, "a statement"),
        (exp.DML, "a statement"),
    )
    for kind, what in forbidden:
        if isinstance(node, kind):
            raise ConfigError(
                f"an expression looks at one row, so it cannot hold {what}: {node.sql('duckdb')}"
            )
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
        name = function_name(node)
        if name not in FUNCTIONS:
            raise ConfigError(f"an expression cannot call {name}", hint=_hint(name))


def function_name(node: exp.Func) -> str:
    """The name of a function; a function that the parser knows by another word under its own word."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if isinstance(node, exp.Array | exp.Struct):  # [1, 2] and {'a': 1}, too
        return "list_value" if isinstance(node, exp.Array) else "struct_pack"
    text = node.sql("duckdb", comments=False)
    written = text.partition("(")[0].strip().lower()
    return written if written.isidentifier() else str(node.sql_name()).lower()


def _hint(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, FUNCTIONS, n=1, cutoff=0.8)
    return f"did you mean {near[0]}?" if near else "it may use functions of the row's own values only"
