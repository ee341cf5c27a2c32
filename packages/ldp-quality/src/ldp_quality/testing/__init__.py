"""Suites that executors of checks are held to, and what they are made of."""
