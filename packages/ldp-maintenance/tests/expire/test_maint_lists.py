"""Manifest lists read by what they repeat of each other name what they name."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_maintenance.lists import ManifestLists
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestContent, ManifestFile, read_manifest_list, write_manifest_list

IO = PyArrowFileIO()


def _manifest(number: int) -> ManifestFile:
    return ManifestFile.from_args(
        manifest_path=f"/t/{'x' * (number % 3)}{number}.avro",
        manifest_length=100 + number,
        partition_spec_id=0,
        content=ManifestContent.DATA,
        sequence_number=number,
        min_sequence_number=number,
        added_snapshot_id=number,
        added_files_count=1,
        existing_files_count=0,
        deleted_files_count=0,
        added_rows_count=1,
        existing_rows_count=0,
        deleted_rows_count=0,
        partitions=[],
    )


def _write(folder: Path, place: int, numbers: list[int], version: int) -> str:
    path = str(folder / f"{place}.avro")
    output = IO.new_output(path)
    with write_manifest_list(version, output, place, None, 10_000, "deflate") as writer:  # type: ignore[arg-type]
        for number in numbers[:1]:
            writer.add_manifests([_manifest(number)])
        if numbers[1:]:
            writer.add_manifests([_manifest(number) for number in numbers[1:]])
    return path


_CHANGE = st.one_of(
    st.tuples(st.just("first"), st.integers(1, 40)),
    st.tuples(st.just("last"), st.integers(1, 40)),
    st.tuples(st.just("drop"), st.integers(0, 5)),
    st.tuples(st.just("new"), st.integers(1, 40)),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(_CHANGE, min_size=1, max_size=8), st.sampled_from([1, 2]), st.booleans())
def test_maint_lists_are_read_right(changes: list[tuple[str, int]], version: int, backwards: bool) -> None:
    now: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        written = []
        for place, (what, number) in enumerate(changes):
            if what == "first":
                now = [number, *now]
            elif what == "last":
                now = [*now, number]
            elif what == "new":
                now = [number]
            else:
                now = now[:number] + now[number + 1 :]
            written.append(_write(Path(folder), place, now, version))
        lists = ManifestLists(IO)
        for path in reversed(written) if backwards else written:
            wanted = [item.manifest_path for item in read_manifest_list(IO.new_input(path))]
            assert list(lists.paths(path)) == wanted


def test_maint_lists_a_broken_one_is_an_error(tmp_path: Path) -> None:
    path = _write(tmp_path, 1, [1, 2, 3], 2)
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[:-5] + b"xxxxx")
    with pytest.raises(ValueError, match="broken"):
        ManifestLists(IO).paths(path)
