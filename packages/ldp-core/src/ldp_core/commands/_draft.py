"""What ``ldp init`` does: open the data, measure all of it, write the config."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import fs, registry
from ldp_core.errors import ConfigError, LDPError, SourceError, SourceNotFound, UsageError
from ldp_core.spi import Extract, Progress, RunContext, Spec

if TYPE_CHECKING:
    from ldp_core.profile.measure import Profile
    from ldp_core.profile.suggest import Suggestion

KINDS = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".parquet": "PARQUET",
    ".json": "JSONL",
    ".jsonl": "JSONL",
    ".ndjson": "JSONL",
    ".xlsx": "XLSX",
    ".xlsm": "XLSX",
    ".xls": "XLSX",
    ".ods": "XLSX",
}
"""Format by the end of a name; ``.gz`` and ``.zst`` after it are passed over."""

_ROUNDS = 32


@dataclass(frozen=True)
class Found:
    """What was found and written.

    Attributes:
        config: The config as it was written.
        data: The data as the user named it.
        format: Of the source.
        profile: The numbers.
        partition: The partition suggestion.
        checks: The checks.
        warnings: Lines about the data.
    """

    config: Path
    data: str
    format: str
    profile: Profile
    partition: Suggestion | None
    checks: tuple[Suggestion, ...]
    warnings: tuple[str, ...]

    def text(self) -> str:
        """Lines for a person."""
        from ldp_core.profile.write import flow

        rows, columns = self.profile.rows, len(self.profile.columns)
        lines = [f"{self.data}: {self.format}, {rows} rows, {columns} columns"]
        lines += [f"candidate key: {flow(list(key))}" for key in self.profile.keys[:3]]
        if self.partition:
            body = self.partition.body
            lines.append(f"partition: {body['transform']} of {body['column']} ({self.partition.evidence})")
        lines.append(f"checks: {len(self.checks)}")
        lines.append(f"wrote {self.config}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "config": str(self.config),
            "source": self.data,
            "format": self.format,
            "rows": self.profile.rows,
            "columns": [
                {
                    "name": column.name,
                    "type": column.type,
                    "nulls": column.nulls,
                    "distinct": column.distinct,
                    "min": _plain(column.min),
                    "max": _plain(column.max),
                }
                for column in self.profile.columns
            ],
            "keys": [list(key) for key in self.profile.keys],
            "partition": self.partition and {**self.partition.body, "evidence": self.partition.evidence},
            "checks": [{**check.body, "evidence": check.evidence} for check in self.checks],
            "warnings": list(self.warnings),
        }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def draft(
    data: str,
    output: Path | None,
    *,
    name: str | None,
    catalog: str | None,
    namespace: str,
    force: bool,
    memory_limit: str | None,
    progress: Progress,
) -> Found:
    """Look at all of the data and write a config; an existing file is left alone.

    Raises:
        SourceNotFound: There is no data.
        SourceError: Its format is not known, or it cannot be read.
        UsageError: The config is there already, or its end is not that of YAML.
    """
    from ldp_core.run.context import Lines, RunOptions, open_context

    kind, path, left_out = _kind(data)
    identifier = name or _identifier(path)
    config = output or Path(f"{identifier}.yaml")
    if config.suffix.lower() not in (".yaml", ".yml"):
        raise UsageError(f"a config with comments is YAML: {config} must end in .yaml")
    if config.exists() and not force:
        raise UsageError(f"{config} is there already", hint="give another -o, or --force to overwrite it")
    warnings = Lines()
    options = RunOptions(memory_limit=memory_limit, progress=progress)
    base = Path.cwd()
    with open_context(base, options, warnings) as ctx:
        extract, stored, said = _read(kind, {"name": identifier, "path": path}, base, ctx)
        lines = [*left_out, *warnings.found]
        if "encoding" in said:
            lines.append(f"it is not UTF-8; encoding {said['encoding']} is a guess")
        found = _look(ctx, stored, config, data, kind, tuple(dict.fromkeys(lines)))
        text = _yaml(found, extract, identifier, {"path": path, **said}, catalog, namespace)
    _write(config, text)
    return found


def _kind(data: str) -> tuple[str, str, list[str]]:
    """The format of a file or folder, the path that a source reads it by, and which files that leaves out."""
    files = fs.expand(data)
    if not files:
        raise SourceNotFound(f"no file found: {data}")
    kinds = Counter(_ending(file) for file in files)
    known = {ending: count for ending, count in kinds.items() if ending in KINDS}
    if not known:
        raise SourceError(
            f"the format of {data} is not known by its name", hint=f"known: {', '.join(sorted(KINDS))}"
        )
    ending = max(known, key=lambda one: (known[one], one))
    if len({KINDS.get(one) for one in kinds}) == 1:
        return KINDS[ending], data, []
    others = [file.rsplit("/", 1)[-1] for file in files if _ending(file) != ending]
    more = f" and {len(others) - 5} more" if len(others) > 5 else ""
    left_out = f"only {ending} files are read, not {', '.join(others[:5])}{more}"
    ends = {_full_ending(file) for file in files if _ending(file) == ending}
    return KINDS[ending], f"{data.rstrip('/')}/*{ends.pop() if len(ends) == 1 else f'{ending}*'}", [left_out]


def _full_ending(file: str) -> str:
    """The end of a name with that of its compression, as it is written."""
    match = re.search(r"\.[^./]+(\.(gz|gzip|zst|zstd))?$", file, re.IGNORECASE)
    return match[0] if match else ""


def _ending(file: str) -> str:
    name = file.rsplit("/", 1)[-1].lower()
    name = re.sub(r"\.(gz|gzip|zst|zstd)$", "", name)
    return Path(name).suffix


def _identifier(path: str) -> str:
    """A table name from a file name: letters, digits and underscores, no digit first."""
    last = re.sub(r"/\*[^/]*$", "", path).rstrip("/").rsplit("/", 1)[-1]
    stem = last.split(".")[0] if not last.startswith(".") else ""
    if not stem:
        stem = Path(path).resolve().name
    word = re.sub(r"\W+", "_", stem.lower()).strip("_") or "data"
    return word if not word[0].isdigit() else f"t_{word}"


def _read(
    kind: str, keys: dict[str, Any], base: Path, ctx: RunContext
) -> tuple[Extract, str, dict[str, Any]]:
    """The open source, SQL of its rows, and what had to be said of it: other columns, another encoding."""
    said: dict[str, Any] = {}
    encodings = iter(("cp1252", "latin-1"))
    while True:
        spec = Spec({**keys, **said}, base, "metadata.source")
        try:
            extract, stored = _store(
                registry.load("ldp.sources", kind).open(spec, ctx, None), ctx, keys["path"]
            )
            return extract, stored, said
        except SourceError as error:
            hint = error.hint or ""
            if "by_name" in hint and "files" not in said:
                said["files"] = {"union": "by_name"}
            elif "set encoding" in hint and said.get("encoding") not in ("latin-1", "utf-16"):
                said["encoding"] = "utf-16" if _marked_utf16(keys["path"]) else next(encodings)
            else:
                raise


def _marked_utf16(path: str) -> bool:
    from ldp_core.sources import _files

    file = fs.expand(path)[0]
    with _files.open_stream(file, _files.compression_of(file)) as stream:
        return stream.read(2) in (b"\xff\xfe", b"\xfe\xff")


def _store(extract: Extract, ctx: RunContext, path: str) -> tuple[Extract, str]:
    """Read all rows once into the run's folder, with better types as long as values ask for them."""
    import duckdb

    from ldp_core._duck import text
    from ldp_core._trouble import trouble, words

    copy = ctx.scratch / "init.parquet"
    for _ in range(_ROUNDS):
        try:
            with ctx.progress.step("reading"):
                ctx.con.execute(
                    f"COPY ({extract.sql}) TO {text(str(copy))} (FORMAT parquet, COMPRESSION zstd)"
                )
            return extract, f"SELECT * FROM read_parquet({text(str(copy))}, hive_partitioning=false)"
        except duckdb.Error as error:
            try:
                extract = extract.after(error)
            except duckdb.Error as refused:
                found = trouble(error, ctx.scratch / "spill")
                raise found or LDPError(f"{path} cannot be read: {words(refused)}") from error
    raise SourceError(f"the types of {path} could not be decided")


