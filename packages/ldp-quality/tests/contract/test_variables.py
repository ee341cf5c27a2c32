"""``${NAME}`` in a contract: whose value wins, and what is said where there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.config import Config
from ldp_core.errors import ConfigError
from ldp_core.run.registered import run_config
from ldp_quality import Contract, diff

pytest.importorskip("ldp_cli")

from ldp_cli.main import main

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.0.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, logicalType: integer}
    quality:
      - {name: enough, metric: rowCount, mustBeGreaterThan: "${LEAST}"}
      - type: sql
        name: none above
        query: SELECT count(*) FROM ${table} WHERE id > ${MOST:-3}
        mustBe: 0
"""
OWN = "customProperties:\n  - {property: variables, value: {LEAST: 1}}\n"
ROWS = pa.table({"id": [1, 2, 3]})

Ldp = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ldp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ldp:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("id\n1\n2\n3\n")

    def run(*words: str, text: str = CONTRACT) -> tuple[int, str, str]:
        Path("c.yaml").write_text(text)
        code = main(["contract", *words])
        return code, *capsys.readouterr()

    return run


def contract(text: str, **variables: Any) -> Contract:
    Path("c.yaml").write_text(text)
    return Contract.from_file("c.yaml", variables)


def statuses(read: Contract) -> dict[str, str]:
    return {item.name: item.status for item in read.check(ROWS).results}


def test_a_value_from_outside_stands_above_that_of_the_contract_and_of_the_place(ldp: Ldp) -> None:
    assert statuses(contract(CONTRACT + OWN)) == {"schema": "pass", "enough": "pass", "none above": "pass"}
    assert statuses(contract(CONTRACT + OWN, LEAST=3))["enough"] == "fail"
    assert statuses(contract(CONTRACT + OWN, MOST=2))["none above"] == "fail"
    assert contract(CONTRACT + OWN).variables == ("LEAST", "MOST")
    assert ldp("test", "c.yaml", "orders.csv", "--var", "LEAST=3", text=CONTRACT + OWN)[0] == 3
    assert ldp("test", "c.yaml", "orders.csv", "--var", "LEAST=2", text=CONTRACT)[0] == 0


def test_the_environment_gives_none(ldp: Ldp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAST", "1")
    assert ldp("lint", "c.yaml")[0] == 1


def test_a_place_that_needs_a_number_is_an_error_with_its_line(ldp: Ldp) -> None:
    code, out, _ = ldp("lint", "c.yaml")
    assert code == 1
    assert out.strip() == (
        "c.yaml:11: schema[0].quality[0].mustBeGreaterThan: the variable LEAST has no value; "
        "--var LEAST=VALUE gives it one"
    )
    code, out, _ = ldp("lint", "c.yaml", text=CONTRACT + OWN.replace("LEAST", "OTHER"))
    assert out.strip().endswith("gives it one; these have one: OTHER")
    assert ldp("lint", "c.yaml", "--var", "LEAST=1")[0] == 0


def test_a_value_that_does_not_fit_is_told_with_its_variable(ldp: Ldp) -> None:
    _, out, _ = ldp("lint", "c.yaml", "--var", "LEAST=many")
    assert out.strip().endswith("must be a number, not text; what stands there is the value of LEAST")


def test_a_text_without_its_value_is_not_run(ldp: Ldp) -> None:
    text = (CONTRACT + OWN).replace("${MOST:-3}", "${MOST}")
    code, out, _ = ldp("lint", "c.yaml", text=text)
    assert code == 0
    assert "not run: c.yaml:12: none above: the variable MOST has no value; --var MOST=VALUE" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("LEST=1",), "the contract has no variable LEST; it has: LEAST, MOST; did you mean LEAST?"),
        (("LEAST",), "--var is NAME=VALUE; say --var LEAST=VALUE"),
        (("API_TOKEN=x",), "--var API_TOKEN looks like a secret"),
        (("LEAST=postgresql://u:pw@h/d",), "--var LEAST looks like a secret"),
        (("table=x",), "--var table stands for the table that a query looks at"),
        (("a b=1",), "--var a b is no name of a variable"),
        (("LEAST=1", "LEAST=2"), "--var LEAST is given twice"),
    ],
)
def test_a_wrong_variable_is_one_line(ldp: Ldp, words: tuple[str, ...], said: str) -> None:
    given = [part for word in words for part in ("--var", word)]
    for command in (("lint", "c.yaml"), ("test", "c.yaml", "orders.csv")):
        code, _, err = ldp(*command, *given, text=CONTRACT + OWN)
        assert code == 1
        assert said in err
        assert len(err.strip().splitlines()) == 1
        assert "pw@" not in err


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("[1]", "c.yaml:17: customProperties[0].value: must be an object of names and values"),
        ("{PASSWORD: x}", "customProperties[0].value.PASSWORD: looks like "),
        ("{LEAST: [1]}", "customProperties[0].value.LEAST: must be a text, a number"),
        ("{table: x}", "customProperties[0].value.table: stands for"),
    ],
)
def test_a_wrong_value_of_the_contract_is_told_with_its_place(ldp: Ldp, own: str, said: str) -> None:
    text = f"{CONTRACT}customProperties:\n  - {{property: variables, value: {own}}}\n"
    code, out, _ = ldp("lint", "c.yaml", text=text)
    assert code == 1
    assert said in out


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("1", 1),
        ("-2.5", -2.5),
        ("true", True),
        ("007", "007"),
        ('"7"', "7"),
        ("a b", "a b"),
        ("1e3", "1e3"),
        ("", ""),
    ],
)
def test_a_value_is_what_it_looks_like(ldp: Ldp, word: str, value: Any) -> None:
    from ldp_quality.contract._variables import filled, parsed

    assert parsed(word) == value
    assert type(parsed(word)) is type(value)
    assert filled({"a": "${X}", "b": ["<${X}>"]}, {"X": value}) == {
        "a": value, "b": [f"<{'true' if value is True else value}>"],
    }  # fmt: skip


