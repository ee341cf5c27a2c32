"""The OpenLineage sink: events that the models of its client take, sent to a file or a server."""

from __future__ import annotations

import inspect
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from ldp_core import registry
from ldp_core.errors import DataQualityError, SourceNotFound
from ldp_core.run.registered import run_config

pytest.importorskip("openlineage.client")

from ldp_core.sinks.lineage import run_uuid
from ldp_core.sinks.openlineage import place_of
from openlineage.client import event_v2, facet_v2

Project = Callable[..., Path]
FILE = Path(".ldp/openlineage.jsonl")
SINKS = {"sinks": ["openlineage"]}
needs_quality = pytest.mark.skipif(
    registry.find("ldp.gates", "quality") is None, reason="needs ldp-quality, which brings the gate"
)


def told(path: Path = FILE) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for event in found:
        check(event)
    return found


def check(event: dict[str, Any]) -> None:
    """Build the event anew from its JSON, by the library's own models, which validate it."""
    uuid.UUID(event["run"]["runId"])
    event_v2.RunEvent(
        eventType=event_v2.RunState(event["eventType"]),
        eventTime=event["eventTime"],
        producer=event["producer"],
        run=event_v2.Run(runId=event["run"]["runId"], facets=facets(event["run"]["facets"], "RunFacet")),
        job=event_v2.Job(
            namespace=event["job"]["namespace"],
            name=event["job"]["name"],
            facets=facets(event["job"]["facets"], "JobFacet"),
        ),
        inputs=[
            event_v2.InputDataset(
                namespace=item["namespace"],
                name=item["name"],
                facets=facets(item["facets"], "DatasetFacet"),
                inputFacets=facets(item["inputFacets"], "InputDatasetFacet"),
            )
            for item in event["inputs"]
        ],
        outputs=[
            event_v2.OutputDataset(
                namespace=item["namespace"],
                name=item["name"],
                facets=facets(item["facets"], "DatasetFacet"),
                outputFacets=facets(item["outputFacets"], "OutputDatasetFacet"),
            )
            for item in event["outputs"]
        ],
    )


def facets(found: dict[str, Any], base: str) -> dict[str, Any]:
    """Each facet as the class that its schema names, which must be one of the place it stands in."""
    built = {}
    for name, facet in found.items():
        wanted = facet["_schemaURL"].rsplit("/", 1)[-1]
        classes = {
            item
            for module in vars(facet_v2).values()
            if inspect.ismodule(module)
            for key, item in vars(module).items()
            if key == wanted
        }
        (cls,) = classes
        assert base in [parent.__name__ for parent in cls.__mro__]
        built[name] = cls(**{key: value for key, value in facet.items() if not key.startswith("_")})
    return built


def test_a_run_is_a_start_and_a_complete(project: Project, tmp_path: Path) -> None:
    result = run_config(
        project(observability=SINKS, window={"size": "day", "column": "pickup_ts"}),
        window="2026-08-01/2026-08-02",
    )
    start, complete = told()
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert {event["run"]["runId"] for event in (start, complete)} == {result.run_id}
    assert complete["job"]["namespace"] == "ldp"
    assert complete["job"]["name"] == "c"
    (source,), (target,) = complete["inputs"], complete["outputs"]
    assert (source["namespace"], source["name"]) == ("file", str(tmp_path / "r.csv"))
    assert (target["namespace"], target["name"]) == (f"file://{tmp_path}/wh", "nyc.rides")
    assert source["inputFacets"]["inputStatistics"]["rowCount"] == 3
    assert source["inputFacets"]["dataQualityMetrics"]["rowCount"] == 1
    assert "outputFacets" not in source
    assert "inputFacets" not in target
    assert [field["name"] for field in target["facets"]["schema"]["fields"]] == [
        "ride_id",
        "pickup_ts",
        "fare",
    ]
    assert target["facets"]["version"]["datasetVersion"] == str(result.write_result.snapshot_id)
    wrote = target["outputFacets"]["outputStatistics"]
    assert (wrote["rowCount"], wrote["fileCount"], wrote["size"]) == (1, 1, result.write_result.bytes)
    nominal = complete["run"]["facets"]["nominalTime"]
    assert nominal["nominalStartTime"] == "2026-08-01T00:00:00Z"
    assert nominal["nominalEndTime"] == "2026-08-02T00:00:00Z"


@needs_quality
def test_checks_are_tests_of_the_run_and_assertions_on_its_input(project: Project) -> None:
    checks = [{"check": "range", "column": "fare", "min": 6}, {"check": "not_null", "columns": ["fare"]}]
    with pytest.raises(DataQualityError):
        run_config(project(observability=SINKS, quality=checks))
    fail = told()[1]
    assert fail["eventType"] == "FAIL"
    tests = fail["run"]["facets"]["test"]["tests"]
    assert [(test["name"], test["type"], test["status"], test["severity"]) for test in tests] == [
        ("range(fare)", "range", "fail", "error"),
        ("not_null(fare)", "not_null", "pass", "error"),
    ]
    assertions = fail["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert [(item["assertion"], item["success"]) for item in assertions] == [
        ("range", False),
        ("not_null", True),
    ]
    assert "outputStatistics" not in fail["outputs"][0]["outputFacets"]
    assert "5.5" not in json.dumps(tests)


