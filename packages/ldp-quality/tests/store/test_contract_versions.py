"""``ldp contract save``, ``versions``, ``show``: every version, who, when, and what changed in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import ConfigError
from ldp_quality import open_store
from ldp_quality.contract._diff_change import Change, ContractDiff
from ldp_quality.contract.versioning import Semver, judge

pytest.importorskip("ldp_cli")

from ldp_cli.main import main

Ldp = Callable[..., str]
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: orders
version: {version}
status: active
schema:
  - name: orders
    properties:
      - {{name: id, logicalType: integer}}
"""
NOTE = "      - {name: note, logicalType: string}\n"
REQUIRED = "      - {name: note, logicalType: string, required: true}\n"


@pytest.fixture
def ldp(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ldp:
    """Runs ``ldp contract`` in an empty folder; returns what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        found = main(["contract", *words])
        printed = capsys.readouterr()
        assert found == code, printed.err
        return printed.out if code == 0 else printed.err

    return run


def write(version: str, more: str = "") -> str:
    Path("c.yaml").write_text(CONTRACT.format(version=version) + more)
    return "c.yaml"


def test_each_version_is_kept_with_what_changed(ldp: Ldp, place: str) -> None:
    store = ("--store", place)
    first = json.loads(ldp("save", write("1.0.0", NOTE), "--by", "ana", *store, "--json"))
    assert (first["added"], first["number"], first["who"], first["changes"]) == (True, 1, "ana", None)
    told = ldp("save", "c.yaml", *store)
    assert told.startswith("nothing changed: orders 1.0.0 as number 1 in ")
    assert ", saved by ana on " in told
    told = ldp("save", write("2.0.0"), "--by", "ben", "--note", "no notes", *store)
    assert told.splitlines()[0].endswith(", by ben")
    assert "orders 1.0.0 -> 2.0.0: 1 breaking, 1 informational" in told.splitlines()
    listed = ldp("versions", "orders", *store).splitlines()
    assert [line.split()[0] for line in listed[3:]] == ["2", "1"]
    assert listed[3].split()[-6:] == ["1", "breaking,", "1", "informational", "no", "notes"]
    assert listed[4].endswith("the first")
    found = json.loads(ldp("versions", "c.yaml", *store, "--json"))
    assert [item["number"] for item in found["versions"]] == [2, 1]
    assert found["versions"][0]["changes"]["counts"]["breaking"] == 1
    assert "content" not in found["versions"][0]
    assert ldp("show", "orders", *store) == CONTRACT.format(version="2.0.0")
    for version in ("1.0.0", "1"):
        assert ldp("show", "orders", "--version", version, *store) == CONTRACT.format(version="1.0.0") + NOTE
    shown = json.loads(ldp("show", "c.yaml", "--version", "1", *store, "--json"))
    assert (shown["number"], shown["content"]) == (1, CONTRACT.format(version="1.0.0") + NOTE)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [("1.4.0", "1.4.0", "2.0.0"), ("1.4.0", "1.9.0", "2.0.0"), ("0.3.1", "0.3.2", "0.4.0")],
)
def test_what_breaks_needs_a_version_that_says_so(ldp: Ldp, old: str, new: str, wanted: str) -> None:
    ldp("save", write(old, NOTE))
    said = ldp("save", write(new), code=1)
    assert "c.yaml:4: version: the version is " in said
    assert f"1 breaking change: note is gone: readers of the column fail.; by semver it is {wanted}" in said
    assert len(said.strip().splitlines()) == 1
    assert len(json.loads(ldp("versions", "orders", "--json"))["versions"]) == 1
    ldp("save", "c.yaml", "--force")
    assert len(json.loads(ldp("versions", "orders", "--json"))["versions"]) == 2
    ldp("save", write(wanted, "# and so on\n"))


def test_a_tightening_change_under_the_same_version_is_a_warning(
    ldp: Ldp, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "    quality:\n      - {metric: rowCount, mustBeGreaterThan: 0}\n"
    ldp("save", write("1.0.0"))
    assert main(["contract", "save", write("1.0.1", rule)]) == 0
    printed = capsys.readouterr()
    assert (
        "warning: c.yaml: the version is 1.0.1 after 1.0.0, and there is 1 tightening change" in printed.err
    )
    assert "(by semver it is 1.1.0)" in printed.err
    assert main(["contract", "save", write("1.1.1", rule + "description: {purpose: shop}\n")]) == 0
    assert capsys.readouterr().err == ""


def test_a_file_with_errors_is_not_kept(ldp: Ldp) -> None:
    Path("c.yaml").write_text("apiVersion: v3.1.0\nkind: DataContract\nid: orders\n")
    assert "version: is required" in ldp("save", "c.yaml", code=1)
    assert not Path(".ldp").exists()


def test_what_is_not_there_is_one_line(ldp: Ldp) -> None:
    assert "ldp contract save FILE makes it" in ldp("versions", "orders", code=1)
    ldp("save", write("1.0.0"))
    assert "no contract other in .ldp/quality.db; it has orders" in ldp("versions", "other", code=1)
    assert "it has: 1.0.0 (number 1)" in ldp("show", "orders", "--version", "7", code=1)
    assert ldp("versions").splitlines()[3].split()[:3] == ["orders", "1", "1.0.0"]


def test_a_name_cannot_speak_to_the_terminal(ldp: Ldp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    Path("c.yaml").write_text(CONTRACT.format(version="1.0.0").replace("id: orders", 'id: "o\\e[31m"'))
    told = ldp("save", "c.yaml", "--by", "\x1b[31m") + ldp("save", "c.yaml") + ldp("versions", "c.yaml")
    assert "\x1b" not in told
    assert told.count("o\\x1b[31m") == 3


def test_a_text_that_is_no_contract_is_listed_and_followed(ldp: Ldp) -> None:
    with open_store(".ldp/quality.db") as store:
        store.save_contract("no contract", contract_id="orders")
    ldp("save", write("1.0.0"))
    assert "cannot be compared" in ldp("versions", "orders")
    Path("c.yaml").write_text(Path("c.yaml").read_text() + "# a comment\n")
    ldp("save", "c.yaml")
    assert "only its text" in ldp("versions", "orders")


def test_what_is_accepted_is_asked_while_nobody_else_can_save(place: str) -> None:
    def refuse(last: Any) -> None:
        raise ConfigError(f"not after {last and last.number}")

    with open_store(place) as store:
        with pytest.raises(ConfigError, match="not after None"):
            store.save_contract("a", contract_id="x", accept=refuse)
        store.save_contract("a", contract_id="x")
        store.save_contract("a", contract_id="x", accept=refuse)  # nothing is saved, nothing asked
        with pytest.raises(ConfigError, match="not after 1"):
            store.save_contract("b", contract_id="x", accept=refuse)
        assert [item.content for item in store.contracts("x")] == ["a"]
        store.save_contract("b", contract_id="x")


def of(impact: str) -> ContractDiff:
    return ContractDiff("c", None, None, (Change("p", "changed", 1, 2, impact, "it changed."),))


@pytest.mark.parametrize(
    ("impact", "old", "new", "refused", "wanted"),
    [
        ("breaking", "1.2.3", "2.0.0", None, None),
        ("breaking", "1.2.3", "2.0.0-rc.1", None, None),
        ("breaking", "2.0.0-rc.2", "2.0.0-rc.10", None, None),
        ("breaking", "2.0.0-rc.10", "2.0.0-rc.2", True, "2.0.0"),
        ("breaking", "2.0.0", "1.9.0", True, "3.0.0"),
        ("breaking", "0.1.0", "0.2.0", None, None),
        ("breaking", "v1", "v2", None, None),
        ("breaking", "v1", "v1.1", True, "2.0.0"),
        ("breaking", "2026-08", "2026-08", True, None),
        ("breaking", "summer", "autumn", None, None),
        ("tightening", "1.2.3", "1.2.4", False, "1.3.0"),
        ("tightening", "1.2.3", "1.3.0", None, None),
        ("tightening", "0.2.3", "0.2.4", None, None),
        ("loosening", "1.2.3", "1.2.3", False, "1.3.0"),
        ("loosening", "summer", "summer", None, None),
        ("informational", "1.2.3", "1.2.3", None, None),
        ("informational", "1.2.3", "1.2.2", False, None),
    ],
)
def test_versions_are_judged_in_the_terms_of_semver(
    impact: str, old: str, new: str, refused: bool | None, wanted: str | None
) -> None:
    found = judge(of(impact), old, new)
    assert (found.refused if found else None, found.wanted if found else None) == (refused, wanted)


def test_nothing_that_changed_needs_no_version() -> None:
    assert judge(ContractDiff("c", None, None, ()), "1.0.0", "1.0.0") is None


def test_semantic_versions_are_in_their_order() -> None:
    texts = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0",
        "1.1",
        "2",
    ]
    found = [Semver.of(text) for text in texts]
    assert found == sorted(found, key=lambda item: item or Semver(0))
    assert [Semver.of(text) for text in ("", "1.x", "2026-08-01")] == [None] * 3
