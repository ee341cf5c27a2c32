"""One command line over the tables that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ldp_core._output import note, print_json, say, warn

from ldp_maintenance.commands import _options
from ldp_maintenance.commands._progress import reporting

if TYPE_CHECKING:
    from ldp_maintenance.addressing import Addressed
    from ldp_maintenance.maintenance import Maintained
    from ldp_maintenance.model import Doing, Operation


Lost: TypeAlias = tuple[str, Mapping[str, Any], str]
"""A table that could not be looked after at all: its name, why as JSON, and why for people."""


def run(given: Mapping[str, Any], operations: Sequence[Operation] | None, *, old: bool = False) -> int:
    """Run operations as a command line says, and print what became of them.

    Args:
        given: The options of the command.
        operations: Which; all that are due by default.
        old: Whether the JSON has ``expire`` and ``orphans`` at its top, too.

    Returns:
        The exit code: 1 where anything was refused, failed or missing.
    """
    from ldp_maintenance.addressing import find
    from ldp_maintenance.telling import audit_of

    settings = _options.command_line(given)
    how = _options.doing(given)
    address = _options.address(given)
    found = find(address)
    as_json = bool(given.get("as_json"))
    several = address.every or (address.table_config is not None and address.word is None)
    audit = audit_of(found.config, given.get("audit"))
    with closing(audit), reporting(wanted=given.get("progress"), as_json=as_json) as report:
        how = replace(how, progress=report, audit=audit)
        done, lost = _each(
            found, settings, how, operations, str(given.get("engine") or "local"), several=several
        )
    _print(done, lost, how, as_json=as_json, several=several, old=old)
    return 1 if lost or any(one.errors for one in done) else 0


def _each(
    found: Addressed,
    settings: Mapping[str, Any],
    how: Doing,
    operations: Sequence[Operation] | None,
    engine: str,
    *,
    several: bool,
) -> tuple[list[Maintained], list[Lost]]:
    """Table after table; one that cannot be looked after does not keep the others from it."""
    from ldp_core.errors import LDPError

    from ldp_maintenance.addressing import Neighbours
    from ldp_maintenance.maintenance import Maintenance
    from ldp_maintenance.ranking import best_first
    from ldp_maintenance.telling import tell

    begun = how.clock()
    neighbours = Neighbours(found.catalog)
    done: list[Maintained] = []
    lost = list(lost_of(found))
    bounded = how.budget_seconds is not None or how.budget_bytes is not None
    for identifier in best_first(found) if several and bounded else found.identifiers:
        try:
            target = found.target(identifier, settings)
            one = Maintenance(target, engine=engine, neighbours=neighbours).run(
                operations,
                commit=how.commit,
                doing=_left(how, begun, done),
                tell=lambda made: tell(made, found.config, warn=warn),
            )
        except LDPError as error:
            if not several:
                raise
            lost.append((".".join(identifier), error.to_dict(), str(error)))
        else:
            done.append(one)
    return done, lost


def lost_of(found: Addressed) -> Iterator[Lost]:
    """The tables that were named and are not there."""
    file = found.file.name if found.file is not None else None
    for identifier in found.missing:
        name = ".".join(identifier)
        text = f"table {name} does not exist in catalog {found.catalog.name}"
        error = {"code": "table_not_found", "message": text, "file": file, "hint": None, "retriable": False}
        yield name, error, f"{file}: {text}" if file else text


def _left(how: Doing, begun: Any, done: Sequence[Maintained]) -> Doing:
    """The budgets that earlier tables left."""
    seconds = how.budget_seconds
    if seconds is not None:
        seconds = seconds - (how.clock() - begun).total_seconds()
    size = how.budget_bytes
    if size is not None:
        read = sum(int(o.detail.get("rewritten_bytes") or 0) for one in done for o in one.outcomes)
        size = max(size - read, 0)
    return replace(how, budget_seconds=seconds, budget_bytes=size)


def _print(
    done: Sequence[Maintained],
    lost: Sequence[Lost],
    how: Doing,
    *,
    as_json: bool,
    several: bool,
    old: bool,
) -> None:
    if as_json:
        print_json(_body(done, lost, how, several=several, old=old))
    else:
        for made in done:
            for line in made.lines():
                say(line)
            say()
        if several and not done and not lost:
            note("there is no table")
        if not how.commit and any(o.status == "preview" for made in done for o in made.outcomes):
            note("nothing was changed; --yes commits it")
    # The last lines say what went wrong, however long the report is.
    for _, _, text in lost:
        say_error(text)
    for made in done:
        for outcome in made.errors:
            hint = f"; {outcome.hint}" if outcome.hint else ""
            say_error(f"{made.table}: {outcome.operation}: {outcome.reason}{hint}")


def say_error(text: str) -> None:
    """Print an error of one table among others, as the command itself prints its own."""
    import click
    from ldp_core._output import cell
    from ldp_core.config.secrets import mask

    click.echo(f"ldp: error: {cell(mask(text))}", err=True)


def _body(
    done: Sequence[Maintained], lost: Sequence[Lost], how: Doing, *, several: bool, old: bool
) -> dict[str, Any]:
    bodies = [_one_body(one, old=old) for one in done]
    if not several and len(bodies) == 1:
        return bodies[0]
    found: dict[str, Any] = {"dry_run": not how.commit, "tables": bodies}
    if lost:
        found["lost"] = [{"table": table, "error": error} for table, error, _ in lost]
    errors = [error for _, error, _ in lost] + [body["error"] for body in bodies if "error" in body]
    return {**found, "error": errors[0]} if errors else found


def _one_body(made: Maintained, *, old: bool) -> dict[str, Any]:
    body = made.to_dict()
    if old:
        for key, name in (("expire", "expire-snapshots"), ("orphans", "remove-orphans")):
            outcome = next((one for one in made.outcomes if one.operation == name), None)
            body[key] = None if outcome is None or outcome.status == "skipped" else outcome.to_dict()
    return body
