"""Starts ``ldp`` commands as processes of their own that have imported everything already.

Reads one JSON object a line: ``{"args", "cwd", "env", "log"}`` starts a command and answers its process id,
``{"wait": PID}`` answers how it ended: its exit code, or the negative number of the signal. Each command is a
fork, so that a signal meets it at work and not, nine times in ten, at its imports.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any, NoReturn

import duckdb  # noqa: F401
import ldp_orchestration.schedule.tick  # noqa: F401
import ldp_quality.gate  # noqa: F401
import pyiceberg.catalog.sql
import pyiceberg.io.pyarrow  # noqa: F401
from ldp_cli.main import main


def child(order: dict[str, Any]) -> NoReturn:
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    code = 1
    try:
        code = main(order["args"])
    except KeyboardInterrupt:  # after the command's own end
        pass
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


SIGNALS = (signal.SIGINT, signal.SIGTERM)
for number in SIGNALS:
    # A command that has not begun yet leaves nothing; it takes the signals over when it begins.
    signal.signal(number, lambda *_: os._exit(130))
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    if "wait" in order:
        print(os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1]), flush=True)
        continue
    pid = os.fork()
    if pid == 0:
        child(order)
    print(pid, flush=True)
