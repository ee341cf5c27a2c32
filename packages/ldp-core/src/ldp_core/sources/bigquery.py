"""A BigQuery query, run exactly once; its result streams into a spill so that a run can read it again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, EngineNotFound, Problem, SourceError, SourceNotFound
from ldp_core.shape import Key, Shape, Text
from ldp_core.sources.csv import LOSSES

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Extract, RunContext, Spec

CREDENTIALS = Shape(
    keys=(
        Key("name", Text(), "What the credentials are called."),
        Key("path", Text(), "The key file of a service account.", required=True),
    ),
    doc="The key file; its content is never logged.",
)

SHAPE = Shape(
    doc="A BigQuery query.",
    keys=(
        Key("name", Text(), "What the source is called.", required=True),
        Key("path", Text(), 'A JSON file holding {"query": ...}.'),
        Key("query", Text(), "The query itself."),
        Key("engine", Text(choices=("BIGQUERY",), ignore_case=True), "BIGQUERY, with the format JSON."),
        Key("credentials", CREDENTIALS, "The key file; the environment's credentials by default."),
        LOSSES,
    ),
    exactly_one=(("path", "query"),),
)


class BigQuery:
    """A BigQuery project seen through one service account.

    Args:
        name: What the source is called.
        credentials: ``{"name", "path"}`` of the key file, or None for the environment's credentials.
        path: A JSON file holding ``{"query": ...}``, for ``get`` without a query.
        client: A ``google.cloud.bigquery.Client`` or anything with its ``query``; made when first needed.
    """

    def __init__(
        self, name: str, credentials: Any = None, path: str | Path | None = None, client: Any = None
    ) -> None:
        self.name = name
        self.path = path
        self._credentials = credentials
        self._client = client

    def __repr__(self) -> str:
        return f"BigQuery(name={self.name!r})"

    @property
    def client(self) -> Any:
        """The client.

        Raises:
            EngineNotFound: google-cloud-bigquery is not installed.
            SourceError: The key file cannot be used.
        """
        if self._client is None:
            self._client = _client(self._credentials)
        return self._client

    def get(self, query: str | None = None) -> pa.Table:
        """Run the query once and return all of its rows in memory.

        Args:
            query: SQL; the one in ``path`` by default.
        """
        return self._result(query).to_arrow()

    def stream(self, query: str | None = None) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
        """Run the query once; the schema of its result and its rows, a batch at a time."""
        result = self._result(query)
        if not hasattr(result, "to_arrow_iterable"):
            table = result.to_arrow()
            return table.schema, table.to_batches()
        batches = iter(result.to_arrow_iterable())
        first = next(batches, None)
        if first is None:
            return result.to_arrow().schema, ()
        return first.schema, _chained(first, batches)

    def put(self, table: pa.Table) -> None:
        """BigQuery is a source only.

        Raises:
            NotImplementedError: Always; callers of the earlier Python API rely on it.
        """
        raise NotImplementedError("BigQuery is read-only: a query cannot be written to")

    def _result(self, query: str | None) -> Any:
        text = query if query is not None else read_query(Path(self.path)) if self.path else None
        if text is None:
            raise ConfigError(f"BigQuery source {self.name} has no query")
        try:
            return self.client.query(text).result()
        except (ConfigError, EngineNotFound, SourceError):
            raise
        except Exception as error:
            first = str(error).strip().splitlines() or [type(error).__name__]
            raise SourceError(f"BigQuery source {self.name}: {first[0]}") from error


def read_query(path: Path) -> str:
    """The query of a file that holds ``{"query": ...}``.

    Raises:
        SourceNotFound: The file is not there.
        ConfigError: It holds something else.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SourceNotFound(f"query file not found: {path}") from error
    except ValueError as error:
        raise ConfigError(f"is not valid JSON: {error}", file=str(path)) from error
    query = body.get("query") if isinstance(body, dict) else None
    if not isinstance(query, str) or not query.strip():
        raise ConfigError('must hold {"query": "SELECT ..."}', file=str(path))
    return query


def _chained(first: pa.RecordBatch, rest: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    yield first
    yield from rest


def _client(credentials: Any) -> Any:
    try:
        from google.cloud import bigquery
    except ImportError as error:
        raise EngineNotFound(
            "BigQuery needs google-cloud-bigquery, which is not installed",
            hint='pip install "ldp-core[bigquery]"',
        ) from error
    path = credentials.get("path") if isinstance(credentials, dict) else getattr(credentials, "path", None)
    try:
        if path is None:
            return bigquery.Client()
        return bigquery.Client.from_service_account_json(str(path))  # type: ignore[no-untyped-call]
    except FileNotFoundError as error:
        raise SourceError(f"the key file of BigQuery is not there: {path}") from error
    except Exception as error:
        raise SourceError(
            f"BigQuery credentials cannot be used: {type(error).__name__}", hint="check the key file"
        ) from None


class _BigQuerySource:
    """The source named ``BIGQUERY`` (and ``JSON`` with the engine ``BIGQUERY``)."""

    shape = SHAPE

    def __init__(self, client: Any = None) -> None:
        self._client = client

    def problems(self, spec: Spec) -> list[Problem]:
        """Nothing beyond the shape."""
        return []

    def describe(self, spec: Spec) -> str:
        """The query file, or the start of the query."""
        return str(spec.get("path") or " ".join(str(spec.get("query", "")).split())[:60])

    def missing(self, spec: Spec) -> str | None:
        """Whether the query file or the key file is not there."""
        files = [spec.get("path"), (spec.get("credentials") or {}).get("path")]
        for file in files:
            if file and not Path(spec.path(str(file))).is_file():
                return f"file not found: {spec.path(str(file))}"
        return None

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Run the query once into a spill; see ``Source.open``.

        Raises:
            EngineNotFound: google-cloud-bigquery is not installed.
            SourceError: The query does not run.
        """
        from ldp_core.sources._typed import named, spilled
        from ldp_core.tables.spill import spill

        query = spec.get("query") or read_query(Path(spec.path(str(spec.get("path")))))
        credentials = dict(spec.get("credentials") or {}) or None
        if credentials:
            credentials["path"] = spec.path(str(credentials["path"]))
        store = BigQuery(str(spec.get("name")), credentials, client=self._client)
        schema, batches = store.stream(str(query))
        named(schema, str(spec.get("name")))
        return spilled(spill(ctx.scratch, schema, batches), schema)


def source(client: Any = None) -> _BigQuerySource:
    """The source with a client of one's own, for tests and for callers that have one."""
    return _BigQuerySource(client)


SOURCE = source()
