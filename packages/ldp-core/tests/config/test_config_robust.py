"""Whatever a config holds, asking for its problems never fails."""

from __future__ import annotations

import copy
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.config import Config
from ldp_core.errors import LDPError

BASE: dict[str, Any] = {
    "apiVersion": "ldp/v1",
    "kind": "Pipeline",
    "identifier": "rides",
    "when": "daily",
    "metadata": {
        "source": {
            "name": "rides",
            "format": "CSV",
            "path": "r.csv",
            "delimiter": ",",
            "null_values": ["NA"],
            "columns": {"fare": "double"},
            "files": {"order": "name"},
        },
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "write_mode": "upsert",
            "join_cols": ["id"],
            "partition_by": [{"column": "ts", "transform": "day", "name": "d"}],
            "catalog": {"type": "sql", "uri": "sqlite:///c.db", "warehouse": "wh", "namespace": "n"},
        },
        "transforms": [{"sql": "SELECT * FROM source"}],
        "quality": {"on_failure": "fail", "checks": [{"check": "range", "column": "fare", "min": 0}]},
        "schedule": "5 2 * * *",
        "window": {"size": "day", "column": "ts", "timezone": "Europe/Paris"},
        "observability": {"sinks": ["jsonl", {"type": "null"}], "jsonl": {"path": "e.jsonl"}},
        "docs": {"layer": "gold", "columns": {"a": "b"}, "primary_key": ["a"], "tags": ["t"]},
        "id": "one",
        "engine": "duckdb",
    },
}
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.5, "", " ", "x", "JSON", "local", "é\n"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "check", "sql", "x-y", "a", "columns", "format", "path"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=4,
)


def places(value: Any, around: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [around] if around else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        found += places(item, (*around, name))
    return found


PLACES = places(BASE)


@settings(deadline=None, max_examples=120)
@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK | st.just("drop")), min_size=1, max_size=3))
def test_problems_never_fail(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    data = copy.deepcopy(BASE)
    for place, value in changes:
        at: Any = data
        try:
            for name in place[:-1]:
                at = at[name]
            if value == "drop":
                del at[place[-1]]
            else:
                at[place[-1]] = value
        except (KeyError, TypeError, IndexError):
            continue
    config = Config.from_dict(data, Path(tempfile.gettempdir()))
    found = config.problems()
    assert all(str(problem) and "\n" not in str(problem) for problem in found), found
    assert repr(config)
    with suppress(LDPError):
        config.spec_hash()
    if not any(problem.severity == "error" for problem in found):
        assert config.route()
        assert config.explain() is not None
        for name in ("source", "target", "metadata", "window", "docs", "observability", "quality"):
            assert config.spec(name).values is not None
