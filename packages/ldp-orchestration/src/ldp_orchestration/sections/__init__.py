"""Sections of a config that this package reads."""
