"""The services that the other tests stand on answer."""

from __future__ import annotations

from uuid import uuid4

import pytest
import services

pytestmark = pytest.mark.service


def test_postgres_answers(postgres_uri: str) -> None:
    import psycopg

    with psycopg.connect(postgres_uri.replace("+psycopg", "")) as con:
        assert con.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.filterwarnings("ignore:.*utcnow:DeprecationWarning")  # botocore signs with it
def test_s3_keeps_objects(s3: services.S3, bucket: str) -> None:
    client = s3.client()
    client.put_object(Bucket=bucket, Key="a/b", Body=b"x")
    assert client.get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"


def test_rest_catalog_keeps_tables(rest_catalog: services.RestCatalog) -> None:
    import pyarrow as pa
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog("lake", **rest_catalog.properties)
    namespace = f"t{uuid4().hex}"
    catalog.create_namespace(namespace)
    rows = pa.table({"id": [1, 2]})
    table = catalog.create_table(f"{namespace}.rides", schema=rows.schema)
    table.append(rows)
    assert table.scan().to_arrow().column("id").to_pylist() == [1, 2]
