"""Real services on loopback, on free ports, in folders of their own, each stopped by its process id.

Every function here is a context manager that yields what a test needs to reach the service. Nothing is
left behind: the process is ended, its folder removed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent.parent / ".cache" / "services"
"""Where ``tools/services`` puts what npm brings."""

STARTED_WITHIN = 60.0
"""Seconds that a service has to answer."""


class ServiceError(RuntimeError):
    """A service is not installed or does not start."""


@dataclass(frozen=True)
class S3:
    """An S3 server.

    Attributes:
        endpoint: ``http://127.0.0.1:PORT``.
        key: Access key id.
        secret: Secret access key.
        region: Region name.
    """

    endpoint: str
    key: str
    secret: str
    region: str = "us-east-1"

    @property
    def properties(self) -> dict[str, str]:
        """As pyiceberg's catalog properties."""
        return {
            "s3.endpoint": self.endpoint,
            "s3.access-key-id": self.key,
            "s3.secret-access-key": self.secret,
            "s3.region": self.region,
            "s3.path-style-access": "true",
        }

    @property
    def environment(self) -> dict[str, str]:
        """As environment variables."""
        return {
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_REGION": self.region,
            "AWS_ENDPOINT_URL": self.endpoint,
            "LDP_S3_ENDPOINT": self.endpoint,
        }

    def client(self) -> Any:
        """A boto3 client of it."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            region_name=self.region,
        )


@dataclass(frozen=True)
class RestCatalog:
    """An Iceberg REST catalog with its object store.

    Attributes:
        uri: Where the catalog answers.
        warehouse: Its warehouse, ``s3://lake``.
        credential: ``KEY:SECRET`` for OAuth.
        token_uri: Where tokens are given.
        s3: The object store.
    """

    uri: str
    warehouse: str
    credential: str
    token_uri: str
    s3: S3

    @property
    def properties(self) -> dict[str, str]:
        """As pyiceberg's catalog properties."""
        return {
            "type": "rest",
            "uri": self.uri,
            "warehouse": self.warehouse,
            "credential": self.credential,
            "oauth2-server-uri": self.token_uri,
            **self.s3.properties,
        }


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL server without passwords; yields ``postgresql://ldp@127.0.0.1:PORT``, no database named.

    As root it runs as the user ``postgres`` that Debian's package makes, because it refuses to run as root.
    """
    initdb = _postgres_program("initdb")
    user = "postgres" if os.geteuid() == 0 else None
    with _folder("ldp-postgres-", owner=user) as folder:
        data, port = folder / "data", free_port()
        run: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if user else {}
        subprocess.run(
            [str(initdb), "-A", "trust", "-U", "ldp", "-E", "UTF8", "--locale=C", "-D", str(data)],
            check=True,
            capture_output=True,
            cwd=folder,
            **run,
        )
        command = [str(initdb.with_name("postgres")), "-D", str(data), "-p", str(port), "-k", str(folder)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "log_min_messages=fatal"]
        with _running(command, folder, [port], stop=signal.SIGINT, **run):
            yield f"postgresql://ldp@127.0.0.1:{port}"


@contextmanager
def moto() -> Iterator[S3]:
    """moto's server: S3 and Glue in memory, buckets made by whoever needs them."""
    port = free_port()
    with _folder("ldp-moto-") as folder:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        with _running(command, folder, [port]):
            yield S3(f"http://127.0.0.1:{port}", "testing", "testing")


@contextmanager
def google() -> Iterator[dict[str, str]]:
    """An emulator of Google Cloud Storage in memory with the bucket ``lake``; yields its environment."""
    port = free_port()
    program = Path(sys.executable).with_name("gcp-storage-emulator")
    with _folder("ldp-gcs-") as folder:
        command = [str(program), "start", "--host=127.0.0.1", f"--port={port}", "--in-memory"]
        with _running([*command, "--default-bucket=lake"], folder, [port]):
            yield {
                "LDP_GCS_ENDPOINT": f"http://127.0.0.1:{port}",
                "LDP_GCS_TOKEN": "anon",
                # The emulator has no gRPC, by which gcsfs asks for the kind of a bucket, a minute each time.
                "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
            }


