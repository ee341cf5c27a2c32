"""The names of a CSV source's columns: from the header of each file, checked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ldp_core.errors import SourceError


@dataclass(frozen=True)
class Group:
    """Files in a row that have the same header.

    Attributes:
        files: As DuckDB opens them.
        names: Their columns in their order.
    """

    files: tuple[str, ...]
    names: tuple[str, ...]


def checked(names: list[str], *, file: str, warn: Callable[[str], None]) -> tuple[str, ...]:
    """Column names as they are loaded.

    An empty name becomes ``column<position>`` (from 0), with a warning.

    Raises:
        SourceError: Two names are the same, or differ only in case.
    """
    filled = [name if name.strip() else f"column{at}" for at, name in enumerate(names)]
    unnamed = [str(at + 1) for at, name in enumerate(names) if not name.strip()]
    if unnamed:
        warn(
            f"{file}: field {', '.join(unnamed)} of the header has no name and is loaded as column<position>"
        )
    seen: dict[str, str] = {}
    for name in filled:
        other = seen.get(name.casefold())
        if other is not None:
            what = (
                f"column {name!r} twice"
                if other == name
                else f"columns {other!r} and {name!r}, which differ only in case"
            )
            raise SourceError(f"the header has {what}", file=file, hint="rename one of them")
        seen[name.casefold()] = name
    return tuple(filled)


def grouped(headers: list[tuple[str, str, tuple[str, ...]]], *, by_name: bool) -> list[Group]:
    """Put files with the same header together, in the order of the files.

    Args:
        headers: File as DuckDB opens it, file for messages, names.
        by_name: Whether headers may differ.

    Raises:
        SourceError: They differ and may not; names the file and what differs.
    """
    first_names = headers[0][2]
    groups: list[Group] = []
    for file, shown, names in headers:
        if names != first_names and not by_name:
            raise SourceError(
                _difference(names, first_names, headers[0][1]),
                file=shown,
                hint='set files: {"union": "by_name"} to load files with different columns',
            )
        if groups and groups[-1].names == names:
            groups[-1] = Group((*groups[-1].files, file), names)
        else:
            groups.append(Group((file,), names))
    return groups


def _difference(names: tuple[str, ...], first: tuple[str, ...], first_file: str) -> str:
    lacking = [name for name in first if name not in names]
    extra = [name for name in names if name not in first]
    parts = []
    if lacking:
        parts.append(f"lacks column {', '.join(map(repr, lacking))}")
    if extra:
        parts.append(f"has column {', '.join(map(repr, extra))} more")
    return f"{' and '.join(parts) or 'has its columns in another order'} than {first_file}"


def all_names(groups: list[Group]) -> tuple[str, ...]:
    """The columns of the source: those of the first file, then new ones in the order they are met."""
    found: dict[str, None] = {}
    for group in groups:
        found.update(dict.fromkeys(group.names))
    folded: dict[str, str] = {}
    for name in found:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            raise SourceError(f"columns {other!r} and {name!r} of these files differ only in case")
    return tuple(found)
