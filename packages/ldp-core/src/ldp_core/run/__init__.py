"""Runs plans: one generic route from any source to any target."""
