"""Configs: loading, validation, named catalogs, secrets, hashes, JSON Schema."""

from __future__ import annotations

from ldp_core.config.model import Config

__all__ = ["Config"]
