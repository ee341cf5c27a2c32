"""Numbers about data, and what they suggest."""
