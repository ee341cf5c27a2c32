"""Run the tests of the packages with the lowest version that each direct dependency allows."""

from __future__ import annotations

import os
import subprocess
import sys

from pythons import ROOT, pytest, uv

UV = uv()
PLACE = ROOT / ".venv-lowest"
INSTALL = [
    "--resolution",
    "lowest-direct",
    "-e",
    "packages/ldp-core[azure,excel,s3,postgres,openlineage]",
    "-e",
    "packages/ldp-quality",
    "-e",
    "packages/ldp-orchestration",
    "-e",
    "packages/ldp-maintenance",
    "-e",
    "packages/ldp-cli",
    "--group",
    "test",
    "--group",
    "examples",
]


def main() -> int:
    """Make the environment anew, show what it holds, test in it."""
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment["LDP_FEW_EXAMPLES"] = "1"
    python = str(PLACE / "bin" / "python")
    steps = [
        [*UV, "venv", "--quiet", "--clear", "--no-project", "--python", sys.executable, str(PLACE)],
        [*UV, "pip", "install", "--quiet", "--python", python, *INSTALL],
        [*UV, "pip", "list", "--quiet", "--python", python],
        pytest(python),
    ]
    for step in steps:
        code = subprocess.run(step, cwd=ROOT, env=environment, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
