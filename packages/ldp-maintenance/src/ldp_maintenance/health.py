"""How well a table is: a grade for each way in which tables decay, and what each operation would win."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ldp_maintenance.layout import Layout, measure
from ldp_maintenance.model import Doing, Operation, Outcome, Target

if TYPE_CHECKING:
    from ldp_maintenance.addressing import Neighbours

GRADES = "ABCDF"
THRESHOLDS: Mapping[str, tuple[float, float, float, float]] = {
    "small_files": (0.1, 0.25, 0.5, 0.75),
    "delete_ratio": (0.02, 0.1, 0.2, 0.3),
    "manifests_per_partition": (2, 5, 10, 50),
    "metadata_size": (1_000_000, 5_000_000, 20_000_000, 50_000_000),
    "snapshots": (100, 500, 1_000, 5_000),
    "skew": (5, 20, 50, 200),
    "read_amplification": (1.5, 3, 6, 12),
}
"""The most that a dimension may have for an A, B, C and D; more is an F.

``small_files`` is the share of data files that could be put into others of their partition, ``delete_ratio``
deletes in the rows, ``metadata_size`` bytes of the metadata file, ``skew`` bytes of the largest partition in
those of the median one, ``read_amplification`` what a full scan costs in what it must (``layout.Layout``).
"""
_TEXTS: Mapping[str, Callable[[Layout, float], str]] = {
    "small_files": lambda lay, _: (
        f"{lay.mergeable_files:,} of {lay.data_files:,} data files can be put into others"
    ),
    "delete_ratio": lambda lay, _: f"{lay.deletes:,} deletes in {lay.rows:,} rows",
    "manifests_per_partition": lambda lay, value: (
        f"{value:g} manifests for each of {lay.partitions:,} partition{'' if lay.partitions == 1 else 's'}"
    ),
    "metadata_size": lambda _, value: f"a metadata file of {_bytes(value)}",
    "snapshots": lambda _, value: f"{value:,g} snapshots",
    "skew": lambda _, value: f"the largest partition is {value:g} times the median one",
    "read_amplification": lambda _, value: f"a full scan costs {value:.1f} times what it must",
}


@dataclass(frozen=True)
class Grade:
    """One way in which tables decay.

    Attributes:
        dimension: A key of ``THRESHOLDS``.
        grade: A letter of ``GRADES``.
        value: What was measured.
        text: The same in words.
    """

    dimension: str
    grade: str
    value: float
    text: str


@dataclass(frozen=True)
class Win:
    """What an operation would win.

    Attributes:
        operation: Which.
        status: Of its preview: ``preview`` where there is work.
        files: Files that a reader, or the store, has less of.
        bytes: Bytes that are freed, at once or once old snapshots go.
        reason: Why there is nothing to win, or why nobody can say.
    """

    operation: Operation
    status: str
    files: int = 0
    bytes: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class Health:
    """A table's state.

    Attributes:
        table: ``namespace.table``.
        layout: Its numbers.
        grades: In the order of ``THRESHOLDS``.
        wins: What operations would win, best first.
    """

    table: str
    layout: Layout
    grades: tuple[Grade, ...]
    wins: tuple[Win, ...] = ()

    @property
    def grade(self) -> str:
        """The worst grade, but for skew: no operation here mends that."""
        return max((one.grade for one in self.grades if one.dimension != "skew"), key=GRADES.index)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "table": self.table,
            "grade": self.grade,
            "grades": {
                one.dimension: {"grade": one.grade, "value": one.value, "text": one.text}
                for one in self.grades
            },
            "wins": [vars(win) for win in self.wins],
            "layout": self.layout.to_dict(),
        }

    def lines(self) -> tuple[str, ...]:
        """For people, one line each: the grades, then what there is to win."""
        found = [f"{one.grade}  {one.dimension.replace('_', ' ')}: {one.text}" for one in self.grades]
        for win in self.wins:
            if win.status == "preview":
                found.append(f"{win.operation} would win {_won(win)}")
            elif win.status in ("refused", "failed"):
                found.append(f"{win.operation} cannot run: {win.reason}")
        return tuple(found)


def health(target: Target, *, wins: bool = True, neighbours: Neighbours | None = None) -> Health:
    """Grade a table. Changes nothing.

    Args:
        target: The table.
        wins: Whether to preview each operation as well, which looks at every file of the table.
        neighbours: Where the other tables of the catalog are; asked of the catalog by default.

    Raises:
        TableNotFound: It does not exist.
    """
    layout = measure(target)
    found = Health(target.name, layout, grades_of(layout))
    return replace(found, wins=_wins(target, neighbours)) if wins else found


def grades_of(layout: Layout) -> tuple[Grade, ...]:
    """The grades of a layout."""
    values = {
        "small_files": layout.mergeable_files / layout.data_files if layout.data_files else 0.0,
        "delete_ratio": layout.deletes / layout.rows if layout.rows else 0.0,
        "manifests_per_partition": layout.manifests_per_partition,
        "metadata_size": layout.metadata_bytes,
        "snapshots": layout.snapshots,
        "skew": layout.skew,
        "read_amplification": layout.read_amplification,
    }
    return tuple(
        Grade(name, grade_of(name, value), round(value, 4), _TEXTS[name](layout, value))
        for name, value in values.items()
    )


def grade_of(dimension: str, value: float) -> str:
    """The letter for a value of a dimension."""
    return GRADES[sum(value > bound for bound in THRESHOLDS[dimension])]


def _wins(target: Target, neighbours: Neighbours | None) -> tuple[Win, ...]:
    from ldp_maintenance.maintenance import Maintenance

    planned = Maintenance(target, neighbours=neighbours).plan(doing=Doing())
    found = [_win(outcome) for outcome in planned.outcomes]
    return tuple(sorted(found, key=lambda win: (win.status != "preview", -win.files, -win.bytes)))


def _win(outcome: Outcome) -> Win:
    """What the counts of a preview say."""
    detail = outcome.detail

    def count(*names: str) -> int:
        return sum(_sum(detail.get(name)) for name in names)

    files, size = 0, 0
    match outcome.operation:
        case "rewrite-data-files" | "evolve-partitions":
            files = count("rewritten_data_files", "removed_delete_files") - count("added_data_files")
            size = count("rewritten_bytes") - count("added_bytes")
        case "remove-dangling-deletes":
            files, size = count("delete_files"), count("bytes")
        case "rewrite-manifests":
            files = count("manifests_before") - count("manifests_after")
        case "expire-snapshots":
            files, size = count("files"), count("file_bytes")
        case "remove-orphans":
            files, size = count("orphans"), count("orphan_bytes")
    return Win(outcome.operation, outcome.status, max(files, 0), max(size, 0), outcome.reason)


def _sum(value: Any) -> int:
    """A count, or those of several kinds added up."""
    if isinstance(value, Mapping):
        return sum(_sum(item) for item in value.values())
    if isinstance(value, list | tuple):
        return len(value)
    return int(value) if isinstance(value, int | float) else 0


def _won(win: Win) -> str:
    parts = [f"{win.files:,} file{'' if win.files == 1 else 's'}"] if win.files else []
    if win.bytes:
        parts.append(_bytes(win.bytes))
    return " and ".join(parts) or "a better layout"


def _bytes(value: float) -> str:
    from ldp_core._progress import human_bytes

    return human_bytes(float(value))
