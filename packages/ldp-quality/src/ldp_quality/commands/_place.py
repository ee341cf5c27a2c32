"""Where the quality history is that a command line means, and which dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ldp_core.errors import UsageError

from ldp_quality.store.store import DEFAULT_PATH, Store, open_store

_CONFIGS = (".json", ".yaml", ".yml")
_LISTED = 8


@dataclass(frozen=True)
class Place:
    """A store that a command line names.

    Attributes:
        uri: The file or the URI.
        password_env: The variable with its password.
        word: The dataset as the user named it; the identifier of the config that was given in its place.
    """

    uri: str
    password_env: str | None = None
    word: str | None = None

    def open(self) -> Store:
        """The store; nothing is made.

        Raises:
            StoreNotFound: There is none.
        """
        return open_store(self.uri, create=False, password_env=self.password_env)


def place_of(store: str | None, dataset: str | None = None, password_env: str | None = None) -> Place:
    """The store of a command line: named by ``--store``, else that of the config, else that of this folder.

    Args:
        store: A file, a URI, or a config whose store is meant.
        dataset: The name of a dataset, or a config.
        password_env: ``--password-env``.

    Raises:
        ConfigError: A config cannot be read.
    """
    word = dataset
    found = Place(DEFAULT_PATH)
    if dataset is not None and dataset.endswith(_CONFIGS):
        found = _of_config(Path(dataset))
        word = found.word
    if store is not None:
        found = _of_config(Path(store)) if store.endswith(_CONFIGS) else Place(store)
    return Place(found.uri, password_env or found.password_env, word)


def _of_config(path: Path) -> Place:
    from ldp_core.config.load import load_document
    from ldp_core.config.sections.observability import sinks
    from ldp_core.spi import Spec

    from ldp_quality.store.sink import place_of as place_of_sink

    data = load_document(path).data
    metadata = data.get("metadata")
    section = metadata.get("observability") if isinstance(metadata, dict) else None
    wanted = sinks(section) if isinstance(section, dict) else []
    options = next((item for item in wanted if item.get("type") == "quality_store"), {})
    place = place_of_sink(Spec(options, path.parent))
    return Place(place, options.get("password_env"), str(data.get("identifier") or path.stem))


def dataset_of(store: Store, word: str) -> str:
    """The dataset that a word means: its name, the config that loads it, or the last part of its name.

    Raises:
        UsageError: There is none, or more than one.
    """
    known = store.datasets()
    ways = (
        [item.name for item in known if item.name == word],
        [item.name for item in known if item.pipeline == word][:1],
        [item.name for item in known if item.name.rsplit(".", 1)[-1] == word],
    )
    names = list(dict.fromkeys(next((way for way in ways if way), [])))
    if len(names) == 1:
        return names[0]
    if names:
        raise UsageError(f"{word} is more than one dataset: {_listed(names)}", hint="give its whole name")
    every = list(dict.fromkeys(item.name for item in known))
    has = f"it has {_listed(every)}" if every else "it has no results yet"
    raise UsageError(f"no dataset {word} in the quality history {store.label}", hint=has)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
