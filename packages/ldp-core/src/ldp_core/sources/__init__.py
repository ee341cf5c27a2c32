"""Kinds of sources; each module offers ``SOURCE`` and is loaded by its name in a config."""
