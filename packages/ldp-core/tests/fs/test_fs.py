"""Paths, globs and folders; URIs of object stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_core import fs
from ldp_core.errors import ConfigError


def test_what_is_local() -> None:
    assert [fs.is_local(uri) for uri in ("a/b", "/a", "file:///a", "file:/a", "s3://b/k", "gs://b/k")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]
    for name in ("/a%20b/c", "/a b/c", "/a#b?c/d"):
        assert fs.local_path(f"file://{name}") == Path(name)
    assert fs.local_path("file://localhost/a") == Path("/a")
    assert fs.local_path("file:/a") == Path("/a")
    with pytest.raises(ConfigError):
        fs.local_path("s3://b/k")


def test_files_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "_SUCCESS", ".hidden", "sub/c.csv", "[x].csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    names = [Path(found).name for found in fs.expand(str(tmp_path))]
    assert names == ["[x].csv", "a.csv", "b.csv"]
    assert [Path(found).name for found in fs.expand(f"{tmp_path}/*.csv")] == names
    assert [Path(found).name for found in fs.expand(f"{tmp_path}/**/*.csv")] == [*names, "c.csv"]
    assert [Path(found).name for found in fs.expand(f"{tmp_path}/_*")] == ["_SUCCESS"]
    assert [Path(found).name for found in fs.expand(f"{tmp_path}/[x].csv")] == ["[x].csv"]
    assert fs.expand(f"{tmp_path}/none") == []
    assert fs.expand(f"{tmp_path}/*.json") == []
    assert fs.size(str(tmp_path / "a.csv")) == 1
    assert fs.size(f"file://{tmp_path}/a.csv") == 1


def test_an_unknown_scheme_is_refused() -> None:
    for call in (fs.arrow_fs, fs.expand, fs.size):
        with pytest.raises(ConfigError, match="no file system for ftp://"):
            call("ftp://host/file")


@pytest.mark.parametrize(
    ("uri", "properties", "path"),
    [
        ("s3://bucket/a/b.csv", {"s3.endpoint": "http://127.0.0.1:1", "s3.region": "x"}, "bucket/a/b.csv"),
        (
            "gs://bucket/a/b.csv",
            {"gcs.oauth2.token": "anon", "gcs.oauth2.token-expires-at": "1"},
            "bucket/a/b.csv",
        ),
        (
            "abfss://box@acct.dfs.core.windows.net/a/b.csv",
            {"adls.account-key": "a2V5"},
            "box/a/b.csv",
        ),
    ],
)
def test_a_uri_has_a_filesystem_and_a_path(uri: str, properties: dict[str, str], path: str) -> None:
    filesystem, inner = fs.arrow_fs(uri, properties)
    assert inner == path
    assert filesystem.type_name in ("s3", "gcs", "py::fsspec+abfs", "py::fsspec+('abfs', 'az', 'abfss')")


def test_the_environment_fills_in_what_properties_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for variables in fs.ENVIRONMENT.values():
        for variable in variables:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "theirs")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "theirs")
    monkeypatch.setenv("LDP_S3_ENDPOINT", "http://127.0.0.1:9")
    assert fs.with_environment({}) == {
        "s3.endpoint": "http://127.0.0.1:9",
        "s3.access-key-id": "theirs",
        "s3.secret-access-key": "theirs",
    }
    own = {"s3.access-key-id": "own", "s3.secret-access-key": "own"}
    assert fs.with_environment(own) == {"s3.endpoint": "http://127.0.0.1:9", **own}
