"""Kinds of tasks that this package brings."""
