"""Data contracts in the Open Data Contract Standard (ODCS)."""
