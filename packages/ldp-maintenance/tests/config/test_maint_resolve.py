"""Where a setting comes from: the command line, a file, the config, the properties, the defaults."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldp_core.config.validate import check
from ldp_core.errors import ConfigError
from ldp_maintenance import Ordering, Policy, SortKey, resolve
from ldp_maintenance.config.layers import PLACES
from ldp_maintenance.config.properties import PREFIX, property_keys
from ldp_maintenance.config.shapes import SETTINGS
from ldp_maintenance.config.show import settings, shown

ENABLED = st.booleans()
COLUMNS = st.sampled_from(["a", "b", "c", "nested.x"])
RULES = st.lists(
    st.sampled_from([("hour", "day"), ("day", "month"), ("month", "year")]), min_size=1, unique=True
).map(lambda pairs: [{"from": one, "to": to, "older_than_days": 10} for one, to in pairs])
ORDERINGS = st.one_of(
    st.just({"mode": "none"}),
    st.lists(COLUMNS, min_size=1, unique=True).map(
        lambda names: {"mode": "sort", "sort": [{"column": name, "nulls": "first"} for name in names]}
    ),
    st.lists(COLUMNS, min_size=2, max_size=3, unique=True).map(
        lambda names: {"mode": "zorder", "zorder": {"columns": names}}
    ),
)


def _optional(**keys: Any) -> Any:
    return st.fixed_dictionaries({}, optional=keys)


SETTING = _optional(
    description=st.text(max_size=5),
    partition_evolution=_optional(enabled=ENABLED, rules=RULES),
    ordering=ORDERINGS,
    target_file_size_bytes=st.integers(1, 10**12),
    min_input_files=st.integers(1, 100),
    skip_partitions_newer_than_windows=st.one_of(st.none(), st.integers(0, 9)),
    retention=_optional(
        expire_snapshots=_optional(
            enabled=ENABLED,
            max_snapshot_age_days=st.integers(1, 900),
            min_snapshots_to_keep=st.integers(1, 9),
            max_ref_age_days=st.integers(1, 900),
        ),
        remove_orphan_files=_optional(older_than_days=st.integers(1, 99)),
        remove_dangling_deletes=_optional(enabled=ENABLED),
        rewrite_manifests=_optional(enabled=ENABLED, min_input_manifests=st.integers(1, 9)),
        metadata=_optional(previous_versions_max=st.integers(1, 99), delete_after_commit=ENABLED),
    ),
)


def _leaves(value: Any, key: str = "") -> dict[str, Any]:
    """Settings by their dotted keys."""
    if key in PLACES:
        return {key: value}
    return {
        inner: leaf
        for name, item in value.items()
        for inner, leaf in _leaves(item, f"{key}.{name}".strip(".")).items()
    }


def _shown(policy: Policy) -> dict[str, tuple[Any, str]]:
    return {key: (value, origin) for key, value, origin in shown(policy)}


@given(SETTING, SETTING, SETTING)
def test_the_nearest_source_that_says_something_is_heard(table: Any, section: Any, defaults: Any) -> None:
    """Each setting is that of the table, else of the config, else what holds by default."""
    found = _shown(resolve(table=table, section=section, defaults=defaults))
    for key in _leaves(section):
        if key not in _leaves(table) and not key.startswith("partition_evolution."):
            assert found[key][1] == "config"
    for key in _leaves(table):
        if not key.startswith("partition_evolution."):
            assert found[key][1] == "table"
    assert not {origin for _, origin in found.values()} & {"file defaults"}  # replaced whole by the table's


@given(SETTING)
def test_a_source_alone_is_the_same_wherever_it_stands(written: Any) -> None:
    """A section of a file, of a config and the properties of a table say the same in the same words."""
    flat = {
        f"{PREFIX}{key}": json.dumps(value) for key, value in _leaves(written).items() if key != "description"
    }
    spoken = {key: value for key, value in written.items() if key != "description"}
    one, other, third = (
        resolve(table=spoken),
        resolve(section=spoken),
        resolve(properties=flat),
    )
    assert [value for _, value, _ in shown(one)] == [value for _, value, _ in shown(other)]
    assert [value for _, value, _ in shown(one)] == [value for _, value, _ in shown(third)]


@given(SETTING)
def test_what_is_generated_means_the_same_again(written: Any) -> None:
    """The file of what holds now is right, and gives the same policy."""
    policy = resolve(table=written)
    again = settings(policy)
    assert not check(SETTINGS, again)
    assert [value for _, value, _ in shown(resolve(table=again))] == [value for _, value, _ in shown(policy)]


def test_the_order_of_the_sources() -> None:
    def age(days: int) -> dict[str, Any]:
        return {"retention": {"remove_orphan_files": {"older_than_days": days}}}

    given_ = {
        "command_line": {"orphans.older_than_days": 1.0},
        "table": age(2),
        "section": age(3),
        "properties": {f"{PREFIX}retention.remove_orphan_files.older_than_days": "4"},
    }
    seen = []
    while given_:
        policy = resolve(defaults=age(5), **given_)  # type: ignore[arg-type]
        seen.append((policy.orphans.older_than_days, policy.origins["orphans.older_than_days"]))
        given_.pop(next(iter(given_)))
    last = resolve(defaults=age(5))
    seen.append((last.orphans.older_than_days, last.origins["orphans.older_than_days"]))
    assert seen == [
        (1.0, "command line"),
        (2.0, "table"),
        (3.0, "config"),
        (4.0, "properties"),
        (5.0, "file defaults"),
    ]


def test_a_standard_property_beats_the_defaults_of_a_file_and_is_left_to_the_operation() -> None:
    """A branch may say otherwise for itself, so the value is not taken into the policy."""
    defaults = {
        "retention": {"expire_snapshots": {"max_snapshot_age_days": 7}},
        "target_file_size_bytes": 9,
    }
    properties = {
        "history.expire.max-snapshot-age-ms": "864000000",
        "write.target-file-size-bytes": "1000",
    }
    policy = resolve(defaults=defaults, properties=properties)
    assert policy.expire.max_snapshot_age_days is None
    assert policy.rewrite.target_file_size_bytes is None
    found = {key: (value, origin) for key, value, origin in shown(policy, properties)}
    assert found["retention.expire_snapshots.max_snapshot_age_days"] == (10, "properties")
    assert found["target_file_size_bytes"] == (1000, "properties")


def test_orphans_stay_where_snapshots_do() -> None:
    policy = resolve(table={"retention": {"expire_snapshots": {"enabled": False}}})
    assert not policy.orphans.enabled
    assert policy.origins["orphans.enabled"] == "table"
    assert resolve(
        table={"retention": {"expire_snapshots": {"enabled": False}}},
        command_line={"orphans.enabled": True},
    ).orphans.enabled


def test_evolution_is_turned_off_and_on_again() -> None:
    off = {"partition_evolution": {"enabled": False}}
    assert resolve(section=off).evolution == ()
    assert (
        resolve(section=off, table={"partition_evolution": {"enabled": True}}).evolution == Policy().evolution
    )


def test_orderings() -> None:
    sort = {"mode": "SORT", "sort": [{"column": "a", "direction": "DESC", "nulls": "first"}, {"column": "b"}]}
    assert resolve(table={"ordering": sort}).ordering == Ordering(
        "sort", sort=(SortKey("a", "desc", "first"), SortKey("b"))
    )
    assert resolve(table={"ordering": {"mode": "none"}}).ordering == Ordering("none")


def test_metadata_files_become_properties() -> None:
    metadata = {"previous_versions_max": 7, "delete_after_commit": True}
    policy = resolve(section={"retention": {"metadata": metadata}})
    assert policy.properties == {
        "write.metadata.previous-versions-max": "7",
        "write.metadata.delete-after-commit.enabled": "true",
    }


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("min_input_file", "3", "did you mean min_input_files?"),
        ("min_input_files", "none", "a whole number"),
        ("retention.remove_orphan_files.older_than_days", "0", "more than 0"),
        ("retention.remove_orphan_files.older_than_days", "-1", "more than 0"),
        ("ordering", '{"mode": "zorder", "zorder": {"columns": ["a"]}}', "at least 2"),
    ],
)
def test_a_property_that_is_no_setting_is_refused(name: str, value: str, part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(properties={f"{PREFIX}{name}": value}, name="db.t")
    assert part in str(caught.value)
    assert "table db.t" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_names_of_the_properties() -> None:
    names = list(property_keys())
    assert "write.target-file-size-bytes" in names
    assert "ldp.maintenance.partition_evolution.rules" in names
    assert "ldp.maintenance.retention.expire_snapshots.max_snapshot_age_days" not in names
