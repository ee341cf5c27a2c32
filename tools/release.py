"""Check a release tag such as ``ldp-core-v1.2.3`` against its package; prints ``package=ldp-core``."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def check(tag: str) -> str:
    """The package of a tag, when its version is the package's and its changelog has an entry for it.

    Raises:
        SystemExit: It is not so; says why.
    """
    found = re.fullmatch(r"(ldp-[a-z]+)-v(\d+\.\d+\.\d+(?:[a-z0-9.]*)?)", tag)
    if found is None:
        raise SystemExit(f"{tag}: not <package>-v<version>")
    package, version = found.groups()
    folder = ROOT / "packages" / package
    if not folder.is_dir():
        raise SystemExit(f"{tag}: there is no package {package}")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if project["version"] != version:
        raise SystemExit(f"{tag}: {package} is at {project['version']}")
    if not re.search(
        rf"^## {re.escape(version)}\b", (folder / "CHANGELOG.md").read_text(encoding="utf-8"), re.M
    ):
        raise SystemExit(f"{tag}: packages/{package}/CHANGELOG.md has no entry for {version}")
    return package


if __name__ == "__main__":
    print(f"package={check(sys.argv[1] if len(sys.argv) > 1 else '')}")
