"""Which rows, and which files, are a window's: rows whose value of its column is in ``[start, end)``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal

from ldp_core._duck import ident
from ldp_core.errors import ConfigError
from ldp_core.spi import Keyed
from ldp_core.window.calendar import is_midnight, local_day
from ldp_core.window.wall import wall_bound

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.manifest import DataFile
    from pyiceberg.types import NestedField

Reach = Literal["inside", "outside", "astride"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def has_filter(keyed: Keyed | None) -> bool:
    """Whether a run is about the rows of a window alone."""
    return keyed is not None and keyed.column is not None and keyed.start is not None


@dataclass(frozen=True)
class Bounds:
    """A window as values of a column.

    Attributes:
        low: The first value that belongs to it, as SQL.
        high: The first value after it, as SQL.
        least: ``low`` as Iceberg stores it: days or microseconds since 1970.
        limit: ``high`` as Iceberg stores it.
    """

    low: str
    high: str
    least: int
    limit: int

    def holds(self, column: str) -> str:
        """The predicate that is true for the values of the window, and NULL for none."""
        return f"{column} >= {self.low} AND {column} < {self.high}"


def condition(keyed: Keyed, schema: pa.Schema, of: str = "the source") -> str:
    """The predicate that is true for the rows of a window; a row without a value is in none.

    Args:
        keyed: The window and its column.
        schema: The Arrow types of the rows.
        of: Whose rows they are, for messages.

    Raises:
        ConfigError: The window column is not there, has another type, or a date column meets other bounds.
    """
    return bounds(keyed, schema, of).holds(ident(str(keyed.column)))


def bounds(keyed: Keyed, schema: pa.Schema, of: str = "the source") -> Bounds:
    """The bounds of a window as values of its column's type.

    Raises:
        ConfigError: As for ``condition``.
    """
    import pyarrow as pa

    column, start, end = str(keyed.column), keyed.start, keyed.end
    assert start is not None
    assert end is not None
    if column not in schema.names:
        raise ConfigError(
            f"metadata.window.column {column!r} is not a column of {of} (columns: {', '.join(schema.names)})"
        )
    kind = schema.field(column).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_date(kind):
        for bound in (start, end):
            if not is_midnight(bound, keyed.zone):
                raise ConfigError(
                    f"metadata.window.column {column!r} is a date column, so a window must start and end at "
                    f"midnight in {keyed.zone}, got {start.isoformat()}/{end.isoformat()}"
                )
        return _days(local_day(start, keyed.zone), local_day(end, keyed.zone))
    if pa.types.is_timestamp(kind):
        if kind.tz is not None:
            return _moments("TIMESTAMPTZ", start, end)
        return _moments("TIMESTAMP", wall_bound(start, keyed.zone), wall_bound(end, keyed.zone))
    raise ConfigError(
        f"metadata.window.column {column!r} is a {kind} column of {of}; "
        "a window selects by a date or a timestamp",
        hint="give it a type in metadata.source.columns, or name another column",
    )


def reach(file: DataFile, field: NestedField, window: Bounds) -> Reach:
    """How the rows of a file lie to a window, as far as its metrics tell.

    Args:
        file: A data file of a manifest.
        field: The table's column.
        window: The bounds as values of that column.

    Returns:
        ``inside``: every row is the window's; ``outside``: none is; ``astride``: some may be.
    """
    least, greatest = _edges(file, field)
    nulls = (file.null_value_counts or {}).get(field.field_id)
    if least is None or greatest is None:
        return "outside" if nulls is not None and nulls == file.record_count else "astride"
    if greatest < window.least or least >= window.limit:
        return "outside"
    within = window.least <= least and greatest < window.limit
    return "inside" if within and nulls == 0 else "astride"


def _edges(file: DataFile, field: NestedField) -> tuple[int | None, int | None]:
    """Least and greatest value of a column; None where the metrics say nothing."""
    from pyiceberg.conversions import from_bytes
    from pyiceberg.types import DateType, TimestampType, TimestamptzType

    if not isinstance(field.field_type, DateType | TimestampType | TimestamptzType):
        return None, None
    found = [(bounds or {}).get(field.field_id) for bounds in (file.lower_bounds, file.upper_bounds)]
    low, high = (None if value is None else int(from_bytes(field.field_type, value)) for value in found)
    return low, high


def _days(start: date, end: date) -> Bounds:
    low, high = (f"DATE '{day.isoformat()}'" for day in (start, end))
    return Bounds(low, high, *((day - _EPOCH.date()).days for day in (start, end)))


def _moments(kind: str, start: datetime, end: datetime) -> Bounds:
    low, high = (f"{kind} '{moment.isoformat(sep=' ')}'" for moment in (start, end))
    return Bounds(low, high, _micros(start), _micros(end))


def _micros(moment: datetime) -> int:
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
