"""The commands ``ldp maintain`` and ``ldp health``."""
