"""A run as an event of OpenLineage, in the models of its client."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from importlib.metadata import version
from typing import Any

from openlineage.client import facet_v2
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState

from ldp_core.events import fold, model
from ldp_core.sinks.openlineage import place_of

_RUN_IDS = uuid.UUID("6b1f2c52-9d0c-5f0e-8f57-6c6470000000")
"""The name space in which a run id that is no uuid is hashed to one."""
_DONE = ("published", "skipped_duplicate")
Payload = Mapping[str, Any]


def run_event(state: fold.RunState, namespace: str, moment: str, *, ended: bool) -> RunEvent:
    """The event that a run starts, or how it ended.

    Args:
        state: What its events told so far.
        namespace: The namespace of the job.
        moment: When, ISO 8601.
        ended: Whether it is over.
    """
    event = RunState.START
    if ended:
        event = RunState.COMPLETE if state.status in _DONE else RunState.FAIL
    job = ".".join(name for name in (state.workflow, state.pipeline) if name) or "unknown"
    return RunEvent(
        eventType=event,
        eventTime=moment,
        run=Run(runId=run_uuid(state.run_id, state.attempt), facets=_run_facets(state)),
        job=Job(namespace=namespace, name=job, facets=_job_facets()),
        inputs=[_input(state)],
        outputs=[_output(state)],
        producer=_producer(),
    )


def run_uuid(run_id: str, attempt: int = 1) -> str:
    """The id of a run: its own where that is a uuid, else a uuid that is hashed from it.

    Lineage knows no attempts: a later one is a run of its own.
    """
    if attempt == 1:
        try:
            return str(uuid.UUID(run_id))
        except ValueError:
            pass
    return str(uuid.uuid5(_RUN_IDS, run_id if attempt == 1 else f"{run_id}#{attempt}"))


def _producer() -> str:
    return f"pkg:pypi/ldp-core@{version('ldp-core')}"


def _run_facets(state: fold.RunState) -> dict[str, Any]:
    made = _producer()
    facets: dict[str, Any] = {
        "processing_engine": facet_v2.processing_engine_run.ProcessingEngineRunFacet(
            version=version("ldp-core"), name="ldp", producer=made
        )
    }
    if state.window_start is not None:
        facets["nominalTime"] = facet_v2.nominal_time_run.NominalTimeRunFacet(
            nominalStartTime=state.window_start, nominalEndTime=state.window_end, producer=made
        )
    if state.error is not None:
        facets["errorMessage"] = facet_v2.error_message_run.ErrorMessageRunFacet(
            message=state.error, programmingLanguage="python", producer=made
        )
    checks = _checks(state)
    if checks:
        tests = [
            facet_v2.test_run.TestExecution(
                name=str(check.get("name")),
                status="pass" if check.get("passed") else "fail",
                severity=check.get("severity"),
                type=check.get("kind"),
                description=_counted(check),
            )
            for check in checks
        ]
        facets["test"] = facet_v2.test_run.TestRunFacet(tests=tests, producer=made)
    return facets


def _job_facets() -> dict[str, Any]:
    return {
        "jobType": facet_v2.job_type_job.JobTypeJobFacet(
            processingType="BATCH", integration="LDP", jobType="JOB", producer=_producer()
        )
    }


def _input(state: fold.RunState) -> InputDataset:
    made = _producer()
    namespace, name = place_of(_payload(state, model.RUN_STARTED).get("source") or {})
    facets: dict[str, Any] = {}
    if state.rows_read is not None:
        facets["inputStatistics"] = facet_v2.input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
            rowCount=state.rows_read, producer=made
        )
        facets["dataQualityMetrics"] = (
            facet_v2.data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
                columnMetrics={}, rowCount=state.rows_kept, producer=made
            )
        )
    checks = _checks(state)
    if checks:
        quality = facet_v2.data_quality_assertions_dataset
        columns = {str(column["name"]) for column in _payload(state, model.RUN_EXTRACTED).get("schema") or ()}
        facets["dataQualityAssertions"] = quality.DataQualityAssertionsDatasetFacet(
            assertions=[
                quality.Assertion(
                    assertion=str(check.get("kind") or check.get("name")),
                    success=bool(check.get("passed")),
                    column=_column(check, columns),
                    severity=check.get("severity"),
                    **_named(check, quality.Assertion),
                )
                for check in checks
            ],
            producer=made,
        )
    return InputDataset(namespace=namespace, name=name, inputFacets=facets)


def _output(state: fold.RunState) -> OutputDataset:
    made = _producer()
    namespace, name = place_of(_payload(state, model.RUN_STARTED).get("target") or {})
    facets: dict[str, Any] = {}
    columns = _payload(state, model.RUN_EXTRACTED).get("schema")
    if columns:
        schema = facet_v2.schema_dataset
        facets["schema"] = schema.SchemaDatasetFacet(
            fields=[schema.SchemaDatasetFacetFields(name=c["name"], type=c["type"]) for c in columns],
            producer=made,
        )
    output: dict[str, Any] = {}
    wrote = _payload(state, model.RUN_PUBLISHED)
    if wrote:
        if state.snapshot_id is not None:
            facets["version"] = facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet(
                datasetVersion=state.snapshot_id, producer=made
            )
        output["outputStatistics"] = (
            facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                rowCount=wrote.get("rows_written"),
                size=wrote.get("bytes"),
                fileCount=wrote.get("files"),
                producer=made,
            )
        )
    return OutputDataset(namespace=namespace, name=name, facets=facets, outputFacets=output)


def _payload(state: fold.RunState, kind: str) -> Payload:
    return state.payloads.get(kind) or {}


def _checks(state: fold.RunState) -> list[Payload]:
    return list(_payload(state, model.QUALITY_EVALUATED).get("results") or ())


def _column(check: Payload, columns: Collection[str]) -> str | None:
    """The one column that a check is about, as its name tells: ``range(fare)``."""
    subject = str(check.get("name")).removeprefix(f"{check.get('kind')}(").removesuffix(")")
    return subject if check.get("name") == f"{check.get('kind')}({subject})" and subject in columns else None


def _named(check: Payload, assertion: type[Any]) -> dict[str, Any]:
    """The name of a check, for clients whose assertions have one."""
    return {"name": str(check.get("name"))} if "name" in assertion.__annotations__ else {}


def _counted(check: Payload) -> str | None:
    if check.get("failing_rows") is None or check.get("rows") is None:
        return None
    return f"{check['failing_rows']} of {check['rows']} rows fail"
