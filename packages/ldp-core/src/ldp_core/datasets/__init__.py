"""Datasets: named, numbered, pinned states of a table, for training and for audits."""
