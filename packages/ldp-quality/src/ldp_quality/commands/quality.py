"""``ldp quality``: what checks found, run by run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from ldp_core._output import json_option, print_json, say

_Command = TypeVar("_Command", bound=Callable[..., Any])
_LAST = 20
_LAST_OF_TREND = 30

_store_option = click.option(
    "--store",
    metavar="URI|FILE",
    help="The history: a SQLite file, postgresql://user@host/database (PGPASSWORD holds the password), or a "
    "config that keeps one; by default that of the given config, else .ldp/quality.db here.",
)
_password_option = click.option(
    "--password-env", metavar="NAME", help="The environment variable that holds the database's password."
)


def _last_option(count: int) -> Callable[[_Command], _Command]:
    runs = click.IntRange(min=1)
    return click.option(
        "--last", type=runs, default=count, show_default=True, metavar="N", help="Runs at most."
    )


@click.group()
def quality() -> None:
    """Look back at what the checks of a table found: runs, rules, trends."""


@quality.command(short_help="List the runs that were checked, newest first.")
@click.argument("dataset", required=False, metavar="[DATASET|CONFIG]")
@_last_option(_LAST)
@click.option(
    "--status", type=click.Choice(("pass", "warn", "fail", "not_run")), help="Only runs of this status."
)
@_store_option
@_password_option
@json_option
def history(
    dataset: str | None,
    last: int,
    status: str | None,
    store: str | None,
    password_env: str | None,
    as_json: bool,
) -> None:
    """List the runs that were checked, the newest first.

    A dataset is a table (nyc.rides, or rides), or a config that loads it; without one all are listed. The
    status of a run is the worst of its rules: pass, warn, fail, or not_run where one could not be evaluated.
    """
    from ldp_quality.commands._history import table_of_runs
    from ldp_quality.commands._place import dataset_of, place_of

    place = place_of(store, dataset, password_env)
    with place.open() as opened:
        name = None if place.word is None else dataset_of(opened, place.word)
        found = opened.runs(name, limit=last, status=status)
        label = opened.label
    if as_json:
        print_json({"store": label, "dataset": name, "runs": [record.to_dict() for record in found]})
        return
    whose = f" of {name}" if name else ""
    if not found:
        say(f"No runs{whose}{f' of status {status}' if status else ''} in {label}.")
        return
    say(f"Quality{whose} in {label}, newest first:")
    table_of_runs(found, with_dataset=name is None)


@quality.command(short_help="Show one run, and what each rule found.")
@click.argument("run")
@_store_option
@_password_option
@json_option
def show(run: str, store: str | None, password_env: str | None, as_json: bool) -> None:
    """Show one run and what each of its rules found.

    RUN is the id of a run, or how it begins; of several attempts the last is shown.
    """
    from ldp_quality.commands._history import chosen, show_run
    from ldp_quality.commands._place import place_of

    with place_of(store, None, password_env).open() as opened:
        found, label = opened.find(run), opened.label
    record = chosen(found, run, label)
    if as_json:
        print_json({"store": label, "run": record.to_dict()})
        return
    show_run(record)


@quality.command(short_help="Draw a number of each rule over the last runs.")
@click.argument("dataset", metavar="DATASET|CONFIG")
@click.option("--rule", metavar="NAME", help="One rule; all by default.")
@click.option(
    "--metric",
    default="failing_rows",
    show_default=True,
    metavar="NAME",
    help="failing_rows, share, rows, or a number of the check such as age_hours.",
)
@_last_option(_LAST_OF_TREND)
@_store_option
@_password_option
@json_option
def trend(
    dataset: str,
    rule: str | None,
    metric: str,
    last: int,
    store: str | None,
    password_env: str | None,
    as_json: bool,
) -> None:
    """Draw a number of each rule over the last runs, the oldest left.

    Runs stand in the order of the data's own time: a window that was loaded late is where it belongs. A bar
    is as high as its number, from zero to the largest of the line; a gap is a run without one.
    """
    from ldp_quality.commands._place import dataset_of, place_of
    from ldp_quality.commands._trend import draw, line_json, no_numbers, series_of

    place = place_of(store, dataset, password_env)
    with place.open() as opened:
        name = dataset_of(opened, str(place.word))
        points = opened.trend(name, None, metric, last=last)
        label = opened.label
        series = series_of(points, rule, name)
        if not any(point.value is not None for line in series.values() for point in line):
            raise no_numbers(opened.runs(name, limit=last), rule, metric, name)
    if as_json:
        lines = [line_json(item, line) for item, line in series.items()]
        print_json({"store": label, "dataset": name, "metric": metric, "series": lines})
        return
    draw(series, metric, name)
