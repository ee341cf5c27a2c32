"""The same load to an S3 server on loopback and to the local disk."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _configs import lineitem_config
from _data import lineitem, workdir
from _measure import Run, in_turn, ldp, report, run

KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-1"}


@contextmanager
def s3_server() -> Iterator[str]:
    """moto's S3 on a free loopback port, with the bucket ``lake``."""
    import boto3

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = str(Path(sys.executable).parent / "moto_server")
    process = subprocess.Popen(
        [server, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    endpoint = f"http://127.0.0.1:{port}"
    os.environ.update(KEYS)
    try:
        for _ in range(100):
            try:
                boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket="lake")
                break
            except Exception:
                time.sleep(0.1)
        yield endpoint
    finally:
        process.terminate()
        process.wait()


def main(rows: int, runs: int) -> None:
    """A SQLite catalog in both cases; only the warehouse moves."""
    csv = lineitem(rows)
    with s3_server() as endpoint:

        def load(name: str, warehouse: str, properties: dict[str, str]) -> Run:
            folder = workdir(name)
            catalog = {
                "type": "sql",
                "uri": f"sqlite:///{folder}/catalog.db",
                "warehouse": warehouse.format(folder=folder, n=time.time_ns()),
                "namespace": "b",
                "properties": properties,
            }
            return run(ldp("run", str(lineitem_config(folder, csv, known=True, catalog=catalog))), folder)

        results = in_turn(
            {
                "local disk": lambda: load("disk", "file://{folder}/wh", {}),
                "S3 on loopback": lambda: load("s3", "s3://lake/{n}", {"s3.endpoint": endpoint}),
            },
            runs,
        )
    report(f"load of {rows:,} rows to S3", results, "local disk")
