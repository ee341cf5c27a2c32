"""A config as everybody sees it: its problems with their lines, its parts, its notes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ldp_core import registry
from ldp_core.config import Config
from ldp_core.config import pipeline as shapes
from ldp_core.errors import ConfigError, PipelineNotFound
from ldp_core.plan.build import problems as plan_problems

RIDES = """\
identifier: rides
who: analyst
metadata:
  source:
    name: rides
    format: csv
    path: r.csv
  target:
    name: rides
    format: Iceberg
    catalog: {identifier: nyc, warehouse_path: wh}
    write_mod: append
    join_cols: id
"""
SOURCE = {"name": "rides", "format": "CSV", "path": "r.csv"}
TARGET = {"name": "rides", "format": "ICEBERG", "catalog": {"identifier": "nyc", "warehouse_path": "wh"}}


def config(**more: Any) -> Config:
    root = {
        name: more.pop(name) for name in list(more) if name in ("kind", "when", "apiVersion", "who", "zzz")
    }
    return Config.from_dict(
        {"identifier": "rides", **root, "metadata": {"source": SOURCE, "target": TARGET, **more}}
    )


def said(found: Config, severity: str = "error") -> list[str]:
    return [str(problem) for problem in found.problems() if problem.severity == severity]


def test_a_problem_names_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rides.yaml").write_text(RIDES)
    monkeypatch.chdir(tmp_path)
    found = Config.from_file("rides.yaml")
    assert said(found) == ["rides.yaml:12: metadata.target.write_mod: unknown key; did you mean write_mode?"]
    with pytest.raises(ConfigError) as caught:
        found.validate()
    assert str(caught.value) == said(found)[0]
    assert caught.value.line == 12


def test_parts_of_a_config(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(RIDES.replace("write_mod:", "write_mode:").replace("append", "UPSERT"))
    found = Config.from_file(tmp_path / "c.yaml")
    found.validate()
    assert (found.identifier, found.who, found.what) == ("rides", "analyst", None)
    assert (found.source_kind(), found.target_kind(), found.route()) == ("CSV", "ICEBERG", "CSV -> ICEBERG")
    assert found.source["format"] == "csv"
    assert found.path == tmp_path / "c.yaml"
    assert found.base_dir == tmp_path
    assert found.resolve("r.csv") == tmp_path / "r.csv"
    assert found.quality == {"on_failure": "fail", "checks": []}
    target = found.spec("target")
    assert target.key == "metadata.target"
    assert target.file == str(tmp_path / "c.yaml")
    assert target.values["format"] == "ICEBERG"
    assert target.values["write_mode"] == "upsert"
    assert target.values["join_cols"] == ["id"]
    assert target.values["catalog"] == {"identifier": "nyc", "warehouse_path": "wh", "type": "local"}
    assert target.sub("catalog").path("wh") == str(tmp_path / "wh")
    assert found.spec("window").values == {}


def test_a_config_made_by_hand() -> None:
    found = Config("rides", who="me", metadata={"source": SOURCE, "target": TARGET})
    assert found.problems() == ()
    assert found.spec_hash() == config().spec_hash()
    assert found == Config("rides", who="me", metadata={"source": SOURCE, "target": TARGET})


def test_all_problems_at_once(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(
        '{"identifier": "",\n "zzz": 1,\n "metadata": {\n  "source": {"format": "CVS"},\n'
        '  "window": {"size": "week"},\n  "schedule": "x",\n  "unknown": 1}}\n'
    )
    lines = {
        (problem.line, problem.key): problem.message
        for problem in Config.from_file(tmp_path / "c.json").problems()
    }
    assert set(lines) == {
        (1, "identifier"),
        (2, "zzz"),
        (3, "metadata.target"),
        (4, "metadata.source.format"),
        (5, "metadata.window.size"),
        (6, "metadata.schedule"),
        (7, "metadata.unknown"),
    }
    assert lines[1, "identifier"] == "must not be empty"
    assert lines[3, "metadata.target"] == "is required"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "pipeline",
            "kind: unknown kind 'pipeline'; the kinds are ['Pipeline', 'Workflow'], written exactly so;",
        ),
        ("Workflow", "kind: a Workflow is no pipeline; run it with ldp workflow run"),
        ("Metrics", "kind: the kind Metrics is reserved for later"),
        ("Report", "kind: the kind Report is reserved for later"),
        ("Profiles", "kind: the kind Profiles is reserved for later"),
        ("Nope", "kind: unknown kind 'Nope'; the kinds are"),
        (3, "kind: must be one of"),
        (None, "kind: must be one of"),
    ],
)
def test_kinds(kind: Any, message: str) -> None:
    [text] = said(config(kind=kind, bad=1))
    assert text.startswith(message)


def test_the_hint_of_a_kind_in_the_wrong_case() -> None:
    assert said(config(kind="pipeline"))[0].endswith("did you mean 'Pipeline'?")


def test_another_version_of_the_format() -> None:
    assert said(config(apiVersion="ldp/v2")) == ['apiVersion: must be "ldp/v1"']


def test_an_unknown_format_lists_the_routes() -> None:
    found = config(source={"format": "CVS", "path": "x"})
    [text] = said(found)
    assert text.startswith('metadata.source.format: no source reads the format "CVS"; routes: ')
    assert "CSV" in text
    assert "-> CSV, ICEBERG" in text
    assert text.endswith("did you mean CSV?")
    with pytest.raises(PipelineNotFound, match="routes"):
        found.source_kind()


def test_json_is_two_kinds_of_source() -> None:
    lines = config(source={"format": "json", "path": "x.jsonl"})
    query = config(source={"format": "JSON", "engine": "bigquery", "path": "q.json"})
    assert (lines.source_kind(), query.source_kind()) == ("JSONL", "BIGQUERY")
    assert config(target={"format": "JSON", "path": "x"}).target_kind() == "JSONL"


def test_the_path_of_the_metadata_that_is_no_object() -> None:
    for broken in ([], "x", None, 3):
        found = Config.from_dict({"identifier": "a", "metadata": broken})
        assert [problem.key for problem in found.problems()] == ["metadata"]
        assert found.spec_hash()
    assert [problem.key for problem in Config.from_dict({}).problems()] == ["identifier", "metadata"]


@pytest.mark.parametrize("when", ["Daily", "HOURLY", "weekly", "monthly"])
def test_when_means_a_schedule(when: str) -> None:
    found = config(when=when)
    assert found.schedule == f"@{when.lower()}"
    assert f"means the schedule @{when.lower()}" in found.notes()[0]
    assert config(when=when, schedule="5 2 * * *").notes() == ()
    assert config(when=when, schedule="5 2 * * *").schedule == "5 2 * * *"


def test_any_other_when_is_a_label() -> None:
    found = config(when="fortnightly")
    assert found.schedule is None
    assert found.notes() == (
        "when 'fortnightly' is a label, so no schedule is read from it; set metadata.schedule, or write "
        "'hourly' / 'daily' / 'weekly' / 'monthly' in when",
    )
    assert said(found) == []


def test_sections_of_absent_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("retries", "sla", "maintenance"):
        if registry.find("ldp.sections", name) is None:
            found = config(**{name: {"anything": 1}})
            assert said(found) == []
            assert f"metadata.{name} is left alone" in found.notes()[0]
    real = registry.find

    def without_quality(group: str, name: str, **options: Any) -> str | None:
        return None if name == "quality" else real(group, name, **options)

    monkeypatch.setattr(registry, "find", without_quality)
    monkeypatch.setattr(shapes, "sections", lambda: ["docs"])
    [text] = said(config(quality=[]))
    assert text == "metadata.quality: needs ldp-quality, which is not installed; pip install ldp-quality"
    assert [str(problem) for problem in plan_problems(config(quality=[]))] == [text]


def test_own_keys_of_metadata() -> None:
    assert said(config(id="second", engine="duckdb")) == []
    assert said(config(engine="DuckDB")) == []
    [text] = said(config(engine="spark"))
    assert text.startswith("metadata.engine: the engine 'spark' is not installed")
    assert [text.split(": ")[0] for text in said(config(id=3))] == ["metadata.id"]


def test_remarks_at_any_depth() -> None:
    source = {**SOURCE, "x-why": {"any": ["thing"]}, "$schema": "s"}
    found = config(source=source, **{"x-note": 1})
    assert said(found) == []
    assert "x-why" not in found.spec("source").values


def test_labels_may_be_null() -> None:
    assert said(config(who=None)) == []
    assert [text.split(":")[0] for text in said(config(who=3))] == ["who"]


def test_explain_shows_the_sections() -> None:
    found = config(schedule="@daily", window={"size": "day", "column": "ts"}, docs={"owner": "me"})
    assert said(found) == []
    assert ("schedule", "@daily") in found.explain()
    assert ("window", "day of ts, UTC") in found.explain()
    assert ("docs", "me") in found.explain()


def test_every_problem_of_the_list_form_of_quality_has_its_line(tmp_path: Path) -> None:
    if registry.find("ldp.sections", "quality") is None:
        pytest.skip("needs ldp-quality")
    body = {"identifier": "r", "metadata": {"source": SOURCE, "target": TARGET}}
    for quality, key in (
        ([{"check": "range", "column": "a", "min": 0, "typo": 1}], "metadata.quality[0].typo"),
        ({"checks": [{"check": "range", "column": "a", "typo": 1}]}, "metadata.quality.checks[0].typo"),
        ([{"check": "rang"}], "metadata.quality[0].check"),
    ):
        body["metadata"]["quality"] = quality
        (tmp_path / "c.json").write_text(json.dumps(body, indent=1))
        found = [p for p in Config.from_file(tmp_path / "c.json").problems() if p.key == key]
        assert found, Config.from_file(tmp_path / "c.json").problems()
        text = (tmp_path / "c.json").read_text().splitlines()[(found[0].line or 0) - 1]
        assert key.rpartition(".")[2] in text


def test_reading_a_config_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(
        json.dumps({"identifier": "r", "metadata": {"source": SOURCE, "target": TARGET}})
    )
    code = (
        "import sys\n"
        "from ldp_core.config import Config\n"
        f"c = Config.from_file({str(tmp_path / 'c.json')!r})\n"
        "assert c.identifier == 'r'\n"
        "heavy = {'pyarrow', 'duckdb', 'pyiceberg', 'sqlalchemy', 'rich', 'yaml', 'jsonschema'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
