"""What a word on the command line means: a config's table, a table of a catalog, a file, a folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, SourceError, SourceNotFound, TableNotFound, UsageError

if TYPE_CHECKING:
    from ldp_core.commands._lookup import Found

FORMATS = ("CSV", "JSONL", "PARQUET", "XLSX")
"""What a file may hold."""
MEANINGS = "a config that loads a table, a table of a catalog, a file (CSV, JSONL, Parquet), or a folder"
"""What a word may be, for messages."""
_YAML = (".yaml", ".yml")
_PACKED = re.compile(r"\.(gz|gzip|zst|zstd)$")
_LISTED = 8


@dataclass(frozen=True)
class Named:
    """Rows, and what they are called.

    Attributes:
        rows: For ``run_checks`` and ``profile``.
        label: For a person: the file, or ``namespace.table``.
        name: Of the table.
        pipeline: The identifier of the config that was given; the table's name where there is none.
        origin: Where that is: ``of orders.yaml``, ``in warehouse``; empty where the label says it.
        base_dir: Where relative paths of the config start.
        catalogued: Whether the name is one that somebody gave a table: in a config, in a catalog.
    """

    rows: Any
    label: str
    name: str
    pipeline: str
    origin: str = ""
    base_dir: Path | None = None
    catalogued: bool = False

    @property
    def whole(self) -> str:
        """The label with its origin."""
        return f"{self.label} {self.origin}".rstrip()


def named_rows(
    word: str,
    places: Sequence[str] = (),
    env: str | None = None,
    *,
    format: str | None = None,
    wanted: str | None = None,
) -> Named:
    """What a word means.

    A ``.yaml`` is a config, and a ``.json`` that holds one; then what is there as a file, a pattern or a
    folder; then a table of a catalog. A folder stands for the tables of its catalogs (those in it, and those
    of the configs in it); where there are none its files are one table.

    Args:
        word: As the user wrote it.
        places: Configs and folders whose catalogs are searched for a table; the present folder by default.
        env: The environment of ``ldp.yaml``.
        format: What the files hold; then the word is of files.
        wanted: Which table of a folder is meant; the only one by default.

    Raises:
        ConfigError: A config is wrong, or writes what cannot be read.
        SourceError: The format of the files is not known.
        SourceNotFound: It is called like a file, and there is none.
        TableNotFound: No table is called so.
        UsageError: It is more than one table, or a folder of one table's files.
    """
    if format is None and is_config(word):
        return _of_config(word, env)
    if "://" in word or any(sign in word for sign in "*?[") or Path(word).is_file():
        return _of_files(word, format)
    if Path(word).is_dir():
        return _of_files(word, format) if format else _of_folder(word, env, wanted)
    if format is not None or "/" in word or _known(word):
        raise SourceNotFound(f"there is no file or folder {word}")
    from ldp_core.commands._lookup import find_table

    return _of_table(find_table(word, places or (".",), env), word)


def is_config(word: str) -> bool:
    """Whether a file is a config by its name and, where it is JSON, by what it holds."""
    suffix = Path(word).suffix.lower()
    if suffix != ".json" or not Path(word).is_file():
        return suffix in _YAML
    from ldp_core.config.load import load_document

    try:
        return isinstance(load_document(word).data.get("metadata"), dict)
    except ConfigError:
        return False


def _of_config(file: str, env: str | None) -> Named:
    from ldp_core import registry
    from ldp_core.config import Config

    config = Config.from_file(file, env=env)
    config.validate("target")
    identifier = str(config.identifier)
    kind = config.target_kind()
    if kind == "ICEBERG":
        from ldp_core.commands._lookup import config_table

        found = _of_table(config_table(file, env), file, identifier)
    else:
        from ldp_quality.executors.stored import FileTable

        target = config.spec("target")
        path = target.get("path")
        if not isinstance(path, str) or registry.find("ldp.sources", kind, ignore_case=True) is None:
            raise ConfigError(
                f"the target is {kind}, which is not read back", file=file, key="metadata.target.format"
            )
        name = str(target.get("name") or identifier)
        found = Named(FileTable(path, kind, config.base_dir), path, name, identifier)
    return replace(found, origin=f"of {file}", base_dir=config.base_dir, catalogued=True)


def _of_table(found: Found, place: str, pipeline: str | None = None) -> Named:
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.refs import TableRef

    ref = TableRef(found.catalog, found.namespace, found.name, place)
    return Named(TableHandle(ref), found.label, found.name, pipeline or found.name, catalogued=True)


def _of_folder(folder: str, env: str | None, wanted: str | None) -> Named:
    """One table of a folder's catalogs where there are some; else its files are the table."""
    tables = _tables(folder, env)
    if tables:
        return replace(_of_table(_chosen(tables, wanted, folder), folder), origin=f"in {folder}")
    for place in (Path(folder), Path(folder).absolute().parent):
        if any(place.glob("metadata/*.metadata.json")):
            raise UsageError(
                f"{folder} is of an Iceberg table, whose files are not its rows",
                hint="name the table, or the config that loads it",
            )
    return _of_files(folder, None)


