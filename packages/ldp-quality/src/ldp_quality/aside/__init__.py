"""Rows that break a rule, told apart from the others so that they can be put aside."""