@needs_quality
def test_assertions_name_their_column(project: Project) -> None:
    checks = [
        {"check": "range", "column": "fare", "min": 0},
        {"check": "range", "column": "ride_id", "min": 0},
        {"check": "range", "column": "a (b), c", "min": 0},
        {"check": "range", "column": "fare", "max": 100, "name": "cheap"},
        {"check": "unique", "columns": ["ride_id", "fare"]},
        {"check": "row_count", "min": 1},
    ]
    run_config(project(csv='ride_id,fare,"a (b), c"\n1,5.5,3\n', observability=SINKS, quality=checks))
    assertions = told()[1]["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert [(item["assertion"], item.get("column")) for item in assertions] == [
        ("range", "fare"),
        ("range", "ride_id"),
        ("range", "a (b), c"),
        ("range", None),
        ("unique", None),
        ("row_count", None),
    ]
    names = [item.get("name") for item in assertions]
    if any(names):  # older clients know none
        assert names[3:] == ["cheap", "unique(ride_id, fare)", "row_count"]


def test_a_failure_has_its_message(project: Project) -> None:
    path = project(observability=SINKS)
    Path("r.csv").unlink()
    with pytest.raises(SourceNotFound):
        run_config(path, run_id="airflow:rides:manual:load")
    fail = told()[1]
    assert fail["run"]["facets"]["errorMessage"]["message"].startswith("CSV file not found: ")
    assert fail["run"]["runId"] == run_uuid("airflow:rides:manual:load")


def test_a_run_id_that_is_no_uuid_is_hashed_to_one() -> None:
    own = "01a22a21-d4ba-7000-8000-000000000000"
    assert run_uuid(own) == own
    assert run_uuid("x") == run_uuid("x") != run_uuid("y")
    assert uuid.UUID(run_uuid("x")).version == 5
    assert len({run_uuid(own, attempt) for attempt in (1, 2, 3)}) == 3


@pytest.mark.parametrize(
    ("endpoint", "place"),
    [
        ({"path": "/data/r.csv"}, ("file", "/data/r.csv")),
        ({"path": "s3://lake/a/b.parquet"}, ("s3://lake", "a/b.parquet")),
        ({"table": "a.b", "catalog": {"place": "https://cat"}}, ("https://cat", "a.b")),
        ({"table": "a.b", "catalog": {"type": "glue", "place": None}}, ("glue", "a.b")),
        ({"format": "BIGQUERY", "name": "trips"}, ("bigquery", "trips")),
        ({}, ("unknown", "unknown")),
    ],
)
def test_data_sets_are_named_as_openlineage_names_them(endpoint: Any, place: tuple[str, str]) -> None:
    assert place_of(endpoint) == place


class Server(BaseHTTPRequestHandler):
    """Keeps what it is sent; answers what it is told to."""

    seen: list[tuple[str, str | None, dict[str, Any]]]
    answer: int

    def do_POST(self) -> None:
        """Take one event."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, self.headers.get("Authorization"), body))
        self.send_response(self.answer)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[Server]]]:
    handler = type("Handler", (Server,), {"seen": [], "answer": 200})
    running = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}", handler
    running.shutdown()
    thread.join()
    running.server_close()


def test_a_server_gets_the_events_with_the_key(
    project: Project, server: tuple[str, type[Server]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, handler = server
    monkeypatch.setenv("LINEAGE_KEY", "abc")
    options = {"type": "openlineage", "url": url, "namespace": "team", "api_key_env": "LINEAGE_KEY"}
    result = run_config(project(observability={"sinks": [options]}))
    assert result.warnings == ()
    assert [(path, auth) for path, auth, _ in handler.seen] == [("/api/v1/lineage", "Bearer abc")] * 2
    assert [body["eventType"] for *_, body in handler.seen] == ["START", "COMPLETE"]
    for *_, body in handler.seen:
        check(body)
        assert body["job"]["namespace"] == "team"


def test_a_server_that_refuses_is_one_warning(project: Project, server: tuple[str, type[Server]]) -> None:
    url, handler = server
    handler.answer = 403
    result = run_config(project(observability={"sinks": [{"type": "openlineage", "url": url}]}))
    assert result.status == "published"
    assert len([line for line in result.warnings if "openlineage" in line]) == 1


def test_a_server_that_is_away_is_one_warning(project: Project) -> None:
    sink = {"type": "openlineage", "url": "http://127.0.0.1:9", "timeout": 0.5}
    result = run_config(project(observability={"sinks": [sink]}))
    assert result.status == "published"
    assert len([line for line in result.warnings if "openlineage" in line]) == 1


def test_a_key_that_is_not_set_is_one_warning(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINEAGE_KEY", raising=False)
    sink = {"type": "openlineage", "url": "http://127.0.0.1:9", "api_key_env": "LINEAGE_KEY"}
    result = run_config(project(observability={"sinks": [sink]}))
    assert result.status == "published"
    assert [line for line in result.warnings if "LINEAGE_KEY is not set" in line]
