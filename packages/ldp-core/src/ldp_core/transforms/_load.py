"""Find the function that a config names."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

    from ldp_core.spi import Spec


@contextmanager
def on_path(folder: Path) -> Iterator[None]:
    """Let imports find a folder's modules first."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def load_function(name: str, folder: Path, spec: Spec) -> Callable[..., Any]:
    """Import ``module:function``, the module from the folder first, then from what is installed.

    A file of the folder is run anew for each run, so two configs may have modules of one name.

    Raises:
        ConfigError: There is no such module or function, or the module does not import.
    """
    key = f"{spec.key}.python" if spec.key else "python"
    module_name, _, attribute = name.partition(":")
    try:
        with on_path(folder):
            module = _module(module_name, folder)
    except ModuleNotFoundError as error:
        missing = error.name == module_name.split(".")[0] or error.name == module_name
        what = f"there is no module {module_name!r}" if missing else f"{module_name}: {error}"
        hint = f"put {module_name.replace('.', '/')}.py beside the config" if missing else None
        raise ConfigError(what, file=spec.file, key=key, hint=hint) from error
    except Exception as error:
        raise ConfigError(
            f"module {module_name} does not import: {type(error).__name__}: {error}", file=spec.file, key=key
        ) from error
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(f"module {module_name} has no function {attribute!r}", file=spec.file, key=key)
    return found  # type: ignore[no-any-return]


def _module(name: str, folder: Path) -> ModuleType:
    base = folder.joinpath(*name.split("."))
    file = next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
    if file is None or "." in name:
        return importlib.import_module(name)
    own = f"_ldp_{name}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(own, file)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[own]
        raise
    return module
