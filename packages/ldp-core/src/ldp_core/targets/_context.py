"""A run of its own for the Python classes: an engine, a scratch folder, an id."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldp_core import _duck
from ldp_core._progress import SILENT
from ldp_core.ids import new_id
from ldp_core.spi import RunContext

logger = logging.getLogger("ldp_core")


@contextmanager
def context(base_dir: Path) -> Iterator[RunContext]:
    """A context whose connection and scratch folder are gone afterwards; warnings are logged."""
    with tempfile.TemporaryDirectory(prefix="ldp-put-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        con = _duck.connect(temp_directory=scratch / "spill")
        try:
            yield RunContext(
                con=con,
                base_dir=base_dir,
                scratch=scratch,
                run_id=new_id(),
                attempt=1,
                progress=SILENT,
                warn=logger.warning,
            )
        finally:
            con.close()
