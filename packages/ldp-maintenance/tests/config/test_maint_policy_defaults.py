"""Every default is public surface: a changed one is a breaking change, and fails here."""

from __future__ import annotations

from ldp_maintenance import Doing, Policy, resolve
from ldp_maintenance.config.show import shown
from ldp_maintenance.policy import (
    MANIFEST_SIZE,
    ORPHAN_AGE_DAYS,
    SNAPSHOT_AGE_DAYS,
    SNAPSHOTS_TO_KEEP,
    TARGET_FILE_SIZE,
    EvolutionRule,
)


def test_snapshots_stay_five_days_and_at_least_one() -> None:
    assert (SNAPSHOT_AGE_DAYS, SNAPSHOTS_TO_KEEP) == (5.0, 1)
    expire = Policy().expire
    assert expire.enabled
    assert expire.max_snapshot_age_days is None  # the table's property, else the five days
    assert expire.min_snapshots_to_keep is None
    assert expire.keep_last is None
    assert expire.keep_metadata_versions is None


def test_refs_go_only_where_an_age_is_set() -> None:
    assert Policy().expire.max_ref_age_days is None


def test_orphans_are_at_least_three_days_old() -> None:
    orphans = Policy().orphans
    assert ORPHAN_AGE_DAYS == 3.0
    assert (orphans.enabled, orphans.older_than_days) == (True, 3.0)
    assert not orphans.any_name
    assert not orphans.hidden


def test_the_target_is_the_tables_property_or_128_mib() -> None:
    rewrite = Policy().rewrite
    assert TARGET_FILE_SIZE == 128 * 1024 * 1024
    assert rewrite.target_file_size_bytes is None
    assert (rewrite.min_file_size_ratio, rewrite.max_file_size_ratio) == (0.75, 1.8)
    assert (rewrite.delete_ratio, rewrite.delete_file_threshold) == (0.3, 5)
    assert rewrite.min_input_files == 2


def test_the_newest_partition_and_a_closed_one_are_left_alone() -> None:
    assert Policy().rewrite.skip_newest == 1


def test_files_stay_in_their_partition_spec() -> None:
    assert Policy().rewrite.output_spec is None
    assert Policy().partition is None


def test_days_become_months_after_ninety_days() -> None:
    assert Policy().evolution == (EvolutionRule("day", "month", 90.0),)


def test_files_are_sorted_by_the_order_that_the_table_declares() -> None:
    assert Policy().ordering.mode == "table"
    assert Policy().ordering.precision_bits == 16


def test_manifests_and_dangling_deletes() -> None:
    policy = Policy()
    assert policy.dangling_deletes
    assert (policy.manifests.enabled, policy.manifests.min_input_manifests) == (True, 2)
    assert policy.manifests.target_size_bytes is None
    assert MANIFEST_SIZE == 8 * 1024 * 1024


def test_no_property_is_set_and_nothing_is_committed() -> None:
    assert Policy().properties == {}
    doing = Doing()
    assert not doing.commit
    assert not doing.written_out
    assert (doing.budget_seconds, doing.budget_bytes, doing.deletes_per_second) == (None, None, None)


def test_nothing_said_is_the_defaults() -> None:
    assert resolve() == Policy()
    values = {key: value for key, value, origin in shown(resolve()) if origin == "defaults"}
    assert values == {
        "description": None,
        "partition": None,
        "partition_evolution.enabled": True,
        "partition_evolution.rules": [{"from": "day", "to": "month", "older_than_days": 90}],
        "ordering": None,
        "target_file_size_bytes": 128 * 1024 * 1024,
        "min_input_files": 2,
        "skip_partitions_newer_than_windows": 1,
        "retention.expire_snapshots.enabled": True,
        "retention.expire_snapshots.max_snapshot_age_days": 5,
        "retention.expire_snapshots.min_snapshots_to_keep": 1,
        "retention.expire_snapshots.max_ref_age_days": None,
        "retention.remove_orphan_files.enabled": True,
        "retention.remove_orphan_files.older_than_days": 3,
        "retention.remove_dangling_deletes.enabled": True,
        "retention.rewrite_manifests.enabled": True,
        "retention.rewrite_manifests.min_input_manifests": 2,
        "retention.metadata.previous_versions_max": None,
        "retention.metadata.delete_after_commit": None,
    }
