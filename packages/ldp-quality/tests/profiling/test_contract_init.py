"""``ldp contract init``: from a config, a table, a file or a folder to a draft that lints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.run.registered import run_config
from ldp_quality import Contract

pytest.importorskip("ldp_cli")

from ldp_cli.main import main

Ldp = Callable[..., str]
ROWS = "order_id,status,amount\n" + "".join(f"{at},{('new', 'paid')[at % 2]},{at / 4}\n" for at in range(40))


@pytest.fixture
def ldp(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ldp:
    """Runs a command in an empty folder; returns what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        assert main(list(words)) == code
        printed = capsys.readouterr()
        return printed.out if code == 0 else printed.err

    return run


def loaded(folder: Path, target: dict[str, object]) -> Path:
    (folder / "o.csv").write_text(ROWS)
    source = {"name": "o", "format": "CSV", "path": "o.csv"}
    path = folder / "load_orders.json"
    path.write_text(
        json.dumps({"identifier": "load_orders", "metadata": {"source": source, "target": target}})
    )
    run_config(path)
    return path


ICEBERG = {"name": "orders", "format": "ICEBERG", "catalog": {"identifier": "shop", "warehouse_path": "wh"}}


def test_a_file_gives_a_draft_that_lints_and_is_not_overwritten(ldp: Ldp, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text(ROWS)
    assert ldp("contract", "init", "orders.csv").splitlines() == [
        "orders.csv: 40 rows, 3 columns",
        "candidate key: order_id",
        "promises: 9",
        "wrote orders.odcs.yaml",
    ]
    assert "ok, 9 rules, all run" in ldp("contract", "lint", "orders.odcs.yaml")
    before = (tmp_path / "orders.odcs.yaml").read_text()
    assert "orders.odcs.yaml is there already" in ldp("contract", "init", "orders.csv", code=1)
    (tmp_path / "orders.csv").write_text(ROWS.replace("paid", "sent"))
    assert (tmp_path / "orders.odcs.yaml").read_text() == before
    ldp("contract", "init", "orders.csv", "--force")
    assert "validValues: [new, sent]" in (tmp_path / "orders.odcs.yaml").read_text()
    assert not list(tmp_path.glob(".*part"))


@pytest.mark.parametrize("word", ["load_orders.json", "shop.orders", "orders", "wh"])
def test_a_config_and_a_table_mean_the_table(ldp: Ldp, tmp_path: Path, word: str) -> None:
    loaded(tmp_path, ICEBERG)
    out = json.loads(ldp("contract", "init", word, "--output", "new/c.yaml", "--json"))
    assert (out["data"], out["profile"]["rows"], out["rules"]) == ("shop.orders", 40, 9)
    contract = Contract.from_file(tmp_path / "new" / "c.yaml")
    assert contract.table().name == "orders"
    assert contract.id == ("load_orders" if word.endswith("json") else "orders")


def test_a_config_of_files_and_folders_of_files(ldp: Ldp, tmp_path: Path) -> None:
    loaded(tmp_path, {"name": "orders", "format": "PARQUET", "path": "out/orders.parquet"})
    assert "40 rows" in ldp("contract", "init", "load_orders.json")
    (tmp_path / "parts").mkdir()
    for at in range(2):
        pq.write_table(pa.table({"id": [at]}), tmp_path / "parts" / f"{at}.parquet")
    assert "parts: 2 rows, 1 column" in ldp("contract", "init", "parts", "--name", "pieces")
    assert Contract.from_file(tmp_path / "pieces.odcs.yaml").table().name == "pieces"
    (tmp_path / "lines.json").write_text('{"id": 1}\n{"id": 2}\n')
    assert "lines.json: 2 rows" in ldp("contract", "init", "lines.json")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("none.csv",), "none.csv"),
        (("mixed",), "mixed holds files of several formats: .csv, .parquet"),
        (("odd.xyz",), "the format of odd.xyz is not known by its name"),
        (("a.csv", "-o", "c.json"), "c.json must end in .yaml"),
        (("broken.yaml",), "broken.yaml"),
        (("nothing",), "nothing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    ldp: Ldp, tmp_path: Path, words: tuple[str, ...], text: str
) -> None:
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "a.csv").write_text("a\n1\n")
    (tmp_path / "mixed" / "b.parquet").write_bytes(b"")
    (tmp_path / "odd.xyz").write_text("?")
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "broken.yaml").write_text("a: [")
    said = ldp("contract", "init", *words, code=1)
    assert text in said
    assert len(said.strip().splitlines()) == 1
    assert not list(tmp_path.glob("*.odcs.yaml"))


def test_a_table_that_is_not_loaded_yet(ldp: Ldp, tmp_path: Path) -> None:
    loaded(tmp_path, ICEBERG)
    config = json.loads((tmp_path / "load_orders.json").read_text())
    config["metadata"]["target"]["name"] = "later"
    (tmp_path / "later.json").write_text(json.dumps(config))
    assert "shop.later does not exist" in ldp("contract", "init", "later.json", code=1)


def test_the_files_of_an_iceberg_table_are_not_its_rows(ldp: Ldp, tmp_path: Path) -> None:
    loaded(tmp_path, ICEBERG)
    folder = next(tmp_path.glob("wh/**/*.metadata.json")).parent.parent.relative_to(tmp_path)
    for place in (folder, folder / "data"):
        assert "is of an Iceberg table" in ldp("contract", "init", str(place), code=1)
