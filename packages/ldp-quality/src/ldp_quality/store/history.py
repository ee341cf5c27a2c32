"""The history of a dataset, out of a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from ldp_quality.history import Past
from ldp_quality.store.database import StoreNotFound

if TYPE_CHECKING:
    from ldp_quality.store.store import Store


@dataclass(frozen=True)
class StoredHistory:
    """See ``History``.

    Attributes:
        store: An open store.
        dataset: The dataset.
        pipeline: The config that loads it; None for all.
        timezone: See ``History``.
    """

    store: Store
    dataset: str
    pipeline: str | None = None
    timezone: str = "UTC"

    def past(
        self,
        number: str,
        where: str | None,
        before: datetime,
        limit: int,
        keep: Callable[[datetime], bool] = lambda at: True,
    ) -> list[Past]:
        """See ``History``."""
        found = self.store.numbers(self.dataset, self.pipeline, number, where, before)
        return list(islice((item for item in found if keep(item.at)), limit))


@dataclass(frozen=True)
class KeptHistory:
    """See ``History``: opens the store when it is asked; one that is not there yet has no runs.

    Attributes:
        place: See ``open_store``.
        password_env: See ``open_store``.
        dataset: The dataset.
        pipeline: The config that loads it.
        timezone: See ``History``.
    """

    place: str
    password_env: str | None
    dataset: str
    pipeline: str | None
    timezone: str

    def past(
        self,
        number: str,
        where: str | None,
        before: datetime,
        limit: int,
        keep: Callable[[datetime], bool] = lambda at: True,
    ) -> list[Past]:
        """See ``History``."""
        from ldp_quality.store.store import open_store

        try:
            with open_store(self.place, create=False, password_env=self.password_env) as store:
                return store.history(self.dataset, self.pipeline, self.timezone).past(
                    number, where, before, limit, keep
                )
        except StoreNotFound:
            return []
