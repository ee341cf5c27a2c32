"""Tables in every state that tests of maintenance need, and what is true of them. Nothing else imports it."""

from ldp_maintenance.testing.builders import (
    DAY0,
    append,
    branch,
    catalog,
    delete_keys,
    delete_positions,
    evolve_schema,
    evolve_spec,
    overwrite,
    rollback,
    small_files,
    staged,
    table,
    tag,
)
from ldp_maintenance.testing.looks import (
    entries_in_manifest_of_wrong_content,
    files_on_disk,
    live_files,
    referenced_files,
    rows,
    unreferenced_files,
)
from ldp_maintenance.testing.three import v3_table

__all__ = [
    "DAY0",
    "append",
    "branch",
    "catalog",
    "delete_keys",
    "delete_positions",
    "entries_in_manifest_of_wrong_content",
    "evolve_schema",
    "evolve_spec",
    "files_on_disk",
    "live_files",
    "overwrite",
    "referenced_files",
    "rollback",
    "rows",
    "small_files",
    "staged",
    "table",
    "tag",
    "unreferenced_files",
    "v3_table",
]
