"""Install the built wheels in fresh environments, each alone and all together, and use them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ["sh", str(ROOT / "tools" / "uv")]
DIST = ROOT / "dist"
ALONE = {
    "ldp-core": "import ldp_core; [getattr(ldp_core, name) for name in ldp_core.__all__]",
    "ldp-quality": "import ldp_quality; [getattr(ldp_quality, name) for name in ldp_quality.__all__]",
    "ldp-orchestration": (
        "import ldp_orchestration; [getattr(ldp_orchestration, name) for name in ldp_orchestration.__all__]"
    ),
    "ldp-maintenance": (
        "import ldp_maintenance; [getattr(ldp_maintenance, name) for name in ldp_maintenance.__all__]"
    ),
    "ldp-cli": "import ldp_cli.main",
}


def main() -> int:
    """Make the environments and use what was installed; raises when a step fails."""
    with tempfile.TemporaryDirectory(prefix="ldp-smoke-") as folder:
        for package, code in ALONE.items():
            python = install(Path(folder, package), [package])
            run([str(python), "-W", "error", "-c", code], folder)
            print(f"smoke: {package} alone: its public names import", flush=True)
        python = install(Path(folder, "together"), list(ALONE))
        ldp = str(python.with_name("ldp"))
        version = run([ldp, "--version"], folder).strip()
        print(f"smoke: together: {version}", flush=True)
        run([ldp, "--help"], folder)
        run([ldp, "doctor"], folder)
        run([ldp, "demo"], folder)
        print("smoke: together: ldp demo ran", flush=True)
    return 0


def install(place: Path, packages: list[str]) -> Path:
    """A fresh environment with the built wheels of these packages; returns its interpreter.

    Names are pinned to the built wheels, so that an index can never answer for one of them.
    """
    python = place / "bin" / "python"
    wheels = {name: next(DIST.glob(f"{name.replace('-', '_')}-*.whl")) for name in ALONE}
    pins = place.with_suffix(".txt")
    pins.write_text("".join(f"{name} @ {wheel.as_uri()}\n" for name, wheel in wheels.items()))
    run([*UV, "venv", "--quiet", "--no-project", "--python", sys.executable, str(place)], ROOT)
    chosen = [f"{name} @ {wheels[name].as_uri()}" for name in packages]
    command = [*UV, "pip", "install", "--quiet", "--python", str(python), "--no-sources"]
    run([*command, "--overrides", str(pins), *chosen], place)
    return python


def run(command: list[str], folder: Path | str) -> str:
    """Run a command; its output, shown when it fails.

    Raises:
        SystemExit: It failed.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VIRTUAL_ENV")}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nsmoke: exit {done.returncode}: {' '.join(command)}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