def test_secrets_and_places_keep_their_references(ldp: Ldp) -> None:
    from ldp_quality.contract._variables import filled

    document = {
        "servers": [{"password": "${PW}"}],
        "customProperties": [{"property": "apiKey", "value": "${PW}"}],
        "query": "SELECT ${PW} FROM ${object} WHERE {column} > ${COLUMN}",
    }
    assert filled(document, {"PW": "x", "object": "y"}) == {
        **document, "query": "SELECT x FROM ${object} WHERE {column} > ${COLUMN}",
    }  # fmt: skip


def test_a_difference_is_one_of_values(ldp: Ldp) -> None:
    old, new = contract(CONTRACT + OWN), contract(CONTRACT + OWN.replace("1}", "5}"))
    assert next(change.impact for change in diff(old, new)) == "tightening"
    assert not diff(old, contract(CONTRACT + OWN)).changes
    assert ldp("save", "c.yaml")[0] == 0  # the values come with the run


def load(variables: dict[str, Any] | None) -> str:
    Path("c.yaml").write_text(CONTRACT + OWN)
    quality = {"contract": "c.yaml", **({} if variables is None else {"variables": variables})}
    metadata = {
        "source": {"name": "orders", "format": "CSV", "path": "orders.csv"},
        "target": {"name": "orders", "format": "PARQUET", "path": "out.parquet"},
        "quality": quality,
    }
    Path("load.json").write_text(json.dumps({"identifier": "load", "metadata": metadata}))
    return "load.json"


def test_a_config_gives_values_to_its_contract(ldp: Ldp) -> None:
    assert run_config(load({"LEAST": 2})).status == "published"
    with pytest.raises(Exception, match="enough"):
        run_config(load({"LEAST": 3}))
    hashes = {Config.from_file(load(given)).spec_hash() for given in (None, {"LEAST": 2}, {"LEAST": 3})}
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"LEST": 1},
            "metadata.quality.variables.LEST: the contract has no variable LEST; it has: LEAST, MOST",
        ),
        ({"PASSWORD": "x"}, "metadata.quality.variables.PASSWORD: looks like "),
        ({"LEAST": [1]}, "metadata.quality.variables.LEAST"),
    ],
)
def test_a_wrong_value_of_a_config_is_told_with_its_place(ldp: Ldp, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        run_config(load(given))
    assert said in str(caught.value)