def _tables(folder: str, env: str | None) -> list[Found]:
    from ldp_core.commands._lookup import catalogs_of, tables_of

    found: list[Found] = []
    for catalog in catalogs_of([folder], env):
        try:
            found += tables_of(catalog)
        except TableNotFound:  # nothing was loaded into it yet
            continue
    return found


def _chosen(tables: list[Found], wanted: str | None, folder: str) -> Found:
    """The table of a folder that is meant.

    Raises:
        TableNotFound: There is none of that name.
        UsageError: It is more than one.
    """
    known = ", ".join(sorted(table.label for table in tables)[:_LISTED])
    if wanted is None:
        found = [table for table in tables if not _is_ours(table)] or tables
        if len(found) == 1:
            return found[0]
        raise UsageError(
            f"{folder} is a folder of catalogs; its tables: {known}", hint=f"name one, with --in {folder}"
        )
    exact = [table for table in tables if wanted in (table.label, table.name)]
    folded = wanted.casefold()
    near = [table for table in tables if folded in (table.label.casefold(), table.name.casefold())]
    found = exact or near
    if len(found) == 1:
        return found[0]
    if found:
        labels = ", ".join(sorted(table.label for table in found))
        raise UsageError(
            f"{wanted} is more than one table: {labels}", hint="--table NAMESPACE.TABLE names one"
        )
    raise TableNotFound(
        f"{folder} has no table {wanted}; it has: {known}", hint="--table NAMESPACE.TABLE names another"
    )


def _is_ours(table: Found) -> bool:
    """Whether it is a table that LDP keeps beside those of the user."""
    return table.namespace == "_ldp" or table.name.endswith("__quarantine")


def _of_files(path: str, format: str | None) -> Named:
    from ldp_quality.executors.stored import FileTable

    name = _identifier(path)
    return Named(FileTable(path, format or _format(path)), path, name, name)


def _format(path: str) -> str:
    """The format of a file, or that of all files of a folder, by their names.

    Raises:
        SourceError: There are none, several formats, or one that is not known.
    """
    from ldp_core import fs

    files = fs.expand(path)
    if not files:
        raise SourceNotFound(f"no file found: {path}", hint=f"name {MEANINGS}")
    endings = Counter(_ending(file) for file in files)
    formats = {_known(file) for file in files}
    if len(formats) > 1:
        raise SourceError(
            f"{path} holds files of several formats: {', '.join(sorted(endings))}",
            hint=f"say {path}/*.parquet",
        )
    found = formats.pop()
    if found is None:
        raise SourceError(
            f"the format of {path} is not known by its name", hint=f"--format says it: {', '.join(FORMATS)}"
        )
    return found


def _known(path: str) -> str | None:
    """The format of a file by its ending."""
    from ldp_core.commands._draft import KINDS

    return KINDS.get(_ending(path))


def _ending(path: str) -> str:
    return Path(_PACKED.sub("", path.rsplit("/", 1)[-1].lower())).suffix


def _identifier(path: str) -> str:
    """A table's name from that of its file or folder."""
    last = re.sub(r"/[^/]*\*[^/]*$", "", path).rstrip("/").rsplit("/", 1)[-1]
    stem = last.partition(".")[0] or Path(path).resolve().name
    word = re.sub(r"\W+", "_", stem.lower()).strip("_") or "data"
    return word if not word[0].isdigit() else f"t_{word}"
