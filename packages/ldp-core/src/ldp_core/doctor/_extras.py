"""Which extra brings which module, and whether it is there."""

from __future__ import annotations

from importlib.util import find_spec

from ldp_core.spi import DoctorLine

MODULES = {
    "excel": "python_calamine",
    "bigquery": "google.cloud.bigquery",
    "glue": "boto3",
    "s3": "s3fs",
    "gcs": "gcsfs",
    "azure": "adlfs",
    "postgres": "psycopg",
    "openlineage": "openlineage.client",
}
"""Extra of ``ldp-cli`` to the module that must import for it."""

SCHEMES = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gcs",
    "gcs": "gcs",
    "abfs": "azure",
    "abfss": "azure",
    "az": "azure",
}
"""Scheme of a URI to the extra that reads it."""


def installed(extra: str) -> bool:
    """Whether the module of an extra can be found. Imports no more than its parents."""
    try:
        return find_spec(MODULES[extra]) is not None
    except ModuleNotFoundError:
        return False


def install_command(extra: str) -> str:
    """The command that brings an extra."""
    return f"pip install 'ldp-cli[{extra}]'"


def need(extra: str, why: str) -> DoctorLine:
    """A finding about an extra that something needs."""
    if installed(extra):
        return DoctorLine(True, why, f"{MODULES[extra]} is installed")
    return DoctorLine(False, why, f"{MODULES[extra]} is not installed", install_command(extra))
