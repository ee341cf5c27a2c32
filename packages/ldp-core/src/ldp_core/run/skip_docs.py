"""A run that is skipped still writes docs that changed, in a metadata commit of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ldp_core.catalogs.access import look, namespace
from ldp_core.errors import LDPError
from ldp_core.plan.stages import Plan
from ldp_core.tables import docs as table_docs


def apply_docs(plan: Plan, warn: Callable[[str], None]) -> bool:
    """Write ``metadata.docs`` into the table where they differ from what it says.

    Args:
        plan: What was skipped; looked at by peeking, so that docs that did not change cost nothing.
        warn: Takes one line when the docs cannot be written: the run is skipped all the same.

    Returns:
        Whether something was written.
    """
    if not plan.docs:
        return False
    spec = plan.write.spec.sub("catalog")
    owner, name = namespace(spec), str(plan.write.spec.get("name"))
    try:
        peeked = look(spec, owner, name)
        if peeked is None:
            return False
        properties = table_docs.changed(peeked.data.get("properties") or {}, plan.docs)
        columns = _changed_columns(peeked.data, table_docs.columns(plan.docs))
        if not properties and not columns:
            return False
        _commit(plan, properties, columns)
    except LDPError as error:
        warn(f"the docs of {owner}.{name} could not be written: {error}")
        return False
    return True


def _changed_columns(metadata: Mapping[str, Any], wanted: Mapping[str, str]) -> dict[str, str]:
    """The descriptions that the present schema does not have, of columns that there are."""
    current = metadata.get("current-schema-id")
    schemas = metadata.get("schemas") or ()
    fields = next((item["fields"] for item in schemas if item.get("schema-id") == current), ())
    known = {str(field["name"]): field.get("doc") for field in fields}
    return {name: text for name, text in wanted.items() if name in known and known[name] != text}


def _commit(plan: Plan, properties: Mapping[str, str], columns: Mapping[str, str]) -> None:
    from pyiceberg.exceptions import CommitFailedException

    from ldp_core.catalogs.tables import load_table

    table = load_table(plan.write.spec.sub("catalog"), str(plan.write.spec.get("name")))
    try:
        with table.transaction() as transaction:
            if properties:
                transaction.set_properties(dict(properties))
            if columns:
                with transaction.update_schema() as update:
                    for name, text in columns.items():
                        update.update_column(name, doc=text)
    except CommitFailedException as error:
        raise LDPError(f"the table changed meanwhile: {error}", hint="the next run writes them") from error
