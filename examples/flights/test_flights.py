"""The example runs as its README says, and its answers are right."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ldp_cli.main import main

HERE = Path(__file__).parent
TABLES = {"airlines": 16, "airports": 1458, "flights": 336_776, "planes": 3322, "weather": 26_115}
ANSWERS = {
    "1_origins": [
        {"origin": "EWR", "flights": 120_835, "delay": 15.11},
        {"origin": "JFK", "flights": 111_279, "delay": 12.11},
        {"origin": "LGA", "flights": 104_662, "delay": 10.35},
    ],
    "2_carriers": [
        {"name": "Frontier Airlines Inc.", "arrivals": 681, "delay": 21.92},
        {"name": "AirTran Airways Corporation", "arrivals": 3175, "delay": 20.12},
        {"name": "ExpressJet Airlines Inc.", "arrivals": 51_108, "delay": 15.8},
    ],
    "3_destinations": [
        {"dest": "ORD", "name": "Chicago Ohare Intl", "flights": 17_283},
        {"dest": "ATL", "name": "Hartsfield Jackson Atlanta Intl", "flights": 17_215},
        {"dest": "LAX", "name": "Los Angeles Intl", "flights": 16_174},
        {"dest": "BOS", "name": "General Edward Lawrence Logan Intl", "flights": 15_508},
        {"dest": "MCO", "name": "Orlando Intl", "flights": 14_082},
    ],
    "4_rain": [
        {"rain": False, "flights": 312_218, "delay": 11.37},
        {"rain": True, "flights": 23_002, "delay": 30.93},
    ],
    "5_planes": [{"flights": 50_094, "planes": 721}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, its data fetched and loaded."""
    place = tmp_path_factory.mktemp("flights") / "example"
    ignored = shutil.ignore_patterns("data", "warehouse", "__pycache__", "*.pyc")
    shutil.copytree(HERE, place, ignore=ignored)
    subprocess.run([sys.executable, str(place / "fetch.py")], check=True, capture_output=True)
    return place


def test_the_five_tables_load_and_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configs = str(folder / "configs")
    assert main(["plan", configs]) == 0
    capsys.readouterr()

    assert main(["run", configs, "--json"]) == 0
    out, err = capsys.readouterr()
    runs = json.loads(out)["runs"]
    assert {run["name"]: run["rows_written"] for run in runs} == TABLES
    assert all(run["quality"]["passed"] for run in runs)
    assert "warning" not in err
    assert next(run for run in runs if run["name"] == "flights")["write_result"]["files"] == 13

    for question in sorted((folder / "questions").glob("*.sql")):
        assert main(["query", configs, question.read_text(), "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == ANSWERS[question.stem], question.stem

    again = ["airlines", "airports", "planes", "weather"]
    assert main(["run", *(str(folder / "configs" / f"{name}.yaml") for name in again), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["rows_written"] for run in runs] == [0, 0, 0, 0]
    assert [run["write_result"]["rows_unchanged"] for run in runs] == [TABLES[name] for name in again]
