"""The ``ldp`` command: finds what packages offer, runs one, turns errors into exit codes."""

__version__ = "0.2.0"
