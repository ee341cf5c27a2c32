"""The tables of a store: made once, migrated in order, refused where they are newer or somebody else's."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ldp_core.errors import ConfigError
from ldp_quality import CheckResult, QualityReport, RunRecord, open_store
from ldp_quality.store import migrations
from ldp_quality.store.database import StoreError, StoreNotFound

REPORT = QualityReport([CheckResult("a", True, "", 0, {"row_count": 1})])
FAKE = (
    "ALTER TABLE {s}runs ADD COLUMN extra TEXT",
    "CREATE TABLE {s}more (at {moment} NOT NULL)",
)
BROKEN = ("CREATE TABLE {s}half (a INTEGER)", "CREATE TABLE {s}half (a INTEGER)")


def versions(place: str) -> list[int]:
    with open_store(place) as store:
        return [row[0] for row in store._db.execute("SELECT version FROM {s}schema_version ORDER BY version")]


def saved(place: str) -> RunRecord:
    with open_store(place) as store:
        return store.save_result(REPORT, dataset="t", run_id="r")


def test_a_store_of_every_older_version_is_migrated(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    released = migrations.MIGRATIONS
    newest = (*released, FAKE)
    record = saved(place)
    assert versions(place) == list(range(1, len(released) + 1))
    monkeypatch.setattr(migrations, "MIGRATIONS", newest)
    assert versions(place) == list(range(1, len(newest) + 1))
    with open_store(place) as store:
        assert store.runs() == [record]
        store._db.execute("SELECT extra FROM {s}runs")
        store._db.execute("SELECT at FROM {s}more")


def test_a_newer_store_is_refused_and_not_written_to(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, FAKE))
        saved(place)
    before = None if "://" in place else Path(place).read_bytes()
    with pytest.raises(
        StoreError, match=r"is of version 3, this ldp-quality knows none above 2; install a newer"
    ):
        open_store(place)
    assert before is None or Path(place).read_bytes() == before


def test_a_migration_that_fails_leaves_the_version_before(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = saved(place)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, FAKE, BROKEN))
        with pytest.raises(StoreError, match="half"):
            open_store(place)
    assert versions(place) == [1, 2]
    with open_store(place) as store:
        assert store.runs() == [record]
        with pytest.raises(StoreError, match="half"):
            store._db.execute("SELECT * FROM {s}half")


def test_many_that_open_a_new_store_make_it_once(place: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: open_store(place).close(), range(16)))
    assert versions(place) == [1, 2]


def test_a_store_of_this_version_is_opened_without_writing(place: str) -> None:
    saved(place)
    before = None if "://" in place else Path(place).read_bytes()
    with open_store(place, create=False) as store:
        assert len(store.runs()) == 1
    assert before is None or Path(place).read_bytes() == before


def test_nothing_is_made_where_nothing_may_be(place: str) -> None:
    with pytest.raises(StoreNotFound, match="there is no quality history in"):
        open_store(place, create=False)
    if "://" not in place:
        assert list(Path(place).parent.iterdir()) == []


def test_a_folder_is_made_for_the_file(tmp_path: Path) -> None:
    open_store(tmp_path / ".ldp" / "deep" / "quality 100%#?.db").close()
    assert [path.name for path in (tmp_path / ".ldp" / "deep").iterdir()] == ["quality 100%#?.db"]
    open_store(f"sqlite:///{tmp_path}/other.db").close()
    assert (tmp_path / "other.db").exists()


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "catalog.db"
    con = sqlite3.connect(other)
    con.execute("CREATE TABLE iceberg_tables (a)")
    con.commit()
    con.close()
    before = other.read_bytes()
    with pytest.raises(StoreError, match=r"catalog\.db is a database of something else; name another file"):
        open_store(other)
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but a text that is long enough for a header")
    with pytest.raises(StoreError, match=r"notes\.txt is no SQLite file"):
        open_store(text)
    with pytest.raises(StoreError, match="unable to open"):
        open_store(tmp_path)
    assert other.read_bytes() == before


@pytest.mark.parametrize("place", ["s3://bucket/quality.db", "mysql://u@h/d", ""])
def test_another_kind_of_place_is_refused(place: str) -> None:
    with pytest.raises(ConfigError, match=r"is a file or postgresql://user@host/database"):
        open_store(place)


def test_a_password_stands_in_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for uri in ("postgresql://u:geheim@h/d", "postgresql://h/d?user=u&password=geheim"):
        with pytest.raises(ConfigError, match="holds a password") as caught:
            open_store(uri)
        assert "geheim" not in str(caught.value)
    monkeypatch.delenv("QUALITY_PASSWORD", raising=False)
    with pytest.raises(ConfigError, match="QUALITY_PASSWORD is not set"):
        open_store("postgresql://u@127.0.0.1:1/d", password_env="QUALITY_PASSWORD")
    monkeypatch.setenv("QUALITY_PASSWORD", "geheim")
    with pytest.raises(StoreError) as caught_too:
        open_store("postgresql://u@127.0.0.1:1/d", password_env="QUALITY_PASSWORD")
    assert caught_too.value.retriable
    assert "\n" not in str(caught_too.value)
    assert "geheim" not in str(caught_too.value)


def test_a_writer_that_waits_in_vain_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldp_quality.store.sqlite.PATIENCE", 0.1)
    path = tmp_path / "q.db"
    saved(str(path))
    with open_store(path) as one, open_store(path) as two, one._db.transaction():
        with pytest.raises(StoreError, match="another process has held") as caught:
            two.save_result(REPORT, dataset="t")
        assert caught.value.retriable
        assert len(two.runs()) == 1


@pytest.mark.service
def test_a_store_in_postgres_keeps_to_its_schema(database: str) -> None:
    import psycopg

    ours = (
        "SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_schema = ANY(%s)"
    )
    with psycopg.connect(database, autocommit=True) as con:
        con.execute("CREATE TABLE public.runs (theirs int)")
        saved(database.replace("postgresql://", "postgresql+psycopg://"))
        con.execute("SET search_path = public")
        tables = {row[0] for row in con.execute(ours, (["public", "ldp_quality"],))}
    assert tables == {
        "public.runs",
        *(f"ldp_quality.{name}" for name in ("runs", "rules", "contracts", "schema_version")),
    }


@pytest.mark.service
def test_a_role_that_may_not_make_schemas_uses_the_one_that_is_there(database: str) -> None:
    import psycopg

    role = f"r{database[-12:]}"
    with psycopg.connect(database, autocommit=True) as con:
        con.execute(f"CREATE ROLE {role} LOGIN".encode())
        place = database.replace("ldp@", f"{role}@")
        with pytest.raises(StoreError, match="permission denied"):
            open_store(place)
        con.execute(f"CREATE SCHEMA ldp_quality AUTHORIZATION {role}".encode())
    assert saved(place).run_id == "r"
