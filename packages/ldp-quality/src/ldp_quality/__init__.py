"""Data quality checks for LDP."""
