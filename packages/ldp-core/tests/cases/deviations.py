"""Where the right behaviour differs from the one recorded: case, number of the step, what holds instead."""

from __future__ import annotations

from typing import Any

RIGHT: dict[str, dict[int, dict[str, Any]]] = {
    # docs change no row
    "hash-007": {0: {"hash": "40d19d58902bf55921672476b3953d7db2826d25269733344437a47d1149cb9d"}},
    # a query reads only
    "qry-001": {6: {"exit": 1}, 7: {"exit": 1}},
    # a folder is a source
    "run-051": {0: {"exit": 0, "out": "rides: read 3 rows, wrote 3 rows"}},
    # a column without a value is text, and what looks like a code stays text
    "run-027": {
        0: {"exit": 0},
        1: {
            "rows": 2,
            "schema": {"a": "int64", "b": "string"},
            "data": [{"a": 1, "b": None}, {"a": 2, "b": None}],
        },
    },
    "run-029": {
        0: {"exit": 0},
        1: {
            "rows": 2,
            "schema": {"zip": "string", "ok": "bool", "note": "string"},
            "data": [
                {"zip": "00123", "ok": True, "note": None},
                {"zip": "04567", "ok": False, "note": "NA"},
            ],
        },
    },
    # no number is bent into a double that is not it
    "run-045": {
        0: {"exit": 0},
        1: {
            "rows": 2,
            "schema": {"id": "int64", "v": "string"},
            "data": [{"id": 1, "v": "18446744073709551615"}, {"id": 2, "v": "1e400"}],
        },
    },
    # an unknown key is an error in plan and in run
    "run-049": {0: {"exit": 1, "json": {"valid": False}}, 1: {"exit": 1}},
    # the table's type holds for a batch without values, and for one that looks like another type
    "evo-019": {
        2: {"exit": 0},
        3: {
            "rows": 2,
            "schema": {"id": "int64", "v": "double"},
            "data": [{"id": 1, "v": 1.5}, {"id": 2, "v": None}],
        },
    },
    "evo-021": {
        2: {"exit": 0},
        3: {"rows": 2, "schema": {"zip": "string"}, "data": [{"zip": "AB1"}, {"zip": "04567"}]},
    },
    # names that differ in case only are one name
    "evo-011": {2: {"exit": 1}, 3: {"rows": 1, "schema": {"Id": "int64"}, "data": [{"Id": 1}]}},
    # a local day that does not exist is no window
    "iter-007": {
        0: {
            "n": 2,
            "hours": [24.0, 24.0],
            "first": "2011-12-29T10:00:00+00:00",
            "last": "2011-12-30T10:00:00+00:00",
        }
    },
    # a date without an offset is read in the time zone of the config
    "wf-005": {
        0: {"exit": 0, "json": {"rows_read": 1, "rows_kept": 1, "rows_written": 1, "status": "published"}},
        1: {"rows": 1, "schema": {"id": "int64", "d": "date32[day]"}},
    },
    # a window that overlaps a published one would load rows twice
    "stg-015": {
        1: {"exit": 1},
        2: {"rows": 3, "schema": {"ride_id": "int64", "pickup_ts": "timestamp[us]", "fare": "double"}},
    },
    # a dictionary is stored as what it holds
    "evo-017": {3: {"rows": 2, "schema": {"c": "string"}, "data": [{"c": "x"}, {"c": "y"}]}},
    "evo-023": {3: {"rows": 2, "schema": {"c": "string"}, "data": [{"c": "x"}, {"c": "y"}]}},
    # uint64 fits decimal(20, 0)
    "evo-025": {
        2: {"exit": 0},
        3: {
            "rows": 2,
            "schema": {"id": "decimal128(20, 0)"},
            "data": [{"id": "1"}, {"id": "18446744073709551615"}],
        },
    },
}
