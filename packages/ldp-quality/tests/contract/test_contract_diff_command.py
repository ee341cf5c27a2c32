"""``ldp contract diff``: what it prints, and how it exits."""

import json

import pytest
from ldp_cli.main import main
from ldp_quality import Contract, diff

OLD = """\
apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.4.0
status: active
schema:
  - name: orders
    properties:
      - {name: order_id, logicalType: integer, physicalType: INT, required: true}
      - {name: note, logicalType: string}
    quality:
      - {name: enough, metric: rowCount, mustBeGreaterThan: 100}
"""
NEW = OLD.replace("INT", "BIGINT").replace("Than: 100", "Than: 500").replace("1.4.0", "2.0.0")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.odcs.yaml").write_text(text, encoding="utf-8")

    write(old=OLD, new=NEW)
    return write


def run(capsys, *arguments):
    code = main(["contract", "diff", *arguments])
    return code, *capsys.readouterr()


def test_changes_stand_by_class_the_worst_first(files, capsys):
    code, out, err = run(capsys, "old.odcs.yaml", "new.odcs.yaml")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "orders 1.4.0 -> 2.0.0: 1 tightening, 1 loosening, 1 informational"
    assert [line.split()[0] for line in lines if line.startswith(("schema", "version"))] == [
        "schema.orders.quality.enough.mustBeGreaterThan",
        "schema.orders.properties.order_id.physicalType",
        "version",
    ]


@pytest.mark.parametrize(
    ("fail_on", "code"), [("breaking", 0), ("tightening", 3), ("loosening", 3), ("informational", 3)]
)
def test_fail_on_counts_a_class_and_those_above_it(files, capsys, fail_on, code):
    found, _, err = run(capsys, "old.odcs.yaml", "new.odcs.yaml", "--fail-on", fail_on)
    assert found == code
    assert (
        err
        == {
            "breaking": "",
            "tightening": "1 change is tightening or worse\n",
            "loosening": "2 changes are loosening or worse\n",
            "informational": "3 changes are informational or worse\n",
        }[fail_on]
    )


def test_a_dropped_column_fails_on_breaking(files, capsys):
    files(new="\n".join(line for line in OLD.splitlines() if "note" not in line))
    code, out, err = run(capsys, "old.odcs.yaml", "new.odcs.yaml", "--fail-on", "breaking")
    assert (code, err) == (3, "1 change is breaking\n")
    assert "schema.orders.properties.note  note is gone: readers of the column fail." in out


def test_nothing_changed_fails_on_nothing(files, capsys):
    arguments = ("old.odcs.yaml", "old.odcs.yaml", "--fail-on", "informational")
    assert run(capsys, *arguments) == (0, "orders 1.4.0: nothing changed\n", "")


def test_json(files, capsys):
    code, out, _ = run(capsys, "old.odcs.yaml", "new.odcs.yaml", "--json", "--fail-on", "tightening")
    body = json.loads(out)
    assert code == 3
    assert body["worst"] == "tightening"
    assert body["changes"][0] == {
        "path": "schema.orders.quality.enough.mustBeGreaterThan",
        "kind": "changed",
        "class": "tightening",
        "old": 100,
        "new": 500,
        "message": "mustBeGreaterThan was 100 and is now 500: data that passed may now be refused.",
    }


def test_python_compares_contracts_and_documents_alike(files):
    old, new = (Contract.from_file(f"{name}.odcs.yaml") for name in ("old", "new"))
    assert diff(old, new) == diff(old.values, new.values)
    assert diff(old, new).worst == "tightening"


def test_what_cannot_be_compared_says_why_and_exits_1(files, capsys):
    files(other=OLD.replace("id: orders", "id: customers"), broken=OLD.replace("kind", "kin"))
    assert run(capsys, "old.odcs.yaml", "other.odcs.yaml") == (
        1,
        "",
        "ldp: error: other.odcs.yaml:3: id: these are two contracts, not two versions of one: "
        "the ids are orders and customers\n",
    )
    code, _, err = run(capsys, "old.odcs.yaml", "broken.odcs.yaml")
    assert (code, "broken.odcs.yaml:2: kin: unknown key; did you mean kind?" in err) == (1, True)
    code, _, err = run(capsys, "old.odcs.yaml", "none.odcs.yaml")
    assert (code, "none.odcs.yaml" in err) == (1, True)
    code, _, err = run(capsys, "old.odcs.yaml", "new.odcs.yaml", "--fail-on", "worse")
    assert (code, "'breaking'" in err) == (1, True)
