"""A planned scan as SQL for DuckDB.

Columns are found by field id: ``read_parquet(..., schema=MAP{id: {name, type, default_value}})``. Inside,
they are called ``f<id>``, so that no name of a table can collide with another or with DuckDB's virtual
columns ``file_index`` and ``file_row_number``, by which positions are known and position deletes joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ldp_core._duck import file_path, ident, text
from ldp_core.errors import QueryError
from ldp_core.tables.scan import Scan, ScanFile
from ldp_core.tables.scan_types import duck_type

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def select(
    con: DuckDBPyConnection,
    scan: Scan,
    columns: Iterable[str] | None,
    files: Iterable[str] | None,
    position: bool,
) -> str:
    """See ``ldp_core.tables.scan.scan_sql``."""
    wanted = _wanted(scan, columns)
    chosen = _chosen(scan, files)
    _register_stores(con, scan)
    branches = [_branch(con, scan, group, wanted, position) for group in _groups(scan, chosen)]
    return " UNION ALL ".join(branches) if branches else _empty(wanted, position)


def _wanted(scan: Scan, columns: Iterable[str] | None) -> list[Mapping[str, Any]]:
    fields = list(scan.schema["fields"])
    if columns is None:
        return fields
    by_name = {field["name"]: field for field in fields}
    names = list(columns)
    if missing := [name for name in names if name not in by_name]:
        raise QueryError(f"no column {missing[0]!r}; columns: {', '.join(by_name)}")
    return [by_name[name] for name in names]


def _chosen(scan: Scan, files: Iterable[str] | None) -> list[ScanFile]:
    if files is None:
        return list(scan.files)
    paths = set(files)
    return [file for file in scan.files if file.path in paths]


def _register_stores(con: DuckDBPyConnection, scan: Scan) -> None:
    schemes = {path.split("://", 1)[0] for path in scan.paths if "://" in path} - {"file"}
    if schemes:
        from ldp_core import fs

        for scheme in sorted(schemes):
            fs.register(con, scheme, scan.properties)


def _groups(scan: Scan, files: Iterable[ScanFile]) -> list[list[ScanFile]]:
    """Files that one SELECT reads: alike in how columns are found and in the kinds of their deletes."""
    groups: dict[Any, list[ScanFile]] = {}
    for file in files:
        names = None if file.names is None or file.reason else tuple(sorted(file.names.items()))
        kinds = frozenset(scan.deletes[number].kind for number in file.deletes)
        ids = frozenset(scan.deletes[number].equality_ids for number in file.deletes) - {()}
        groups.setdefault((names, bool(file.reason), kinds, ids), []).append(file)
    return list(groups.values())


def _branch(
    con: DuckDBPyConnection,
    scan: Scan,
    files: list[ScanFile],
    wanted: Sequence[Mapping[str, Any]],
    position: bool,
) -> str:
    kinds = {scan.deletes[number].kind for file in files for number in file.deletes}
    if "vector" in kinds and (position or "equality" in kinds):
        raise QueryError("a table with deletion vectors cannot be read by position")
    read = _with_equality_columns(scan, files, wanted)
    if files[0].reason:
        from ldp_core.tables.scan_arrow import register

        source = register(con, scan, files, [field["id"] for field in read])
    else:
        source = _read_parquet(files, read)
    sql = f"SELECT {_output(wanted, files, position)} FROM {source} AS b"
    if "position" in kinds:
        deletes = _position_deletes(scan, files)
        sql += f" ANTI JOIN {deletes} AS d ON d.i = b.file_index AND d.pos = b.file_row_number"
    return sql + "".join(_equality_joins(scan, files))


def _read_parquet(files: list[ScanFile], fields: Iterable[Mapping[str, Any]]) -> str:
    names = files[0].names
    by_id = None if names is None else {number: name for name, number in names.items()}
    entries = []
    for field in fields:
        number = field["id"]
        key = str(number) if by_id is None else text(by_id.get(number, f"\x01{number}"))
        default = field.get("initial-default")
        entries.append(
            f"{key}: {{'name': 'f{number}', 'type': {text(duck_type(field['type']) or '')}, "
            f"'default_value': {'NULL' if default is None else text(_default(default))}}}"
        )
    paths = ", ".join(text(file_path(file.path)) for file in files)
    return f"read_parquet([{paths}], hive_partitioning=false, schema=MAP{{{', '.join(entries)}}})"


def _default(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _output(wanted: Iterable[Mapping[str, Any]], files: Sequence[ScanFile], position: bool) -> str:
    parts = [f"b.f{field['id']} AS {ident(field['name'])}" for field in wanted]
    if position:
        paths = ", ".join(text(file.path) for file in files)
        parts.append(f"([{paths}])[CAST(b.file_index AS BIGINT) + 1] AS __file")
        parts.append("CAST(b.file_row_number AS BIGINT) AS __pos")
    return ", ".join(parts)


def _empty(wanted: Iterable[Mapping[str, Any]], position: bool) -> str:
    parts = [
        f"CAST(NULL AS {duck_type(field['type']) or 'VARCHAR'}) AS {ident(field['name'])}" for field in wanted
    ]
    if position:
        parts += ["CAST(NULL AS VARCHAR) AS __file", "CAST(NULL AS BIGINT) AS __pos"]
    return f"SELECT {', '.join(parts)} WHERE false"


def _position_deletes(scan: Scan, files: list[ScanFile]) -> str:
    """Rows (i, pos): the file of the group and the position in it that is deleted."""
    numbers = sorted({n for file in files for n in file.deletes if scan.deletes[n].kind == "position"})
    deletes = [scan.deletes[number] for number in numbers]
    paths = ", ".join(text(file_path(item.path)) for item in deletes)
    ages = ", ".join(str(item.sequence) for item in deletes)
    rows = ", ".join(f"({text(file.path)}, {i}, {file.sequence})" for i, file in enumerate(files))
    return (
        f"(SELECT p.i, x.pos FROM read_parquet([{paths}], hive_partitioning=false) AS x "
        f"JOIN (VALUES {rows}) AS p(path, i, age) ON x.file_path = p.path "
        f"WHERE ([{ages}])[CAST(x.file_index AS BIGINT) + 1] >= p.age)"
    )


def _with_equality_columns(
    scan: Scan, files: Iterable[ScanFile], wanted: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The columns to read: those wanted and those that equality deletes compare."""
    by_id = {field["id"]: field for field in scan.schema["fields"]}
    compared = {number for file in files for n in file.deletes for number in scan.deletes[n].equality_ids}
    if missing := compared - set(by_id):
        raise QueryError(
            f"an equality delete compares field {min(missing)}, which is no column of the table any more",
            hint="rewrite the table's files with the engine that wrote the delete",
        )
    have = {field["id"] for field in wanted}
    return [*wanted, *(by_id[number] for number in sorted(compared - have))]


