"""The public names of the package."""

from __future__ import annotations

import pkgutil
import types

import ldp_orchestration


def test_every_public_name_is_there_and_no_module_hides_one() -> None:
    assert ldp_orchestration.__all__ == sorted(ldp_orchestration.__all__)
    for _ in range(2):  # the second time, every module behind a name is imported
        for name in ldp_orchestration.__all__:
            assert not isinstance(getattr(ldp_orchestration, name), types.ModuleType), name
    modules = {module.name for module in pkgutil.iter_modules(ldp_orchestration.__path__)}
    assert not modules & set(ldp_orchestration.__all__)
