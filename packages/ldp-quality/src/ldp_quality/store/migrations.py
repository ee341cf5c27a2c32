"""The tables of the store, by numbered migrations: each applied once, in order, under a lock.

A migration that was released never changes; what comes later is a new one at the end.
"""

from __future__ import annotations

from ldp_quality.store.database import Database, StoreError, not_found
from ldp_quality.store.records import instant

Migration = tuple[str, ...]

MIGRATIONS: tuple[Migration, ...] = (
    (
        """CREATE TABLE {s}contracts (
            contract_id TEXT NOT NULL,
            number INTEGER NOT NULL,
            version TEXT NOT NULL,
            content TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            who TEXT NOT NULL,
            saved {moment} NOT NULL,
            note TEXT NOT NULL,
            PRIMARY KEY (contract_id, number)
        )""",
        """CREATE TABLE {s}runs (
            id TEXT PRIMARY KEY,
            dataset TEXT NOT NULL,
            pipeline TEXT NOT NULL,
            run_id TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            evaluated {moment} NOT NULL,
            moment {moment} NOT NULL,
            status TEXT NOT NULL,
            outcome TEXT,
            contract_id TEXT,
            contract_version TEXT,
            logical_date {moment},
            window_start {moment},
            window_end {moment},
            judged_rows BIGINT,
            duration_s DOUBLE PRECISION,
            engine TEXT,
            spec_hash TEXT,
            UNIQUE (dataset, pipeline, run_id, attempt)
        )""",
        "CREATE INDEX runs_by_evaluated ON {s}runs (dataset, evaluated)",
        "CREATE INDEX runs_by_moment ON {s}runs (dataset, moment)",
        """CREATE TABLE {s}rules (
            run TEXT NOT NULL REFERENCES {s}runs (id),
            position INTEGER NOT NULL,
            name TEXT NOT NULL,
            kind TEXT,
            status TEXT NOT NULL,
            severity TEXT,
            failing_rows BIGINT,
            covered_rows BIGINT,
            share DOUBLE PRECISION,
            condition TEXT,
            details TEXT NOT NULL,
            metrics TEXT NOT NULL,
            PRIMARY KEY (run, position)
        )""",
    ),
    (
        "ALTER TABLE {s}rules ADD COLUMN scope TEXT",
        "ALTER TABLE {s}rules ADD COLUMN base_snapshot TEXT",
    ),
)
"""What takes a store from version n to n + 1, by n."""


def migrate(db: Database, *, create: bool) -> None:
    """Bring the tables to the version of this code. A store that has it already is not written to.

    Args:
        db: The store.
        create: Whether its tables may be made where there are none.

    Raises:
        StoreNotFound: There are none, and they may not be made.
        StoreError: A newer version made the store; nothing was written.
    """
    found = _version(db)
    if found == len(MIGRATIONS):
        return
    if not found and not create:
        raise not_found(db.label)
    with db.transaction():
        db.lock()
        found = _version(db)
        if not found:
            db.create_schema()
            db.execute("CREATE TABLE {s}schema_version (version INTEGER PRIMARY KEY, applied TEXT NOT NULL)")
        for number, statements in enumerate(MIGRATIONS[found:], start=found + 1):
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO {s}schema_version VALUES (?, ?)", (number, _now()))


def _version(db: Database) -> int:
    """The version of the tables; 0 where there are none."""
    if not db.has_schema():
        return 0
    rows = db.execute("SELECT max(version) FROM {s}schema_version")
    found = int(rows[0][0] or 0)
    if found > len(MIGRATIONS):
        raise StoreError(
            f"the quality history in {db.label} is of version {found}, "
            f"this ldp-quality knows none above {len(MIGRATIONS)}",
            hint="install a newer ldp-quality",
        )
    return found


def _now() -> str:
    from ldp_core.clock import system_clock

    return instant(system_clock())
