"""A pipeline config: read once, asked by everybody."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ldp_core.config import canonical
from ldp_core.config.fitting import within
from ldp_core.config.load import Document, load_document
from ldp_core.config.names import entry_of
from ldp_core.config.normal import normalise
from ldp_core.config.pipeline import API_VERSION, SOURCE, TARGET, metadata_shape
from ldp_core.errors import ConfigError, LDPError, PipelineNotFound, Problem
from ldp_core.fs import local_path
from ldp_core.shape import Named, Shape
from ldp_core.spi import Section, Spec, Task

_UNREAD = Document({})
_ENDPOINTS: dict[str, Named] = {"source": SOURCE, "target": TARGET}


@dataclass(frozen=True, repr=False)
class Config:
    """A config of the kind Pipeline.

    Making one never fails for its content: ``problems`` says what is wrong, ``validate`` refuses it.

    Attributes:
        identifier: The name of the pipeline; part of its keys.
        who: A label.
        what: A label.
        where: A label.
        when: A label, or a schedule in one word (``daily``).
        how: A label.
        metadata: The rest, as written.
        base_dir: The folder that relative paths start from.
        path: The file it was read from.
        name: The file as the user named it.
        env: The environment of ``ldp.yaml`` that holds.
        document: The file's data and lines.
    """

    identifier: str
    who: str | None = None
    what: str | None = None
    where: str | None = None
    when: str | None = None
    how: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    base_dir: Path = field(default_factory=Path.cwd)
    path: Path | None = None
    name: str | None = None
    env: str | None = None
    document: Document = field(default=_UNREAD, compare=False)

    def __post_init__(self) -> None:
        """Fill in what the caller left out."""
        object.__setattr__(self, "base_dir", Path(self.base_dir) if self.base_dir else Path.cwd())
        if self.document is _UNREAD:
            labels = {name: getattr(self, name) for name in ("who", "what", "where", "when", "how")}
            data = {
                "identifier": self.identifier,
                **{name: value for name, value in labels.items() if value is not None},
                "metadata": self.metadata,
            }
            object.__setattr__(self, "document", Document(data))

    def __repr__(self) -> str:
        """The identifier and where it is from; never its content."""
        return f"Config({self.identifier!r}, file={self.name!r})"

    @classmethod
    def from_file(cls, path: str | Path, env: str | None = None, name: str | None = None) -> Config:
        """Read a JSON or YAML file.

        Args:
            path: The file; ``.yaml`` and ``.yml`` are YAML, any other name is JSON.
            env: The environment of ``ldp.yaml``.
            name: What messages call the file; its path by default.

        Raises:
            ConfigError: The file cannot be read or parsed; names file and line.
        """
        return cls._of(load_document(path, name=name), None, env)

    @classmethod
    def of_task(cls, task: Task, path: str) -> Config:
        """Read the config that a task of a workflow names; messages call it as the workflow's file is called.

        Args:
            task: The task.
            path: The file, as the task says it: relative to the workflow's.

        Raises:
            ConfigError: The file cannot be read or parsed; names file and line.
        """
        name = str(Path(task.file).parent / path) if task.file else path
        return cls.from_file(Path(task.base_dir, path), task.env, name)

    @classmethod
    def from_document(cls, document: Document, env: str | None = None) -> Config:
        """A config from a file that was parsed already; ``env`` is the environment of ``ldp.yaml``."""
        return cls._of(document, None, env)

    @classmethod
    def from_json(cls, path: str | Path) -> Config:
        """Read a JSON file (a ``.yaml`` name is read as YAML all the same).

        Raises:
            ConfigError: The file cannot be read or parsed.
        """
        return cls.from_file(path)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], base_dir: str | Path | None = None, env: str | None = None
    ) -> Config:
        """A config from plain data.

        Args:
            data: As a file would hold it.
            base_dir: The folder that relative paths start from; the working folder by default.
            env: The environment of ``ldp.yaml``.
        """
        return cls._of(Document(dict(data)), Path(base_dir) if base_dir else None, env)

    @classmethod
    def _of(cls, document: Document, base_dir: Path | None, env: str | None) -> Config:
        data = document.data
        texts = {
            key: value if isinstance(value := data.get(key), str) else None
            for key in ("who", "what", "where", "when", "how")
        }
        identifier, metadata = data.get("identifier"), data.get("metadata")
        folder = base_dir or (document.path.parent if document.path else Path.cwd())
        return cls(
            identifier=identifier if isinstance(identifier, str) else "",
            metadata=metadata if isinstance(metadata, Mapping) else {},
            base_dir=folder,
            path=document.path,
            name=document.name,
            env=env,
            document=document,
            **texts,
        )

    # What is wrong with it

    def problems(self) -> tuple[Problem, ...]:
        """Every finding, with file and line: errors, warnings and notes."""
        return self._problems

    @cached_property
    def _problems(self) -> tuple[Problem, ...]:
        from ldp_core.config.problems import find_problems

        return find_problems(self)

    def validate(self, part: str | None = None) -> None:
        """Refuse a config that has errors.

        Args:
            part: Only those that keep ``metadata.<part>`` from being read, such as ``target``.

        Raises:
            ConfigError: Carries every error.
        """
        errors = tuple(problem for problem in self.problems() if problem.severity == "error")
        if part is not None:
            around = ("", "apiVersion", "kind", "metadata")
            errors = tuple(
                problem
                for problem in errors
                if problem.file != self.name
                or problem.key in around
                or within(problem.key, f"metadata.{part}")
            )
        if errors:
            raise ConfigError.from_problems(errors)

    def notes(self) -> tuple[str, ...]:
        """What ``plan`` explains: a derived schedule, a label nobody reads, sections that are left alone."""
        return tuple(problem.message for problem in self.problems() if problem.severity == "note")

    # Its parts

    @property
    def source(self) -> dict[str, Any]:
        """``metadata.source`` as written."""
        return self._part("source")

    @property
    def target(self) -> dict[str, Any]:
        """``metadata.target`` as written."""
        return self._part("target")

    def _part(self, name: str) -> dict[str, Any]:
        value = self.metadata.get(name)
        return dict(value) if isinstance(value, Mapping) else {}

    @property
    def quality(self) -> dict[str, Any]:
        """``metadata.quality`` as ``{"on_failure", "checks", ...}``, whichever form it is written in."""
        value = canonical.quality(self.metadata.get("quality"))
        body = dict(value) if isinstance(value, Mapping) else {}
        return {"on_failure": "fail", "checks": [], **body}

    @property
    def schedule(self) -> str | None:
        """The schedule: ``metadata.schedule``, or what a ``when`` such as ``daily`` means."""
        from ldp_core.config.sections.schedule import derived

        own = self.metadata.get("schedule")
        return own if isinstance(own, str) else derived(self.when)

    def resolve(self, path: str | Path) -> Path:
        """A path of the config as an absolute path or one relative to the working folder."""
        return Path(self.base_dir, local_path(str(path)).expanduser())

    def section(self, name: str) -> Any:
        """A section of ``metadata`` in canonical spelling, or None where it is absent."""
        if name not in self._sections:
            self._sections[name] = self._section(name)
        return copy(self._sections[name])

    @cached_property
    def _sections(self) -> dict[str, Any]:
        return {}

    def _section(self, name: str) -> Any:
        value = self.metadata.get(name)
        if name == "quality":
            value = canonical.quality(value)
        if value is None:
            return None
        shape: Shape = metadata_shape(only=(name,))
        return normalise(Shape(keys=shape.keys), {name: value})[name]

    def spec(self, name: str) -> Spec:
        """One part of the config for the plugin that reads it.

        Aliases and spellings are resolved, a named catalog is the full object. ``metadata`` gives all of
        ``metadata`` as written; a section that is no object is under ``value``.
        """
        if name == "metadata":
            return Spec(self.metadata, self.base_dir, "metadata", self.name)
        if name in _ENDPOINTS:
            if name not in self._endpoints:
                self._endpoints[name] = self._endpoint(name, _ENDPOINTS[name])
            return self._endpoints[name]
        value = self.section(name)
        values = {} if value is None else dict(value) if isinstance(value, Mapping) else {"value": value}
        return Spec(values, self.base_dir, f"metadata.{name}", self.name)

    @cached_property
    def _endpoints(self) -> dict[str, Spec]:
        return {}

    def _endpoint(self, name: str, type: Named) -> Spec:
        from ldp_core.config.catalogs import CATALOG, find_catalog

        values = self._part(name)
        catalog = values.get("catalog")
        if isinstance(catalog, str):
            values["catalog"] = find_catalog(catalog, self.base_dir, self.env)
        body = normalise(type, values)
        if isinstance(body.get("catalog"), Mapping):
            body["catalog"] = normalise(CATALOG, body["catalog"])
        return Spec(body, self.base_dir, f"metadata.{name}", self.name)

    def transforms(self) -> tuple[tuple[str, Spec], ...]:
        """The steps between source and target: the plugin's entry name and its spec, in order."""
        from ldp_core.config.problems import transform_entry

        steps = self.metadata.get("transforms")
        items = steps if isinstance(steps, list | tuple) else ()
        return tuple(
            (transform_entry(item), Spec(item, self.base_dir, f"metadata.transforms[{at}]", self.name))
            for at, item in enumerate(items)
        )

    # What it means

    def source_kind(self) -> str:
        """The entry name of the source: ``CSV``; ``JSON`` with engine ``BIGQUERY`` is ``BIGQUERY``.

        Raises:
            PipelineNotFound: No installed source has the name.
        """
        return self._kind("source", SOURCE)

    def target_kind(self) -> str:
        """The entry name of the target.

        Raises:
            PipelineNotFound: No installed target has the name.
        """
        return self._kind("target", TARGET)

    def _kind(self, name: str, type: Named) -> str:
        entry = entry_of(type, self._part(name))
        if entry is None:
            from ldp_core.config.problems import unknown_route

            message, hint = unknown_route(name, self._part(name).get("format"))
            raise PipelineNotFound(message, key=f"metadata.{name}.format", file=self.name, hint=hint)
        return entry

    def route(self) -> str:
        """``CSV -> ICEBERG``."""
        return f"{self.source_kind()} -> {self.target_kind()}"

    def explain(self) -> list[tuple[str, str]]:
        """Lines (label, text) of the sections, for ``plan``."""
        from ldp_core import registry

        lines: list[tuple[str, str]] = []
        for name in registry.names("ldp.sections"):
            value = self.section(name)
            if value is not None:
                lines += registry.load("ldp.sections", name).explain(value, self.spec("metadata"))
        return lines

    def spec_hash(self) -> str:
        """64 hex digits that change whenever what a run does changes.

        Raises:
            ConfigError: A file that the config names cannot be read.
        """
        return self._hash

    @cached_property
    def _hash(self) -> str:
        body: dict[str, Any] = {
            "apiVersion": self.document.data.get("apiVersion") or API_VERSION,
            "identifier": self.identifier,
        }
        for name in ("when", "how"):
            if getattr(self, name):
                body[name] = getattr(self, name)
        body["metadata"] = self._hashed_metadata()
        return canonical.digest(body)

    def _hashed_metadata(self) -> dict[str, Any]:
        written = canonical.without_remarks(dict(self.metadata))
        spec = self.spec("metadata")
        body: dict[str, Any] = {}
        for name, value in written.items():
            if name in canonical.UNHASHED:
                continue
            if name in _ENDPOINTS:
                body[name] = canonical.endpoint(value, self.base_dir, self._namespace(name, value))
            elif name == "transforms" and isinstance(value, list):
                body[name] = [self._hashed_transform(item) for item in value]
            else:
                given = canonical.quality(value) if name == "quality" else value
                section = _section(name)
                if section is None:
                    body[name] = given
                elif section.hashed:
                    body[name] = section.canonical(given, spec)
        return body

    def _hashed_transform(self, item: Any) -> Any:
        if isinstance(item, Mapping) and isinstance(item.get("sql_file"), str):
            return {**item, "sql_file": canonical.file_hash(self.resolve(item["sql_file"]))}
        return item

    def _namespace(self, name: str, value: Any) -> str | None:
        if not isinstance(value, Mapping) or not isinstance(value.get("catalog"), str):
            return None
        from ldp_core import registry

        spec = self.spec(name).sub("catalog")
        namespace: str = registry.load("ldp.catalogs", spec.values["type"]).namespace(spec)
        return namespace


def _section(name: str) -> Section | None:
    """The plugin of a section, or None where there is none that loads."""
    from ldp_core import registry

    if registry.find("ldp.sections", name) is None:
        return None
    try:
        found: Section = registry.load("ldp.sections", name)
    except LDPError:
        return None
    return found