@contextmanager
def azure() -> Iterator[str]:
    """Azurite's blob storage with the container ``lake``; yields its connection string.

    Account and key are the ones that every Azurite has.
    """
    program = TOOLS / "node_modules" / ".bin" / "azurite-blob"
    if not program.exists():
        raise ServiceError("Azurite is not installed: sh tools/services")
    port = free_port()
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    with _folder("ldp-azure-") as folder:
        command = [str(program), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"]
        command += ["--skipApiVersionCheck", "--disableTelemetry"]
        with _running(command, folder, [port]):
            connection = (
                f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={key};"
                f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
            )
            from azure.storage.blob import BlobServiceClient

            with BlobServiceClient.from_connection_string(connection) as client:
                client.create_container("lake")
            yield connection


@contextmanager
def seaweed() -> Iterator[RestCatalog]:
    """SeaweedFS: an S3 server on disk and an Iceberg REST catalog over its bucket ``lake``."""
    weed = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if weed is None:
        raise ServiceError("weed is not installed: uv sync --group services")
    names = (
        "master",
        "master.grpc",
        "volume",
        "volume.grpc",
        "filer",
        "filer.grpc",
        "s3",
        "s3.grpc",
        "iceberg",
    )
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    with _folder("ldp-seaweed-") as folder:
        key, secret = "admin", "adminsecret"
        (folder / "data").mkdir()
        identity = {
            "name": key,
            "credentials": [{"accessKey": key, "secretKey": secret}],
            "actions": ["Admin"],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        command = [
            weed,
            "server",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            f"-dir={folder / 'data'}",
            "-filer",
            "-s3",
        ]
        command += [f"-{name}.port={ports[name]}" for name in ("master", "volume", "filer", "s3")]
        command += [
            f"-{name}.port.grpc={ports[f'{name}.grpc']}" for name in ("master", "volume", "filer", "s3")
        ]
        command += [f"-s3.port.iceberg={ports['iceberg']}", f"-s3.config={folder / 's3.json'}"]
        command += ["-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=0"]
        with _running(command, folder, [ports["s3"], ports["iceberg"], ports["filer"]]):
            _lake(weed, f"127.0.0.1:{ports['master']}.{ports['master.grpc']}", folder)
            uri = f"http://127.0.0.1:{ports['iceberg']}"
            store = S3(f"http://127.0.0.1:{ports['s3']}", key, secret)
            yield RestCatalog(uri, "s3://lake", f"{key}:{secret}", f"{uri}/v1/oauth/tokens", store)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _lake(weed: str, master: str, folder: Path) -> None:
    """Make the table bucket ``lake``, once the volume server has told the master of itself."""
    create = "s3tables.bucket -create -name lake -account admin\n"
    deadline = time.monotonic() + STARTED_WITHIN
    while True:
        done = subprocess.run(
            [weed, "shell", f"-master={master}"],
            input=create,
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=STARTED_WITHIN,
            check=False,
        )
        if done.returncode == 0 and "error" not in (done.stdout + done.stderr).lower():
            return
        if time.monotonic() > deadline:
            raise ServiceError(f"SeaweedFS made no bucket: {done.stdout}{done.stderr}")
        time.sleep(0.5)


def _postgres_program(name: str) -> Path:
    """A program of the newest installed PostgreSQL server."""
    found = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]), reverse=True
    )
    on_path = shutil.which(name)
    if not found and not on_path:
        raise ServiceError("PostgreSQL is not installed: sh tools/services")
    return found[0] if found else Path(str(on_path))


@contextmanager
def _folder(prefix: str, owner: str | None = None) -> Iterator[Path]:
    """A folder below the temporary one that its owner can reach."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        if owner:
            shutil.chown(folder, owner, owner)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(
    command: Sequence[str],
    folder: Path,
    ports: Sequence[int],
    *,
    stop: signal.Signals = signal.SIGTERM,
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has opened its ports; ended by its id."""
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            start_new_session=True,
            **options,
        )
        try:
            for port in ports:
                _wait(process, port, log)
            yield process
        finally:
            process.send_signal(stop)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until somebody listens on a port."""
    deadline = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    tail = log.read_text(errors="replace")[-2000:]
    raise ServiceError(f"{process.args!r} does not listen on {port}: {tail}")
