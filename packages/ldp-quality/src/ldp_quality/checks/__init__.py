"""The kinds of checks, one idea a module."""
