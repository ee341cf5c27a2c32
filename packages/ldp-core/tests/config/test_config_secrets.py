"""Secrets are refused where they are written and masked where they are shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.config import Config
from ldp_core.config.secrets import find_secrets, is_secret_key, mask, masked

SECRET = "hunter2-very-secret"


@pytest.mark.parametrize(
    "name",
    [
        "token",
        "TOKEN",
        "password",
        "db_password",
        "secret",
        "client-secret",
        "clientSecret",
        "credential",
        "api_key",
        "apiKey",
        "api-key",
        "s3.access-key-id",
        "s3.secret-access-key",
        "s3.session-token",
        "gcs.oauth2.token",
        "adls.account-key",
        "adls.sas-token",
        "adls.connection-string",
        "header.Authorization",
        "passphrase",
        "private_key",
        "sslpassword",
    ],
)
def test_secret_keys(name: str) -> None:
    assert is_secret_key(name)
    [problem] = find_secrets({"catalog": {name: SECRET}})
    assert problem.key == f"catalog.{name}"
    assert str(problem).startswith(f"catalog.{name}: looks like an inline secret; keep secrets out of specs")
    assert f"{name}_env" in str(problem)
    assert SECRET not in str(problem)


@pytest.mark.parametrize(
    "name",
    [
        "token_env",
        "password_env",
        "credential_env",
        "properties_env",
        "api_key_env",
        "s3.endpoint",
        "uri",
        "namespace",
        "primary_key",
        "join_cols",
        "oauth2-server-uri",
        "token-refresh-enabled",
        "path",
        "key",
    ],
)
def test_keys_that_hold_no_secret(name: str) -> None:
    assert find_secrets({name: "value"}) == []


def test_the_hint_for_properties_names_properties_env() -> None:
    [problem] = find_secrets({"properties": {"s3.secret-access-key": SECRET}}, "metadata.target.catalog")
    assert problem.key == "metadata.target.catalog.properties.s3.secret-access-key"
    assert "'properties_env': {'s3.secret-access-key': 'MY_S3_SECRET_ACCESS_KEY'}" in str(problem)


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://u:{SECRET}@h/db",
        f"postgresql+psycopg://u:{SECRET}@h:5432/db",
        f"https://:{SECRET}@h/x",
        f"s3://key:{SECRET}@bucket/x",
        f"postgresql://u:p/{SECRET}@h/db",
        f"postgresql://u:p@{SECRET}@h/db",
        f"https://h/db?x=1&password={SECRET}",
        f"https://h/db?access_token={SECRET}",
        f"abfss://c@a.dfs.core.windows.net/x?sig={SECRET}",
        f"https://b.s3.amazonaws.com/x.csv?X-Amz-Date=1&X-Amz-Signature={SECRET}",
    ],
)
def test_secrets_inside_uris(text: str) -> None:
    for data in ({"uri": text}, {"list": [{"path": text}]}, {"x-remark": text}):
        found = find_secrets(data)
        assert len(found) == 1
        assert SECRET not in str(found[0])
    assert SECRET not in mask(text)
    assert mask(text).startswith(text.split(":")[0])


@pytest.mark.parametrize(
    "text",
    [
        "http://host:8080/path@x",
        "http://host:8080",
        "s3://bucket/key:with@signs",
        "https://user@host/path",
        "d/o_{window_start:%Y-%m-%d}.csv",
        "SELECT a AS token FROM source",
        "nobody@example.com: the owner",
    ],
)
def test_texts_without_secrets(text: str) -> None:
    assert find_secrets({"uri": text}) == []
    assert mask(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"token={SECRET}",
        f"could not connect: password={SECRET} host=h",
        f"password='{SECRET} with spaces' host=h",
        f'{{"token": "{SECRET}"}}',
        f"{{'s3.secret-access-key': '{SECRET}'}}",
        f"Authorization: Bearer {SECRET}",
        f"AccountKey={SECRET};EndpointSuffix=x",
        f"DefaultEndpointsProtocol=https;AccountName=a;SharedAccessKey={SECRET}==",
        f"api-key: {SECRET}",
        f"s3.secret-access-key={SECRET}",
    ],
)
def test_masked_in_any_text(text: str) -> None:
    assert SECRET not in mask(text)
    assert "***" in mask(text)


def test_masked_data_keeps_its_form() -> None:
    data = {
        "uri": f"x://u:{SECRET}@h",
        "token": SECRET,
        "n": 1,
        "properties": {"s3.endpoint": "e"},
        "l": [True],
    }
    assert masked(data) == {
        "uri": "x://u:***@h",
        "token": "***",
        "n": 1,
        "properties": {"s3.endpoint": "e"},
        "l": [True],
    }


def test_columns_may_be_called_anything() -> None:
    data = {
        "docs": {"columns": {"token": "what the user holds", "password": "hashed"}},
        "checks": [{"check": "schema", "columns": {"api_key": "string"}}],
        "source": {"columns": {"secret": {"type": "VARCHAR"}}},
    }
    assert find_secrets(data) == []


def test_names_of_variables_are_no_secrets() -> None:
    data = {"properties_env": {"s3.secret-access-key": "MY_KEY", "token": "MY_TOKEN"}}
    assert find_secrets(data) == []
    assert masked(data) == data
    assert find_secrets({"properties_env": {"token": f"x://u:{SECRET}@h"}})


def test_numbers_are_secrets_and_switches_are_not() -> None:
    assert find_secrets({"password": 12345})
    assert (
        find_secrets({"password": None, "token": "", "secret": False, "credentials": {"path": "k.json"}})
        == []
    )


def test_a_config_with_a_secret_says_so_once_and_never_shows_it() -> None:
    catalog = {"type": "rest", "namespace": "n", "uri": "http://x", "token": SECRET}
    config = Config.from_dict(
        {
            "identifier": "rides",
            "metadata": {
                "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
                "target": {"name": "t", "format": "ICEBERG", "catalog": catalog},
            },
        }
    )
    texts = [str(problem) for problem in config.problems() if problem.severity == "error"]
    assert texts == [
        "metadata.target.catalog.token: looks like an inline secret; keep secrets out of specs and reference "
        "an environment variable instead (e.g. 'token_env': 'MY_TOKEN')"
    ]
    assert SECRET not in repr(config)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["path", "write_mode", "format", "name", "zzz", "partition_by", "catalog"]),
    st.sampled_from(["postgresql://u:{}@h/db", "x?token={}", "password={}"]),
)
def test_no_problem_echoes_a_secret_wherever_it_stands(key: str, text: str) -> None:
    value: Any = text.format(SECRET)
    config = Config.from_dict(
        {
            "identifier": "rides",
            "metadata": {
                "source": {"format": "CSV", "path": "r.csv", key: value},
                "target": {"format": "ICEBERG", "name": "t", key: value},
            },
        }
    )
    assert all(SECRET not in str(problem) for problem in config.problems())
