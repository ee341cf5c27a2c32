"""Two spellings of one place are one place: a mismatch would delete what is needed."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldp_maintenance.places import Places, inside, key_of, outermost

_PART = st.text(
    st.characters(blacklist_characters="/\x00", blacklist_categories=("Cs",)), min_size=1, max_size=8
).filter(lambda part: part not in (".", ".."))
_PATH = st.lists(_PART, min_size=1, max_size=4).map("/".join)


@given(_PATH)
def test_maint_places_local_spellings_are_equal(path: str) -> None:
    wanted = key_of(f"/{path}")
    spelled = [f"file:/{path}", f"file:///{path}", f"FILE:///{path}", f"file://localhost/{path}", f"//{path}"]
    spelled += [
        f"/{path}/",
        f"/{path.replace('/', '//')}",
        f"/./{path}",
        f"file:///{quote(path)}",
        f"/{quote(path)}",
    ]
    assert {key_of(uri) for uri in spelled} == {wanted}


@given(_PATH)
def test_maint_places_spellings_of_object_stores_are_equal(path: str) -> None:
    for group in (("s3", "s3a", "s3n", "S3"), ("gs", "gcs"), ("abfs", "abfss", "wasb")):
        found = {
            key_of(f"{scheme}://bucket/{text}")
            for scheme in group
            for text in (path, quote(path), path + "/")
        }
        assert len(found) == 1


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sampled_from("abc"), min_size=1))
def test_maint_places_other_paths_are_other_places(one: list[str], other: list[str]) -> None:
    same = one == other
    assert (key_of("/" + "/".join(one)) == key_of("file:/" + "/".join(other))) is same
    assert (key_of("s3://b/" + "/".join(one)) == key_of("s3a://b/" + "/".join(other))) is same
    assert key_of("s3://b/" + "/".join(one)) != key_of("s3://c/" + "/".join(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("abfss://c@a.dfs.core.windows.net/x", "wasbs://c@a.blob.core.windows.net/x"),
        ("hdfs://nn1:8020/x", "hdfs:/x"),
        ("s3://b/é", "s3a://b/é"),
        ("s3://b/a%2520b", "s3://b/a b"),
    ],
)
def test_maint_places_pairs_that_are_equal(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


def test_maint_places_inside_is_by_whole_names() -> None:
    assert inside("s3://b/t/x", "s3://b/t")
    assert inside("s3://b/t", "s3://b/t")
    assert not inside("s3://b/t2", "s3://b/t")


def test_maint_places_only_the_outermost_folders_are_listed() -> None:
    given = ["s3://b/t", "s3a://b/t/data", "s3://b/t2", "s3n://b/t"]
    assert outermost(given, Places()) == ("s3://b/t", "s3://b/t2")
