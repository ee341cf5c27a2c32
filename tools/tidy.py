"""Files carry no path of a machine, no mark of unfinished work, no broken ends of lines."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINE = Path(__file__).resolve()
RULES = (
    (
        "a path of one machine",
        re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+|opt/(?:pypi|wheels))(?:/|\b)"),
    ),
    (
        "a mark of unfinished work",
        re.compile(r"(?<![\"'])\b(?:TODO|FIXME|XXX|HACK)\b|raise NotImplementedError(?:\(\))?$"),
    ),
    ("a conflict marker", re.compile(r"^(?:<<<<<<<|>>>>>>>) ")),
)
TEXT = {".py", ".toml", ".md", ".yml", ".yaml", ".json", ".sh", ".lock", ".cfg", ".txt", ""}


def tracked() -> list[Path]:
    """The text files under version control."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.suffix in TEXT and path.is_file() and path != MINE]


def findings(path: Path) -> list[str]:
    """What is wrong in one file, a line each."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        found += [
            f"{path.relative_to(ROOT)}:{number}: {what}: {line.strip()[:80]}"
            for what, pattern in RULES
            if pattern.search(line)
        ]
    return found


def main() -> int:
    """Print the findings; 1 when there are any."""
    found = [finding for path in tracked() for finding in findings(path)]
    for finding in found:
        print(finding)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
