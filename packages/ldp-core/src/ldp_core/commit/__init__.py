"""Exactly once: stage, publish, recover."""
