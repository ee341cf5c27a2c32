"""A source without any row is an empty window, in every text format; it makes no table without types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import NoData, SourceError
from ldp_core.run.registered import run_config
from ldp_core.sources import csv_open
from ldp_core.targets.formats import Iceberg

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
DAYS = ("2026-08-01/2026-08-02", "2026-08-02/2026-08-03")
FULL = {"CSV": "id,ts\n1,2026-08-01 10:00:00\n", "JSONL": '{"id": 1, "ts": "2026-08-01 10:00:00"}\n'}
BARE = [("CSV", "id,ts\n"), ("JSONL", ""), ("JSONL", "[]"), ("JSONL", "\n\n")]
bare = pytest.mark.parametrize(("kind", "body"), BARE)
SAME = [{"sql": "SELECT id, ts FROM source"}]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(kind: str, mode: str = "append", *, empty: str | None = "publish", **more: Any) -> str:
    source = {"name": "r", "format": kind, "path": "r.txt", **more.pop("source", {})}
    window = {"size": "day", "column": "ts", **({"empty": empty} if empty else {})}
    target = {"name": "r", "format": "ICEBERG", "write_mode": mode, "catalog": CATALOG}
    metadata = {"source": source, "target": target, "window": window, **more}
    Path("c.json").write_text(json.dumps({"identifier": "c", "metadata": metadata}))
    return "c.json"


def load(body: str, path: str, day: int = 1) -> Any:
    Path("r.txt").write_text(body)
    return run_config(path, window=DAYS[day])


@bare
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_an_empty_window_is_published_and_the_table_keeps_its_rows(kind: str, body: str, mode: str) -> None:
    path = config(kind, mode)
    load(FULL[kind], path, 0)
    result = load(body, path)
    assert (result.status, result.rows_read, result.rows_written) == ("published", 0, 0)
    assert load(body, path).status == "skipped_duplicate"
    assert Iceberg("r", CATALOG).get().num_rows == 1


@bare
def test_where_the_config_does_not_say_so_it_is_no_data(kind: str, body: str) -> None:
    path = config(kind, empty=None)
    load(FULL[kind], path, 0)
    with pytest.raises(NoData, match=r"no row for the window 2026-08-02T00.*r\.txt; .*empty: publish"):
        load(body, path)


@bare
@pytest.mark.parametrize("transforms", [[], SAME])
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_without_a_table_nothing_tells_the_types(kind: str, body: str, transforms: Any, mode: str) -> None:
    path = config(kind, mode, transforms=transforms)
    text = (
        r"no row for the window 2026-08-02T00.*types of its columns.*window with rows first.*source\.columns"
    )
    with pytest.raises(NoData, match=text):
        load(body, path)
    assert not Path("wh").exists()
    assert load(FULL[kind], path, 0).rows_written == 1


def test_a_table_of_text_is_not_made_for_want_of_values() -> None:
    path = config("CSV", window={"size": "day", "empty": "publish"})
    with pytest.raises(NoData, match="types of its columns"):
        load("id,ts\n", path)


@bare
def test_types_that_the_config_gives_are_enough(kind: str, body: str) -> None:
    path = config(kind, source={"columns": {"id": "long", "ts": "timestamp"}}, transforms=SAME)
    assert load(body, path).status == "published"
    assert load(FULL[kind], path, 0).rows_written == 1


def test_transforms_see_the_columns_of_a_header_and_need_those_of_json_told() -> None:
    path = config("CSV", transforms=SAME)
    load(FULL["CSV"], path, 0)
    assert load("id,ts\n", path).status == "published"
    path = config("JSONL", transforms=SAME, target={"name": "j", "format": "ICEBERG", "catalog": CATALOG})
    load(FULL["JSONL"], path, 0)
    with pytest.raises(NoData, match=r"the transforms read columns that nothing tells: .*source\.columns"):
        load("", path)


@pytest.mark.parametrize("kind", ["CSV", "JSONL"])
def test_rows_without_a_value_in_the_window_column_are_in_no_window(kind: str) -> None:
    rows = {"CSV": "id,ts\n1,\n2,\n", "JSONL": '{"id": 1, "ts": null}\n{"id": 2, "ts": null}\n'}
    with pytest.raises(NoData, match="none of 2 rows is in the window"):
        load(rows[kind], config(kind))
    load(FULL[kind], config(kind), 0)
    assert load(rows[kind], config(kind, transforms=SAME)).rows_written == 0


@pytest.mark.parametrize("transforms", [[], SAME])
def test_a_value_that_the_sample_did_not_show_is_met(
    monkeypatch: pytest.MonkeyPatch, transforms: Any
) -> None:
    monkeypatch.setattr(csv_open, "SMALL", 0)
    monkeypatch.setattr(csv_open, "sample_sql", lambda source, ctx: f"{source.text_sql()} LIMIT 2")
    path = config("CSV", transforms=transforms)
    late = "id,ts\n1,\n2,\n3,2026-08-02 10:00:00\n"
    assert load(late, path).rows_written == 1
    assert load(late.replace("08-02", "08-01"), path, 0).rows_written == 1


def test_an_empty_file_beside_others_was_cut_off() -> None:
    Path("d").mkdir()
    Path("d/a.jsonl").write_text(FULL["JSONL"])
    Path("d/b.jsonl").write_text("")
    with pytest.raises(SourceError, match=r"b\.jsonl: the file is empty"):
        run_config(config("JSONL", source={"path": "d"}), window=DAYS[0])


def test_records_without_a_key_are_no_empty_window() -> None:
    with pytest.raises(SourceError, match="no object with a key"):
        load("{}\n", config("JSONL"))
