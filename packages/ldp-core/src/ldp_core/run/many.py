"""Several configs, one after the other."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldp_core.config import Config
from ldp_core.errors import ConfigError, LDPError, Problem
from ldp_core.plan.build import problems
from ldp_core.plan.keyed import Ask
from ldp_core.run.result import PipelineResult

GATE = 3


@dataclass(frozen=True)
class Outcome:
    """How one config of several ended: with a result, with an error, or not run (neither).

    Attributes:
        name: The config's file.
        result: What it did.
        error: What stopped it.
    """

    name: str
    result: PipelineResult | None = None
    error: LDPError | None = None

    def worse(self, code: int) -> int:
        """The exit code after this outcome: 3 only as long as gates are the only problem."""
        own = self.error.exit_code if self.error else 0
        return own if code == 0 else code if own in (0, code) else 1

    def to_dict(self) -> dict[str, Any]:
        """As JSON: the result with its config, or the error, or the status ``not_run``."""
        if self.result is not None:
            return {"config": self.name, **self.result.to_dict()}
        if self.error is not None:
            status = "blocked_quality" if self.error.exit_code == GATE else "failed"
            return {"config": self.name, "status": status, "error": self.error.to_dict()}
        return {"config": self.name, "status": "not_run"}


def run_all(configs: Sequence[Config], *, keep_going: bool = False, **options: Any) -> Generator[Outcome]:
    """Run configs in order, as one batch of events.

    Who does not take every outcome closes it (``contextlib.closing``): the batch is written then, and at the
    end of a process no thread can start any more that would write it.

    Args:
        configs: All are checked before the first one runs.
        keep_going: Go on after one that fails; else the others end as not run.
        options: As for ``ldp_core.run.runner.run``.

    Yields:
        The outcome of each config, as it ends.

    Raises:
        ConfigError: A config has errors; carries those of all configs, and nothing has run.
    """
    from ldp_core.events.batch import batched
    from ldp_core.run.registered import run_config

    wrong: list[Problem] = []
    for config in configs:
        found = problems(config, options.get("mode"), ask_of(options))
        wrong += [item for item in found if item.severity == "error"]
    if wrong:
        raise ConfigError.from_problems(tuple(wrong))
    stopped = False
    with batched():
        for config in configs:
            name = str(config.name or config.identifier)
            if stopped:
                yield Outcome(name)
                continue
            try:
                yield Outcome(name, result=run_config(config, **options))
            except LDPError as error:
                stopped = not keep_going
                yield Outcome(name, error=error)


def ask_of(options: Mapping[str, Any]) -> Ask:
    """The window and the key among the options of a run."""
    names = ("window", "idempotency_key", "overlap", "adopt")
    return Ask(**{name: options[name] for name in names if name in options})
