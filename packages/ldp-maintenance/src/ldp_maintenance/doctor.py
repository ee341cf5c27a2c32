"""What ``ldp doctor`` says of this package: what the pyiceberg that is installed can do."""

from __future__ import annotations

from collections.abc import Iterator

from ldp_core.spi import DoctorLine

_FIX = "pip install --upgrade ldp-maintenance pyiceberg"


def installation() -> Iterator[DoctorLine]:
    """A line for each probe, and whether tables can be looked after."""
    from ldp_maintenance.probes import probes, usable

    found = probes()
    for probe in found:
        yield DoctorLine(probe.usable, f"pyiceberg: {probe.name}", probe.text, None if probe.usable else _FIX)
    good = usable(found)
    yield DoctorLine(good, "maintenance", f"usable: {'yes' if good else 'no'}", None if good else _FIX)
