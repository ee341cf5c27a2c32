"""Kinds of transforms; each module offers ``TRANSFORM`` and is loaded by its key in a config."""
