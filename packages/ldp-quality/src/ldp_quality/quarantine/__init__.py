"""Rows that were put aside: what there is, and how they get into the table after all."""

from ldp_quality.quarantine.api import BatchClosed, Quarantine, QuarantineBatch

__all__ = ["BatchClosed", "Quarantine", "QuarantineBatch"]