def _look(
    ctx: RunContext, stored: str, config: Path, data: str, kind: str, warnings: tuple[str, ...]
) -> Found:
    from ldp_core.profile.measure import measure
    from ldp_core.profile.suggest import checks, partition

    with ctx.progress.step("measuring"):
        profile = measure(ctx.con, stored)
    return Found(config, data, kind, profile, partition(profile), tuple(checks(profile)), warnings)


def _yaml(
    found: Found,
    extract: Extract,
    identifier: str,
    source: dict[str, Any],
    catalog: str | None,
    namespace: str,
) -> str:
    from ldp_core.profile.write import Draft, to_yaml

    rows = f"{found.profile.rows:,} rows" if found.profile.rows != 1 else "1 row"
    local = {"type": "local", "identifier": namespace, "warehouse_path": "warehouse"}
    return to_yaml(
        Draft(
            identifier=identifier,
            what=f"Drawn from {rows} and {len(found.profile.columns)} columns of {found.data}.",
            source={
                "format": found.format,
                **source,
                "path": _relative(source["path"], found.config),
                **_dialect(extract),
            },
            columns=_columns(found, extract) if found.profile.rows else {},
            catalog=catalog or local,
            keys=found.profile.keys,
            partition=found.partition,
            checks=found.checks,
            gated=registry.find("ldp.gates", "quality") is not None,
            remarks=found.warnings,
        )
    )


def _relative(path: str, config: Path) -> str:
    """The data's path seen from the config."""
    if not fs.is_local(path):
        return path
    relative = os.path.relpath(fs.local_path(path).absolute(), config.absolute().parent)
    return relative.replace(os.sep, "/")


def _dialect(extract: Extract) -> dict[str, Any]:
    """The delimiter of a CSV source, where it is not the comma."""
    dialect = getattr(getattr(extract, "source", None), "dialect", None)
    return {} if dialect is None or dialect.delimiter == "," else {"delimiter": dialect.delimiter}


def _columns(found: Found, extract: Extract) -> dict[str, tuple[str, str]]:
    """Type words of a text source's columns, with what is missing in each."""
    typed = getattr(extract, "columns", ())
    numbers = {column.name: column for column in found.profile.columns}
    words: dict[str, tuple[str, str]] = {}
    for column in typed:
        if column.cast.nested is not None:
            continue
        seen = numbers[column.name]
        remark = ""
        if found.profile.rows and seen.nulls == found.profile.rows:
            remark = "no value at all"
        elif seen.nulls:
            remark = f"{seen.nulls} of {found.profile.rows} rows have no value"
        words[column.name] = (column.cast.word, remark)
    return words


def _write(config: Path, text: str) -> None:
    """Write the config in one step, so that a broken run leaves no half of it."""
    try:
        config.parent.mkdir(parents=True, exist_ok=True)
        part = config.with_name(f".{config.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(config)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", file=str(config)) from error
