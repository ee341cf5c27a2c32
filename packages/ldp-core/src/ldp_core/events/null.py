"""The sink that drops events."""

from __future__ import annotations

from ldp_core.events.model import Event, Sink
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec


class NullSink:
    """``type: null`` (or ``none``)."""

    shape = Shape(keys=(Key("type", Text(), "null or none."),), doc="Drops every event.")

    def open(self, spec: Spec) -> Sink:
        """A function that does nothing."""
        return _drop


def _drop(event: Event) -> None:
    del event


SINK = NullSink()