def _equality_joins(scan: Scan, files: list[ScanFile]) -> Iterable[str]:
    """One anti-join for each set of compared columns; NULL equals NULL, only older rows are deleted."""
    by_id = {field["id"]: field for field in scan.schema["fields"]}
    groups: dict[tuple[int, ...], list[int]] = {}
    for number in sorted({n for file in files for n in file.deletes}):
        if scan.deletes[number].kind == "equality":
            groups.setdefault(scan.deletes[number].equality_ids, []).append(number)
    for place, (ids, numbers) in enumerate(groups.items()):
        pairs = ", ".join(
            f"({i}, {k})" for i, file in enumerate(files) for k, n in enumerate(numbers) if n in file.deletes
        )
        deletes = [ScanFile(scan.deletes[n].path, 0, 0, 0, {}, 0) for n in numbers]
        columns = ", ".join(f"x.f{number}" for number in ids)
        same = " AND ".join(f"e{place}.f{number} IS NOT DISTINCT FROM b.f{number}" for number in ids)
        yield (
            f" ANTI JOIN (SELECT p.i, {columns} FROM {_read_parquet(deletes, [by_id[n] for n in ids])} AS x "
            f"JOIN (VALUES {pairs}) AS p(i, k) ON p.k = x.file_index) AS e{place} "
            f"ON e{place}.i = b.file_index AND {same}"
        )
