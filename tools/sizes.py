"""Modules stay small: none above 500 lines. Reports the median of each package."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 500


def sizes(folder: Path) -> dict[Path, int]:
    """Lines of each module below a folder."""
    return {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(folder.rglob("*.py"))}


def main() -> int:
    """Print the sizes; 1 when a module is too long."""
    failed = False
    for package in sorted((ROOT / "packages").iterdir()):
        lines = sizes(package / "src")
        real = [count for path, count in lines.items() if path.name != "__init__.py"] or [0]
        print(f"{package.name}: {len(lines)} modules, median {median(real):.0f} lines, longest {max(real)}")
        for path, count in {**lines, **sizes(package / "tests")}.items():
            if count > LIMIT:
                failed = True
                print(f"{path.relative_to(ROOT)}: {count} lines; {LIMIT} at most")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
