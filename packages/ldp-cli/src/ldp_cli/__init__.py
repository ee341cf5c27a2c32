"""The ldp command."""
