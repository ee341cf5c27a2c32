"""Open a JSON source: kinds over the whole input, then types like those of text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ldp_core._duck import text
from ldp_core.errors import DriftError, NoData, SourceError
from ldp_core.sources.csv_apart import may_split
from ldp_core.sources.csv_extract import Column, CsvExtract, newly_fixed
from ldp_core.sources.csv_infer import Evidence, candidates, count_each
from ldp_core.sources.csv_open import fixed_casts, required, tell_odd
from ldp_core.sources.csv_types import BOOLEAN, DOUBLE, LONG, TEXT, UNKNOWN, Cast, cast_of_arrow, decimal
from ldp_core.sources.json_input import JsonInput, Seen, look, open_files, pointer

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import RunContext, Spec

_NUMBERS = frozenset({"BIGINT", "UBIGINT", "HUGEINT", "DOUBLE"})
_NESTED = frozenset({"OBJECT", "ARRAY"})
_INNER = {"UBIGINT": "BIGINT", "HUGEINT": "DECIMAL(38,0)", "JSON": "VARCHAR"}


def open_json(spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> CsvExtract:
    """Open a JSON source; see ``Source.open``."""
    apart = spec.get("on_bad_rows") == "quarantine"
    source, seen = _looked(open_files(spec, ctx), ctx, apart=apart)
    bare = not seen
    if wanted is not None and bare:
        seen += [Seen(column.name, frozenset(), False) for column in wanted if _fillable(column.type)]
    for name in sorted(set(spec.get("columns") or {}) - {key.name for key in seen}):
        if not bare:
            ctx.warn(f"column {name}: no record has this key")
        seen.append(Seen(name, frozenset(), False))
    if not seen:
        raise NoData(f"No data: there is no row in {', '.join(list(source.shown.values())[:3])}")
    source = replace(source, names=tuple(key.name for key in seen))
    fixed = fixed_casts(spec, source, _flat(wanted))
    columns = [
        Column(key.name, fixed[key.name], True)
        if key.name in fixed
        else Column(
            key.name,
            _nested(source, key, ctx, _nested_type(wanted, key.name)) or (TEXT if key.kinds else UNKNOWN),
        )
        for key in seen
    ]
    options = {
        at: _options(key, apart=apart)
        for at, key in enumerate(seen)
        if key.name not in fixed and columns[at].cast == TEXT
    }
    counted = count_each(ctx.con, source.text_sql(), {at: casts for at, casts in options.items() if casts})
    for at, evidence in counted.items():
        columns[at] = _decided(source, seen, at, evidence, ctx, apart=apart)
    for key, column in zip(seen, columns, strict=True):
        if not column.fixed:
            _tell_mixed(key, ctx)
    return CsvExtract(
        source,
        tuple(columns),
        ctx,
        _settled,
        apart,
        newly_fixed(tuple(columns), fixed),
        required(fixed, wanted) if apart else frozenset(),
    )


def _looked(source: JsonInput, ctx: RunContext, *, apart: bool) -> tuple[JsonInput, list[Seen]]:
    """The keys of the input, without its broken lines where they may be put aside."""
    try:
        return source, look(source, ctx)
    except SourceError:
        split = source.without_broken(ctx) if apart and may_split(ctx) else None
        if split is None:
            raise
        return split, look(split, ctx)


def _settled(source: Any, columns: tuple[Column, ...], ctx: RunContext) -> tuple[Column, ...]:
    """Types that were decided over the whole input do not change."""
    return columns


def _fillable(type: pa.DataType) -> bool:
    """Whether a column of a table can have values of text."""
    import pyarrow as pa

    return pa.types.is_nested(type) or cast_of_arrow(type) is not None


def _flat(wanted: pa.Schema | None) -> pa.Schema | None:
    """The columns of a table that are not nested: nested values are typed by what is in them."""
    import pyarrow as pa

    if wanted is None:
        return None
    return pa.schema([column for column in wanted if not pa.types.is_nested(column.type)])


def _nested_type(wanted: pa.Schema | None, name: str) -> pa.DataType | None:
    """The type of a nested column of the table, or None."""
    import pyarrow as pa

    if wanted is None or name not in wanted.names:
        return None
    found = wanted.field(name).type
    return found if pa.types.is_nested(found) else None


def _options(key: Seen, *, apart: bool) -> list[Cast]:
    """The types that values of these kinds may have; where rows may be put aside, all but a few of them."""
    numbers = [LONG, decimal(38, 0), DOUBLE.with_options(lenient=True)]
    if key.kinds and key.kinds <= _NUMBERS:
        return numbers
    if key.kinds == {"BOOLEAN"}:
        return [BOOLEAN]
    if key.kinds == {"VARCHAR"}:
        moments = ("date", "timestamp", "timestamptz")
        return [cast for cast in candidates() if cast.kind in moments and "%" not in (cast.format or "")]
    if apart:
        return (numbers if key.kinds & _NUMBERS else []) + ([BOOLEAN] if "BOOLEAN" in key.kinds else [])
    return []


def _decided(
    source: JsonInput, seen: list[Seen], at: int, evidence: Evidence, ctx: RunContext, *, apart: bool
) -> Column:
    """The type of a column by all its values; with rows put aside, that of all but a few."""
    key, holding, near = seen[at], evidence.holding(), evidence.nearly()
    alike = key.kinds <= _NUMBERS or len(key.kinds) == 1
    if holding:
        return Column(key.name, holding[0] if alike else TEXT)
    if apart and near is not None and key.kinds != {"VARCHAR"}:
        tell_odd(source, Column(key.name, TEXT), at, evidence, near, ctx, apart=True)
        return Column(key.name, near, True)
    if key.kinds <= _NUMBERS:
        _tell(key, "holds numbers that no number type keeps exactly", ctx)
    return Column(key.name, TEXT)


def _tell_mixed(key: Seen, ctx: RunContext) -> None:
    scalar = {"number" if kind in _NUMBERS else kind for kind in key.kinds}
    if len(scalar) > 1:
        words = {
            "VARCHAR": "strings",
            "BOOLEAN": "booleans",
            "OBJECT": "objects",
            "ARRAY": "arrays",
            "number": "numbers",
        }
        _tell(key, f"holds {' and '.join(sorted(words[kind] for kind in scalar))}", ctx)


def _tell(key: Seen, what: str, ctx: RunContext) -> None:
    line = f"column {key.name} {what}"
    if ctx.strict:
        raise DriftError(line, hint=f"declare columns: {{{key.name}: text}}")
    ctx.warn(f"{line}; loaded as text")


def _nested(source: JsonInput, key: Seen, ctx: RunContext, wanted: pa.DataType | None) -> Cast | None:
    """The cast of a column of objects or arrays: the structure of all its values; None keeps the text.

    Where the input has no value, the table's type fills the gap.
    """
    import pyarrow as pa

    if not key.kinds and wanted is not None:
        return Cast("unknown", "VARCHAR", nested=pa.null())
    if not key.kinds or not key.kinds <= _NESTED or len(key.kinds) > 1:
        return None
    if key.long_digits:
        _tell(key, "holds nested numbers of more than 18 digits", ctx)
        return None
    rows = ctx.con.execute(
        f"SELECT json_group_structure(json_extract(json, ?)) FROM {source.objects_sql()}", [pointer(key.name)]
    ).fetchall()
    found = json.loads(rows[0][0])
    structure = _plain({} if found == "JSON" else found, wanted)  # objects, none of which has a key
    if structure is None:
        return None
    body = json.dumps(structure)
    empty: Any = ctx.con.sql(
        f"SELECT from_json(x, {text(body)}) AS x FROM (VALUES (NULL::JSON), ('{{}}')) AS v(x) LIMIT 0"
    ).to_arrow_table()
    return Cast("nested", "JSON", format=body, nested=empty.schema.field(0).type)


def _plain(structure: Any, wanted: pa.DataType | None) -> Any:
    """A structure in types that a table has; None where it has an object without keys.

    What has no value is ``NULL`` where the table says its type, else text.
    """
    import pyarrow as pa

    if isinstance(structure, dict):
        known = {f.name: f.type for f in wanted} if wanted is not None and pa.types.is_struct(wanted) else {}
        inner = {name: _plain(value, known.get(name)) for name, value in structure.items()}
        if not inner and known:
            return {next(iter(known)): "NULL"}
        return inner if inner and None not in inner.values() else None
    if isinstance(structure, list):
        item = wanted.value_type if wanted is not None and pa.types.is_list(wanted) else None
        items = [_plain(value, item) for value in structure]
        return None if None in items else items
    if structure == "NULL":
        return "VARCHAR" if wanted is None else "NULL"
    return _INNER.get(structure, structure)
