"""``ldp contract``: data contracts in the Open Data Contract Standard."""

from __future__ import annotations

from typing import Any

import click
from ldp_core._output import json_option, print_json, say

from ldp_quality.commands._contract_diff import diff
from ldp_quality.commands._contract_init import init
from ldp_quality.commands._contract_try import test
from ldp_quality.commands._contract_versions import save, show_version, versions
from ldp_quality.commands._contract_what_if import what_if
from ldp_quality.commands._vars import var_option


@click.group(short_help="Draft, check, test, compare and keep data contracts.")
def contract() -> None:
    """Work with data contracts in the Open Data Contract Standard (ODCS)."""


contract.add_command(diff)
contract.add_command(init)
contract.add_command(save)
contract.add_command(show_version)
contract.add_command(test)
contract.add_command(versions)
contract.add_command(what_if)


@contract.command(short_help="Say what is wrong with a contract, and which of its rules run.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@var_option
@json_option
def lint(files: tuple[str, ...], given: dict[str, Any], as_json: bool) -> None:
    """Check each contract FILE against the standard, and list the rules that LDP cannot run.

    Exits 1 when a file has errors. A rule that cannot run is no error of the file: it is listed with the
    reason, and a run of the contract reports it as not_run.
    """
    from ldp_core.errors import UsageError

    from ldp_quality.contract._variables import unknown
    from ldp_quality.contract.lint import lint as judge

    reports = [judge(file, given) for file in files]
    if all(report.ok for report in reports):
        known = list(dict.fromkeys(name for report in reports for name in report.variables))
        for name, message, hint in unknown(given, known):
            raise UsageError(f"--var {name}: {message}", hint=hint)
    if as_json:
        every = [report.to_dict() for report in reports]
        print_json({"ok": all(report.ok for report in reports), "files": every})
    else:
        for report in reports:
            for line in report.lines():
                say(line)
    if not all(report.ok for report in reports):
        click.get_current_context().exit(1)
