"""The columns of a source, for ``ldp plan --source``."""

from __future__ import annotations

from dataclasses import replace

from ldp_core.errors import LDPError
from ldp_core.plan.explain import Explanation
from ldp_core.run.context import Lines, RunOptions, open_context


def with_source(explanation: Explanation) -> Explanation:
    """The explanation with the columns of its source; a source that does not open is a note.

    Args:
        explanation: Of a config without errors.
    """
    plan = explanation.plan
    if plan is None:
        return explanation
    warnings = Lines()
    try:
        with open_context(plan.base_dir, RunOptions(), warnings) as ctx:
            schema = plan.read.source.open(plan.read.spec, ctx, None).schema
    except LDPError as error:
        return replace(explanation, notes=(*explanation.notes, f"the source does not open: {error}"))
    columns = {column.name: str(column.type) for column in schema}
    return replace(explanation, source_schema=columns, notes=(*explanation.notes, *warnings.found))
