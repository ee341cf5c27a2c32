"""Upkeep wherever a table can live: the rows stay, the files become few, and windows stay loaded."""

from __future__ import annotations

from typing import Any

import pytest
from places import Place, csv_text, rides

pytestmark = [
    pytest.mark.service,
    pytest.mark.filterwarnings("ignore:.*utcnow:DeprecationWarning"),  # botocore signs with it
]
PLACES = ["sqlite-s3", "postgres", "rest", "glue", "gs", "abfss"]


def outcome(found: dict[str, Any], operation: str) -> dict[str, Any]:
    """What became of an operation."""
    (one,) = [one for one in found["operations"] if one["operation"] == operation]
    return dict(one)


@pytest.mark.parametrize("place", PLACES, indirect=True)
def test_a_table_is_looked_after(place: Place) -> None:
    for number in range(4):
        path = place.put("rides.csv", csv_text(rides(range(number * 10, number * 10 + 10))))
        config = place.load("load", path)
        place.ldp("run", config, "--idempotency-key", f"load-{number}")
    assert len(place.rows()) == 40
    health = place.ldp("health", config)
    assert health["table"] == "nyc.rides" or health["table"].endswith(".rides")

    preview = place.ldp("maintain", "run", config)
    assert preview["dry_run"] is True
    assert outcome(preview, "rewrite-data-files")["status"] == "preview"
    assert preview["before"]["data_files"] == 4

    done = place.ldp("maintain", "run", config, "--yes")
    assert outcome(done, "rewrite-data-files")["status"] == "done", done
    assert done["after"]["data_files"] == 1
    assert done["after"]["manifests"] == 1
    assert len(place.rows()) == 40
    again = place.ldp("maintain", "run", config, "--yes")
    assert {one["status"] for one in again["operations"]} <= {"nothing", "skipped"}, again

    expired = place.ldp("maintain", "expire-snapshots", config, "--max-snapshot-age-days", "0", "--yes")
    assert outcome(expired, "expire-snapshots")["status"] == "done", expired
    assert expired["after"]["snapshots"] == 1
    orphans = place.ldp("maintain", "remove-orphans", config, "--older-than-days", "0", "--yes")
    assert outcome(orphans, "remove-orphans")["status"] in ("done", "nothing"), orphans
    assert place.orphans("rides") == []
    assert [row["ride_id"] for row in place.rows()] == list(range(40))
    for number in range(4):
        assert (
            place.ldp("run", config, "--idempotency-key", f"load-{number}")["status"] == "skipped_duplicate"
        )


@pytest.mark.parametrize("place", ["sqlite-s3", "rest"], indirect=True)
def test_orders_and_partitions_on_an_object_store(place: Place) -> None:
    for number in range(3):
        path = place.put("rides.csv", csv_text(rides(range(number * 30, number * 30 + 30))))
        by_day = [{"column": "pickup_ts", "transform": "day"}]
        config = place.load("load", path, partition_by=by_day)
        place.ldp("run", config)
    every = ("--skip-newest", "none", "--yes")
    done = place.ldp("maintain", "compact", config, "--order-by", "fare desc, ride_id", *every)
    assert outcome(done, "rewrite-data-files")["added_data_files"] == 3, done
    done = place.ldp("maintain", "compact", config, "--zorder", "ride_id,city", *every)
    assert outcome(done, "rewrite-data-files")["status"] == "done", done
    assert sorted(row["ride_id"] for row in place.rows()) == list(range(90))
    assert place.orphans("rides") == []
