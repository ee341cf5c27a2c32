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
from ldp_core.tables.scan import DeleteFile, Scan, ScanFile
from ldp_core.tables.scan_compared import Compared, compared
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
    """Files that one SELECT reads: alike in how columns are found and in the kinds of their deletes.

    All that pyiceberg reads go together: types of structs whose names differ in case only cannot be united.
    """
    groups: dict[Any, list[ScanFile]] = {}
    for file in files:
        names = None if file.names is None or file.reason else tuple(sorted(file.names.items()))
        kinds = frozenset(scan.deletes[number].kind for number in file.deletes)
        ids = frozenset(scan.deletes[number].equality_ids for number in file.deletes) - {()}
        key = (kinds & {"vector"},) if file.reason else (names, kinds, ids)
        groups.setdefault(key, []).append(file)
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
    equality = _equality(scan, files)
    source = _source(con, scan, files, _read(wanted, equality.values()))
    sql = f"SELECT {_output(wanted, files, position)} FROM {source} AS b"
    if "position" in kinds:
        deletes = _position_deletes(scan, files)
        sql += f" ANTI JOIN {deletes} AS d ON d.i = b.file_index AND d.pos = b.file_row_number"
    return sql + "".join(_equality_joins(con, scan, files, equality))


def _source(
    con: DuckDBPyConnection, scan: Scan, files: list[ScanFile], columns: Sequence[Mapping[str, Any]]
) -> str:
    """Files that are alike, as something to select ``f<id>`` and DuckDB's virtual columns from."""
    if not files[0].reason:
        return _read_parquet(files, columns)
    from ldp_core.tables.scan_arrow import register

    return register(con, scan, files, columns)


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
    if odd := next((item for item in deletes if item.reason), None):
        raise QueryError(
            f"the position deletes {odd.path} cannot be read here: {odd.reason}",
            hint="rewrite the table's files with the engine that wrote them",
        )
    paths = ", ".join(text(file_path(item.path)) for item in deletes)
    ages = ", ".join(str(item.sequence) for item in deletes)
    rows = ", ".join(f"({text(file.path)}, {i}, {file.sequence})" for i, file in enumerate(files))
    return (
        f"(SELECT p.i, x.pos FROM read_parquet([{paths}], hive_partitioning=false) AS x "
        f"JOIN (VALUES {rows}) AS p(path, i, age) ON x.file_path = p.path "
        f"WHERE ([{ages}])[CAST(x.file_index AS BIGINT) + 1] >= p.age)"
    )


def _equality(scan: Scan, files: Iterable[ScanFile]) -> dict[tuple[int, ...], Compared]:
    """How the equality deletes of these files compare, by the ids that they compare."""
    found: dict[tuple[int, ...], Compared] = {}
    for delete in (scan.deletes[n] for n in sorted({n for file in files for n in file.deletes})):
        if delete.kind == "equality" and delete.equality_ids not in found:
            how = compared(scan.schema, scan.compared, delete.equality_ids)
            if how is None:
                ids = ", ".join(map(str, delete.equality_ids))
                raise QueryError(
                    f"equality delete {delete.path} compares fields {ids}, of which one is no column and no "
                    "field of a struct in any schema of the table",
                    hint="rewrite the table's files with the engine that wrote the delete",
                )
            found[delete.equality_ids] = how
    return found


def _read(wanted: Sequence[Mapping[str, Any]], equality: Iterable[Compared]) -> list[Mapping[str, Any]]:
    """The columns to read: those wanted and those that equality deletes compare in the same pass."""
    columns = {field["id"]: field for field in wanted}
    for how in equality:
        for column in () if how.apart else how.columns:
            columns.setdefault(column["id"], column)
    return list(columns.values())


def _equality_joins(
    con: DuckDBPyConnection,
    scan: Scan,
    files: list[ScanFile],
    equality: Mapping[tuple[int, ...], Compared],
) -> Iterable[str]:
    """One anti-join for each set of compared fields; NULL equals NULL, only older rows are deleted."""
    groups: dict[Any, list[int]] = {}
    for number in sorted({n for file in files for n in file.deletes}):
        delete = scan.deletes[number]
        if delete.kind == "equality":
            names = None if delete.names is None or delete.reason else tuple(sorted(delete.names.items()))
            groups.setdefault((delete.equality_ids, names, bool(delete.reason)), []).append(number)
    for place, ((ids, _, _), numbers) in enumerate(groups.items()):
        how = equality[ids]
        pairs = ", ".join(
            f"({i}, {k})" for i, file in enumerate(files) for k, n in enumerate(numbers) if n in file.deletes
        )
        source = _source(con, scan, [_as_file(scan.deletes[n]) for n in numbers], how.columns)
        keys = ", ".join(f"{value} AS k{n}" for n, value in enumerate(how.values("x")))
        deletes = (
            f"(SELECT p.i, {keys} FROM {source} AS x "
            f"JOIN (VALUES {pairs}) AS p(i, k) ON p.k = x.file_index) AS e{place}"
        )
        side = "r" if how.apart else "b"
        same = [f"e{place}.k{n} IS NOT DISTINCT FROM {value}" for n, value in enumerate(how.values(side))]
        on = " AND ".join([f"e{place}.i = {side}.file_index", *same])
        if how.apart:
            again = _source(con, scan, files, how.columns)
            deletes = (
                f"(SELECT r.file_index AS i, r.file_row_number AS pos FROM {again} AS r "
                f"SEMI JOIN {deletes} ON {on}) AS g{place}"
            )
            on = f"g{place}.i = b.file_index AND g{place}.pos = b.file_row_number"
        yield f" ANTI JOIN {deletes} ON {on}"


def _as_file(delete: DeleteFile) -> ScanFile:
    return ScanFile(
        delete.path, delete.size, delete.rows, 0, {}, delete.sequence, (), delete.names, delete.reason
    )
