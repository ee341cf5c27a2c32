"""Run the tests of the packages on every other installed Python that is supported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORTED = ("3.11", "3.12", "3.13")
SHORTER = (
    "--ignore=packages/ldp-core/tests/exactly_once",
    "--ignore=packages/ldp-core/tests/commit/test_kill_and_crowd.py",
    "--ignore=packages/ldp-maintenance/tests/demo",
    "--ignore=packages/ldp-quality/tests/quarantine/test_quarantine_machine.py",
    "--ignore-glob=*/test_*_laws.py",
)
"""Proofs that take minutes and say nothing of a version: `make test` runs them."""
GROUPS = ("workspace", "test", "examples")


def main() -> int:
    """Test on each; the number of versions that failed is the exit code."""
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    failed = []
    for version in SUPPORTED:
        if version == running:
            print(f"== Python {version} runs this: tested by `make test`", flush=True)
            continue
        python = find(version)
        if python is None:
            print(f"== Python {version} is not installed: left out", flush=True)
        elif not test_on(version, python):
            failed.append(version)
    if failed:
        print(f"failed on Python {', '.join(failed)}")
    return len(failed)


def find(version: str) -> str | None:
    """The path of a working interpreter of that version: on the PATH, of pyenv, or one that uv knows."""
    candidates = [shutil.which(f"python{version}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += sorted(map(str, pyenv.glob(f"{version}.*/bin/python")), reverse=True)
    found = subprocess.run(
        [*uv(), "python", "find", "--no-project", version], capture_output=True, text=True, check=False
    )
    candidates.append(found.stdout.strip() or None)
    ask = f"import sys; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    for path in candidates:
        if path and subprocess.run([path, "-c", ask], capture_output=True, check=False).returncode == 0:
            return path
    return None


def test_on(version: str, python: str) -> bool:
    """Sync an environment of that version and run the suite in it."""
    print(f"== Python {version}", flush=True)
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": f".venv-{version}", "LDP_FEW_EXAMPLES": "1"}
    environment.pop("VIRTUAL_ENV", None)
    chosen = [part for group in GROUPS for part in ("--group", group)]
    sync = [*uv(), "sync", "--frozen", "--no-default-groups", *chosen, "--python", python]
    if subprocess.run(sync, cwd=ROOT, env=environment, check=False).returncode:
        return False
    own = str(ROOT / f".venv-{version}" / "bin" / "python")
    subprocess.run([own, "-m", "compileall", "-q", *map(str, ROOT.glob("packages/*/src"))], check=True)
    return subprocess.run(pytest(own), cwd=ROOT, env=environment, check=False).returncode == 0


def pytest(python: str) -> list[str]:
    """The command that tests the packages with an interpreter."""
    workers = ["-n", "auto", "--maxprocesses", "4"]
    return [python, "-m", "pytest", *workers, "-m", "not service", "packages", *SHORTER]


def uv() -> list[str]:
    """The command that runs uv."""
    return ["sh", str(ROOT / "tools" / "uv")]


if __name__ == "__main__":
    sys.exit(main())
