"""Data files rewritten: small ones put together, large ones split, deletes applied, rows put in order."""
