"""The history of quality: versions of contracts and results of checks, in a store of its own schema."""
