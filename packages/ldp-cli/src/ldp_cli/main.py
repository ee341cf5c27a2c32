"""The entry of ``ldp``. Asking for the version answers before anything is imported."""

from __future__ import annotations

import gc
import sys

from ldp_cli import __version__


def main(args: list[str] | None = None) -> int:
    """Run ``ldp`` and return its exit code.

    0 done or skipped, 1 an error (a wrong command line too), 2 an SLA breach, 3 a data gate held data
    back, 130 interrupted.

    Args:
        args: The command line without the program; that of the process by default.
    """
    words = sys.argv[1:] if args is None else args
    if words == ["--version"]:
        print(f"ldp {__version__}")
        return 0
    if args is None:
        # Imports make many objects and no garbage: looking for it among them is a tenth of a start.
        gc.set_threshold(50_000)
    from ldp_cli.shell import run

    return run(words)
