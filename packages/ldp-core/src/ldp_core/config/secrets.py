"""Secrets: found in configs, masked in whatever is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ldp_core.config.load import child
from ldp_core.errors import Problem

MASK = "***"
_WORDS = (
    "token|password|passwd|passphrase|pwd|secret|credentials?|apikey|secretkey|accesskey|accesskeyid"
    "|secretaccesskey|accountkey|sharedkey|privatekey|keysecret|connectionstring|authorization|saskey"
)
_SECRET = re.compile(rf"(?:{_WORDS})$")
_SEPARATED = "|".join(
    r"[-_. ]?".join(part)
    for part in (
        ("token",),
        ("password",),
        ("passwd",),
        ("passphrase",),
        ("pwd",),
        ("secret",),
        ("credentials?",),
        ("api", "key"),
        ("secret", "key"),
        ("access", "key", "id"),
        ("secret", "access", "key"),
        ("access", "key"),
        ("account", "key"),
        ("shared", "key"),
        ("private", "key"),
        ("connection", "string"),
        ("sig",),
        ("signature",),
    )
)
_USERINFO = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^\s:/?#@'\"]*):(?!\d+(?:[/?#]|$))([^\s'\"]+)@")
_PAIR = re.compile(
    rf"(?i)((?:^|[\s?&;,{{(\"'])[\w.-]*?(?:{_SEPARATED})[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s&;,'\"}})]+)"
)
_BEARER = re.compile(r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}")
_AWS_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")
_IN_URI = re.compile(rf"(?i)[?&](?:[\w.-]*?(?:{_SEPARATED}))=[^&\s'\"]+")


def mask(text: str) -> str:
    """Text with every secret in it replaced by ``***``: passwords in URIs, ``token=...``, bearer tokens."""
    if "@" in text:
        text = _USERINFO.sub(rf"\1:{MASK}@", text)
    if "=" in text or ":" in text:
        text = _PAIR.sub(rf"\1{MASK}", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    return _AWS_ID.sub(MASK, text)


def masked(value: Any) -> Any:
    """Plain data with the values of secret keys and the secrets inside texts replaced by ``***``."""
    return _masked(value, names=False)


def _masked(value: Any, *, names: bool) -> Any:
    if isinstance(value, Mapping):
        return {
            name: MASK
            if not names and is_secret_key(str(name)) and _is_value(item)
            else _masked(item, names=_holds_names(str(name)))
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    return mask(value) if isinstance(value, str) else value


@lru_cache(maxsize=4096)
def is_secret_key(name: str) -> bool:
    """Whether a key of that name holds a secret: ``s3.secret-access-key``, ``apiKey``; not ``token_env``."""
    return _SECRET.search(re.sub(r"[^a-z0-9]", "", name.lower())) is not None


def _is_value(value: Any) -> bool:
    return (isinstance(value, str) and bool(value)) or (
        isinstance(value, int | float) and not isinstance(value, bool)
    )


def find_secrets(value: Any, key: str = "") -> list[Problem]:
    """Every inline secret in plain data, as problems that never show it.

    Where an object's keys are names, a key such as ``token`` says nothing of its value: under ``columns``
    it is a column, under ``properties_env`` the value is the name of a variable.
    """
    return list(_walk(value, key, names=False))


def _holds_names(key: str) -> bool:
    return key == "columns" or key.endswith("_env")


def _walk(value: Any, key: str, *, names: bool) -> Iterator[Problem]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            text = str(name)
            here = child(key, text)
            if not names and is_secret_key(text) and _is_value(item):
                yield Problem("looks like an inline secret", key=here, hint=_hint(key, text))
            else:
                yield from _walk(item, here, names=_holds_names(text))
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _walk(item, f"{key}[{at}]", names=False)
    elif isinstance(value, str):
        yield from _in_text(value, key)


def _in_text(value: str, key: str) -> Iterator[Problem]:
    if _USERINFO.search(value):
        yield Problem(
            "embeds a password",
            key=key,
            hint="put it in an environment variable and reference it with 'password_env'",
        )
    elif "://" in value and _IN_URI.search(value):
        yield Problem(
            "embeds a secret in its query",
            key=key,
            hint="put it in an environment variable and reference it with 'properties_env'",
        )


def _hint(around: str, name: str) -> str:
    variable = f"MY_{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').upper()}"
    say = "keep secrets out of specs and reference an environment variable instead"
    if around.endswith("properties"):
        return f"{say} (e.g. 'properties_env': {{{name!r}: {variable!r}}})"
    return f"{say} (e.g. '{name}_env': {variable!r})"
