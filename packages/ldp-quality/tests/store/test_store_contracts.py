"""Versions of contracts: every one that was saved, as it was given."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import open_store

CONTRACT = "apiVersion: v3.2.0\r\nkind: DataContract\nid: orders\nversion: 1.2.0  # ä\nstatus: active\n"
texts = st.sampled_from(["a", "b", "ä\r\n", " a", "a\n"])


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given=st.lists(st.tuples(st.sampled_from(["x", "y"]), texts), max_size=8))
def test_each_change_is_a_version_and_no_change_is_none(place: str, given: list[tuple[str, str]]) -> None:
    case = uuid4()
    model: dict[str, list[str]] = {}
    with open_store(place) as store:
        for name, text in given:
            key = f"{name}-{case}"
            versions = model.setdefault(key, [])
            if versions[-1:] != [text]:
                versions.append(text)
            made = store.save_contract(text, contract_id=key, who="me", note="why")
            assert (made.number, made.content) == (len(versions), text)
        for key, versions in model.items():
            found = store.contracts(key)
            assert [item.content for item in found] == versions[::-1]
            assert [item.number for item in found] == list(range(len(versions), 0, -1))
            assert store.contract(key) == found[0]
            assert store.contract(key, 1) == found[-1]
            assert store.contracts(key, limit=1) == found[:1]
            assert {(item.who, item.note) for item in found} == {("me", "why")}


def test_a_file_says_its_id_and_version(place: str, tmp_path: Path) -> None:
    path = tmp_path / "orders.odcs.yaml"
    path.write_bytes(CONTRACT.encode())
    with open_store(place) as store:
        made = store.save_contract(path)
        assert (made.contract_id, made.version, made.number, made.content) == ("orders", "1.2.0", 1, CONTRACT)
        assert len(made.sha256) == 64
        assert made.who
        assert made.saved.tzinfo is not None
        assert store.save_contract(path) == made == store.contract("orders")
        assert store.save_contract(path, version="9").version == "1.2.0"
        assert store.contract("orders", 2) is None
        assert store.contracts("other") == []


def test_a_contract_without_an_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("version: 1")
    with open_store(tmp_path / "q.db") as store:
        for wrong in (path, "version: 1", '{"version": "1"}'):
            with pytest.raises(ConfigError, match="the contract has no id; give contract_id, or the key id"):
                store.save_contract(wrong)
        with pytest.raises(ConfigError, match="the contract is no object"):
            store.save_contract("just words")
        with pytest.raises(ConfigError, match="config file not found"):
            store.save_contract(tmp_path / "none.yaml")
        made = store.save_contract('{"id": "x", "version": "1"}')
        assert (made.contract_id, made.version) == ("x", "1")


def test_two_versions_are_told_apart(place: str) -> None:
    with open_store(place) as store:
        for status in ("draft", "active", "retired"):
            store.save_contract(CONTRACT.replace("status: active", f"status: {status}"))
        last = store.diff_contract("orders")
        assert [(change.path, change.impact) for change in last.changes] == [("status", "breaking")]
        first = store.diff_contract("orders", old=1, new=2)
        assert [change.impact for change in first.changes] == ["informational"]
        with pytest.raises(ConfigError, match="there is no version number 0 of the contract orders in"):
            store.diff_contract("orders", new=1)
        with pytest.raises(ConfigError, match="there is no version of the contract other in"):
            store.diff_contract("other")
