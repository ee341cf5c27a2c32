"""``remove-orphans``: files in a table's folders that nothing in its metadata points at."""
