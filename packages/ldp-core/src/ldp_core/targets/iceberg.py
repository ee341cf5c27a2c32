"""The Iceberg target: what a config may say about it, and what a plan shows of it. Light to import."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ldp_core.catalogs.access import ALIASES, GROUP, namespace, peek, type_of
from ldp_core.errors import ConfigError, LDPError, Problem, TableNotFound
from ldp_core.shape import Bool, Key, ListOf, Named, Shape, Text
from ldp_core.spi import RunContext, Spec, TargetInfo, TargetSession
from ldp_core.tables.partition import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

MODES = ("append", "overwrite", "upsert")

_PARTITION = Shape(
    keys=(
        Key("column", Text(), "The source column; nested fields are dotted.", required=True),
        Key(
            "transform",
            Text(),
            "identity, year, month, day, hour, bucket[N] or truncate[W].",
            default="identity",
        ),
        Key("name", Text(), "The partition field's name; <column>_<transform> by default."),
    ),
    doc="One partition field.",
)

SHAPE = Shape(
    keys=(
        Key("name", Text(), "The table, in the namespace of its catalog.", required=True),
        Key(
            "catalog",
            Named(GROUP, by="type", default="local", aliases=ALIASES),
            "Where the table is registered: an object, or the name of a catalog in ldp.yaml.",
            required=True,
        ),
        Key(
            "write_mode",
            Text(choices=MODES, ignore_case=True),
            "append adds the rows, overwrite replaces all rows (with window.column those of the window), "
            "upsert those with equal join_cols.",
            default="append",
        ),
        Key("join_cols", ListOf(Text(), min_items=1, or_single=True), "The key columns of an upsert."),
        Key(
            "partition_by",
            ListOf(_PARTITION),
            "How a new table is partitioned; an existing one keeps its own.",
        ),
        Key(
            "schema_evolution",
            Bool(),
            "Whether new columns and wider types change the table.",
            default=True,
        ),
        Key(
            "dedupe",
            Text(choices=("first", "last"), ignore_case=True),
            "Which row of an upsert's batch wins when several have one key; by default they are refused.",
        ),
        Key(
            "order_by",
            ListOf(Text(), min_items=1, or_single=True),
            "The columns that say which row is first and last for dedupe; the order of the input by default.",
        ),
        Key(
            "keep_staged",
            Bool(),
            "Keep rows that a gate blocked on a private branch, for ldp query --branch.",
            default=False,
        ),
        Key(
            "register",
            Text(choices=("copy",), ignore_case=True),
            "copy: suitable Parquet files become the table's without being encoded again.",
            default="copy",
        ),
    ),
    doc="An Iceberg table.",
)


class IcebergTarget:
    """``format: ICEBERG``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """A name that is a path, an upsert without keys, a dedupe without an upsert, partition fields that
        cannot be.
        """
        found = _name_problems(spec)
        mode, keys = mode_of(spec), columns_of(spec, "join_cols")
        if mode == "upsert" and not keys:
            found.append(Problem(_needs_keys(spec), key="join_cols"))
        found += [
            Problem(f"{key} needs join_cols: it chooses among rows of one key", key=key)
            for key in ("dedupe", "order_by")
            if spec.get(key) and not keys
        ]
        if spec.get("order_by") and not spec.get("dedupe"):
            found.append(Problem("order_by says nothing without dedupe: first or last", key="order_by"))
        twice = sorted({name for name in keys if keys.count(name) > 1})
        if twice:
            found.append(Problem(f"join_cols names {', '.join(twice)} twice", key="join_cols"))
        try:
            parse(spec.get("partition_by") or ())
        except ConfigError as error:
            found.append(Problem(error.message, key="partition_by", hint=error.hint))
        except (KeyError, TypeError, AttributeError):
            pass  # the shape says what is wrong with it
        return found

    def describe(self, spec: Spec, mode: str | None = None) -> TargetInfo:
        """The table's name, rows and snapshot as a plan shows them; creates nothing.

        Only looks where that needs no client; of other catalogs, ``exists`` stays None.
        """
        catalog = spec.sub("catalog")
        owner, name = namespace(catalog), str(spec.get("name"))
        info = {"name": f"{owner}.{name}", "mode": mode_of(spec, mode), "catalog": type_of(catalog)}
        peeked = peek(catalog)
        if peeked is None:
            return TargetInfo(**info)  # type: ignore[arg-type]
        try:
            found = peeked.metadata(owner, name)
        except TableNotFound:
            found = None
        except LDPError as error:
            return TargetInfo(**info, notes=(f"a run cannot begin: {error}",))  # type: ignore[arg-type]
        if found is None:
            return TargetInfo(**info, exists=False)  # type: ignore[arg-type]
        snapshot_id, rows = current(found.data)
        return TargetInfo(**info, exists=True, rows=rows, snapshot_id=snapshot_id)  # type: ignore[arg-type]

    def open(self, spec: Spec, ctx: RunContext, mode: str | None = None) -> TargetSession:
        """Begin a load; creates nothing.

        Raises:
            ConfigError: A name that is a path, an upsert without join_cols, partition fields that cannot be.
            CatalogError: The catalog does not answer.
        """
        from ldp_core.targets.iceberg_session import IcebergSession

        chosen = mode_of(spec, mode)
        for problem in _name_problems(spec):
            raise ConfigError(problem.message, key=f"{spec.key}.name", file=spec.file)
        if chosen not in MODES:
            raise ConfigError(
                f"unknown write_mode {chosen!r}; expected {', '.join(MODES)}", key=f"{spec.key}.write_mode"
            )
        if chosen == "upsert" and not columns_of(spec, "join_cols"):
            raise ConfigError(_needs_keys(spec), key=f"{spec.key}.join_cols", file=spec.file)
        return IcebergSession(spec, ctx, chosen)


def mode_of(spec: Spec, override: str | None = None) -> str:
    """The write mode that holds, in lower case."""
    return str(override or spec.get("write_mode") or "append").lower()


def columns_of(spec: Spec, key: str) -> list[str]:
    """A list of column names, also where the config has a single one."""
    value = spec.get(key) or []
    return [value] if isinstance(value, str) else [str(name) for name in value]


def _name_problems(spec: Spec) -> list[Problem]:
    """The name of a table is the name of its folder: it may not lead to another one."""
    name = str(spec.get("name"))
    if name in (".", "..") or re.search(r"[/\\\x00-\x1f]", name):
        message = f"{name!r} names a folder, too: no slashes, no control characters, no dots alone"
        return [Problem(message, key="name")]
    return []


def _needs_keys(spec: Spec) -> str:
    return f"write_mode 'upsert' for Iceberg table {spec.get('name')!r} needs join_cols"


def current(metadata: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """(snapshot id, rows) of metadata JSON; rows are None where deletes make the total unsure."""
    current = metadata.get("current-snapshot-id")
    if current is None or current == -1:
        return None, 0
    for snapshot in reversed(metadata.get("snapshots", ())):
        if snapshot.get("snapshot-id") == current:
            return int(current), live_rows(snapshot.get("summary") or {})
    return int(current), None


def live_rows(summary: Mapping[str, Any]) -> int | None:
    """The rows of a snapshot by its summary: records less position deletes; None where it cannot tell."""
    total = summary.get("total-records")
    if total is None or int(summary.get("total-equality-deletes", 0)):
        return None
    return int(total) - int(summary.get("total-position-deletes", 0))


TARGET = IcebergTarget()
