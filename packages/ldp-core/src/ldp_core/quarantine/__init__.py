"""Rows that were put aside: the table that keeps them, and what became of them."""
