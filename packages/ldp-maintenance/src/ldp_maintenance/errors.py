"""What maintenance refuses, and where it stops because going on could delete what is needed."""

from __future__ import annotations

from ldp_core.errors import LDPError


class Refused(LDPError):
    """The table, or where it lies, does not allow the operation; nothing was touched."""

    code = "refused"


class Unsupported(Refused):
    """The table's format version does not allow the operation here; nothing was touched."""

    code = "unsupported"


class SafetyAbort(LDPError):
    """What was found contradicts itself: needed files could be taken for orphans. None was deleted."""

    code = "safety_abort"
