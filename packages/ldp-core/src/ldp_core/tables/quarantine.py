"""The quarantine table ``<namespace>.<table>__quarantine``: the target's columns, and these.

Each run that puts rows aside leaves one batch, named by the snapshot that its publish makes in the target.
The rows are written first, under the run's key, and count once that key is on main.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIX = "__quarantine"
PREFIX = "_ldp_"

BATCH = "_ldp_batch"
KEY = "_ldp_key"
PIPELINE = "_ldp_pipeline"
RUN = "_ldp_run_id"
ATTEMPT = "_ldp_attempt"
START = "_ldp_window_start"
END = "_ldp_window_end"
AT = "_ldp_at"
ROW = "_ldp_row"
RULES = "_ldp_rules"
REASON = "_ldp_reason"
PRIMARY_KEY = "_ldp_primary_key"
FILE = "_ldp_file"
LINE = "_ldp_line"
RAW = "_ldp_raw"

DOCS = {
    BATCH: "The rows of one run: the snapshot of its publish in the target.",
    KEY: "The key of that publish; run:<run id> where it had none.",
    PIPELINE: "The identifier of the config.",
    RUN: "The run.",
    ATTEMPT: "Its attempt, from 1.",
    START: "The start of its window.",
    END: "The end of its window.",
    AT: "When the row was put aside.",
    ROW: "The number of the row in the batch, from 0.",
    RULES: "The rules that the row breaks.",
    REASON: "Why it was put aside.",
    PRIMARY_KEY: "The primary key of the row, as JSON.",
    FILE: "The file of a row that could not be read.",
    LINE: "Its line there.",
    RAW: "Its text.",
}
"""Our columns, in order, with what each says."""


def run_key(run_id: str) -> str:
    """The key under which a run without one is recorded when it puts rows aside."""
    return f"run:{run_id}"


def schema() -> pa.Schema:
    """Our columns."""
    import pyarrow as pa

    moment = pa.timestamp("us", tz="UTC")
    kinds = {
        ATTEMPT: pa.int32(),
        START: moment,
        END: moment,
        AT: moment,
        ROW: pa.int64(),
        LINE: pa.int64(),
        RULES: pa.list_(pa.string()),
    }
    return pa.schema([(name, kinds.get(name, pa.string())) for name in DOCS])
