"""``--var NAME=VALUE``: values of a contract's variables on a command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

var_option = click.option(
    "--var",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda _, __, words: _values(words),
    help="The value of a variable ${NAME} of the contract, above its own; may be given several times.",
)
"""``--var``; the parameter is ``given: dict[str, Any]``."""


def _values(words: Sequence[str]) -> dict[str, Any]:
    """The values by name; numbers are what they look like.

    Raises:
        UsageError: One is not ``NAME=VALUE``, or a secret, or two are of one name.
    """
    from ldp_core.errors import UsageError

    from ldp_quality.contract._variables import parsed, problems_of

    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise UsageError("--var is NAME=VALUE", hint=f"say --var {name}=VALUE")
        for problem in problems_of(name, text):
            raise UsageError(f"--var {name} {problem}")
        if name in found:
            raise UsageError(f"--var {name} is given twice")
        found[name] = parsed(text)
    return found
