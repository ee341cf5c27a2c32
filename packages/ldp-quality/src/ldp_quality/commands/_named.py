"""The rows that a command line names: a config's table, a table of a catalog, a file or a folder of files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, SourceError, UsageError

if TYPE_CHECKING:
    from ldp_core.commands._lookup import Found

_YAML = (".yaml", ".yml")
_PACKED = re.compile(r"\.(gz|gzip|zst|zstd)$")


@dataclass(frozen=True)
class Named:
    """Rows, and what they are called.

    Attributes:
        rows: For ``run_checks`` and ``profile``.
        label: For a person: the file, or ``namespace.table``.
        name: Of the table.
        pipeline: The identifier of the config that was given; the table's name where there is none.
    """

    rows: Any
    label: str
    name: str
    pipeline: str


def named_rows(word: str, places: Sequence[str], env: str | None) -> Named:
    """What a word means: a config, a file or a folder of files, or a table of a catalog.

    Args:
        word: As the user wrote it.
        places: Configs and folders whose catalogs are searched for a table.
        env: The environment of ``ldp.yaml``.

    Raises:
        ConfigError: A config is wrong, or writes what cannot be read.
        SourceError: The format of the files is not known.
        TableNotFound: It is none of them, and no table is called so.
        UsageError: It is a folder of several tables or of one table's files, or more than one table.
    """
    if is_config(word):
        return _of_config(word, env)
    if "://" in word or "*" in word or Path(word).is_file():
        return _of_files(word)
    if Path(word).is_dir():
        return _of_folder(word, env)
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
    from ldp_core.config import Config

    config = Config.from_file(file, env=env)
    config.validate("target")
    identifier = str(config.identifier)
    kind = config.target_kind()
    if kind == "ICEBERG":
        from ldp_core.commands._lookup import config_table

        return _of_table(config_table(file, env), file, identifier)
    from ldp_quality.executors.stored import FileTable

    target = config.spec("target")
    name = str(target.get("name") or identifier)
    if kind not in ("PARQUET", "CSV"):
        raise ConfigError(
            f"the target is {kind}, which is not read back", file=file, key="metadata.target.format"
        )
    rows = FileTable(str(target.get("path")), kind, config.base_dir)
    return Named(rows, str(target.get("path")), name, identifier)


def _of_table(found: Found, origin: str, pipeline: str | None = None) -> Named:
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.refs import TableRef

    ref = TableRef(found.catalog, found.namespace, found.name, origin)
    return Named(TableHandle(ref), found.label, found.name, pipeline or found.name)


def _of_folder(folder: str, env: str | None) -> Named:
    """The table of a folder's catalogs where there is one; else its files are the table."""
    from ldp_core.catalogs.find import catalogs_below
    from ldp_core.commands._lookup import tables_of

    catalogs = catalogs_below(Path(folder))
    if not catalogs:
        for place in (Path(folder), Path(folder).absolute().parent):
            if any(place.glob("metadata/*.metadata.json")):
                raise UsageError(
                    f"{folder} is of an Iceberg table, whose files are not its rows",
                    hint="name the table, or the config that loads it",
                )
        return _of_files(folder)
    tables = [table for catalog in catalogs for table in tables_of(catalog)]
    if len(tables) == 1:
        return _of_table(tables[0], folder)
    labels = ", ".join(sorted(table.label for table in tables)[:8]) or "none"
    raise UsageError(
        f"{folder} is a folder of catalogs; its tables: {labels}", hint="name one, with --in FOLDER"
    )


def _of_files(path: str) -> Named:
    from ldp_quality.executors.stored import FileTable

    name = _identifier(path)
    return Named(FileTable(path, _format(path)), path, name, name)


def _format(path: str) -> str:
    """The format of a file, or that of all files of a folder, by their names.

    Raises:
        SourceError: There are none, several formats, or one that is not known.
    """
    from ldp_core import fs
    from ldp_core.commands._draft import KINDS
    from ldp_core.errors import SourceNotFound

    files = fs.expand(path)
    if not files:
        raise SourceNotFound(f"no file found: {path}")
    endings = Counter(Path(_PACKED.sub("", file.rsplit("/", 1)[-1].lower())).suffix for file in files)
    formats = {KINDS.get(ending) for ending in endings}
    if len(formats) > 1:
        raise SourceError(
            f"{path} holds files of several formats: {', '.join(sorted(endings))}",
            hint=f"say {path}/*.parquet",
        )
    found = formats.pop()
    if found is None:
        known = ", ".join(sorted(KINDS))
        raise SourceError(f"the format of {path} is not known by its name", hint=f"known: {known}")
    return found


def _identifier(path: str) -> str:
    """A table's name from that of its file or folder."""
    last = re.sub(r"/[^/]*\*[^/]*$", "", path).rstrip("/").rsplit("/", 1)[-1]
    stem = last.partition(".")[0] or Path(path).resolve().name
    word = re.sub(r"\W+", "_", stem.lower()).strip("_") or "data"
    return word if not word[0].isdigit() else f"t_{word}"
