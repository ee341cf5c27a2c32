"""YAML in the 1.2 core schema (yaml.org/spec/1.2.2, section 10.3.2) with the line of every key.

PyYAML reads the syntax; its YAML 1.1 types are not used, so ``no`` and ``2024-01-01`` stay text.
"""

from __future__ import annotations

import re
from math import isinf, isnan
from typing import Any

from ldp_core.config.load import child
from ldp_core.errors import ConfigError

MAX_NODES = 200_000
MAX_DEPTH = 100
_TAG = "tag:yaml.org,2002:"
_PLAIN = "plain"
_NULL = re.compile(r"null|Null|NULL|~|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def parse_yaml(text: str, name: str) -> tuple[Any, dict[str, int]]:
    """Parse one YAML document.

    Returns:
        The value, and the line (from 1) of every key and list item by dotted key; ``""`` is the top.

    Raises:
        ConfigError: It is not YAML, or not data that JSON can say; names the line.
    """
    import yaml
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.resolver import BaseResolver
    from yaml.scanner import Scanner

    class Loader(Reader, Scanner, Parser, Composer, BaseResolver):
        """Nodes with marks; plain scalars keep a mark of their own instead of a YAML 1.1 type."""

        def __init__(self, stream: str) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)
            Composer.__init__(self)
            BaseResolver.__init__(self)

        def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
            if kind is yaml.ScalarNode:
                return _PLAIN if implicit[0] else f"{_TAG}str"
            return f"{_TAG}seq" if kind is yaml.SequenceNode else f"{_TAG}map"

    try:
        node = Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        raise ConfigError(
            f"not YAML: {', '.join(parts)}", file=name, line=mark.line + 1 if mark else None
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, max(error.position, 0)) + 1
        raise ConfigError(f"not YAML: {error.reason}", file=name, line=line) from None
    except RecursionError:
        raise ConfigError(f"nested deeper than {MAX_DEPTH} levels", file=name) from None
    if node is None:
        raise ConfigError("the file is empty", file=name)
    builder = _Builder(name)
    return builder.value(node, "", ()), builder.lines


class _Builder:
    """Values from nodes; ``lines`` fills up as keys are met."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[str, int] = {}
        self._built = 0

    def error(self, node: Any, message: str, key: str | None = None) -> ConfigError:
        return ConfigError(message, file=self.name, line=node.start_mark.line + 1, key=key or None)

    def value(self, node: Any, key: str, around: tuple[int, ...]) -> Any:
        self.lines.setdefault(key, node.start_mark.line + 1)
        self._built += 1
        if self._built > MAX_NODES:
            raise self.error(node, f"more than {MAX_NODES} values (aliases count each time)", key)
        if id(node) in around:
            raise self.error(node, "an anchor that contains itself", key)
        if len(around) > MAX_DEPTH:
            raise self.error(node, f"nested deeper than {MAX_DEPTH} levels")
        around = (*around, id(node))
        if node.id == "mapping":
            return self.mapping(node, key, around)
        if node.id == "sequence":
            self._tagged(node, "seq", key)
            return [self.value(item, f"{key}[{at}]", around) for at, item in enumerate(node.value)]
        return self.scalar(node, key)

    def mapping(self, node: Any, key: str, around: tuple[int, ...]) -> dict[str, Any]:
        self._tagged(node, "map", key)
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        for name_node, value_node in node.value:
            if name_node.id != "scalar":
                raise self.error(name_node, "a key must be text", key)
            name = self.text(name_node, key)
            line = name_node.start_mark.line + 1
            here = child(key, name)
            if name in found:
                raise self.error(name_node, f"the key stands twice, first on line {first[name]}", here)
            first[name] = line
            self.lines[here] = line
            found[name] = self.value(value_node, here, around)
        return found

    def _tagged(self, node: Any, kind: str, key: str) -> None:
        if node.tag != f"{_TAG}{kind}":
            raise self.error(node, f"the tag {_shown(node.tag)} is not of the core schema", key)

    def text(self, node: Any, key: str) -> str:
        """The text of a scalar; a pair of ``\\u`` escapes (as JSON writes them) is one character."""
        try:
            return str(node.value).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise self.error(node, "half of a surrogate pair in a text", key) from None

    def scalar(self, node: Any, key: str) -> Any:
        text = self.text(node, key)
        if node.tag == f"{_TAG}str":
            return text
        if node.tag == _PLAIN:
            return self._core(node, key, text)
        wanted = _KINDS.get(node.tag.removeprefix(_TAG))
        if wanted is None:
            raise self.error(node, f"the tag {_shown(node.tag)} is not of the core schema", key)
        value = self._core(node, key, text)
        if wanted is float and type(value) is int:
            return float(value)
        if type(value) is not wanted:
            raise self.error(node, f"{text!r} does not fit its tag {_shown(node.tag)}", key)
        return value

    def _core(self, node: Any, key: str, text: str) -> Any:
        """The core schema's reading of a plain scalar."""
        if _NULL.fullmatch(text):
            return None
        if _TRUE.fullmatch(text):
            return True
        if _FALSE.fullmatch(text):
            return False
        for pattern, base in ((_INT, 10), (_OCTAL, 8), (_HEX, 16)):
            if pattern.fullmatch(text):
                if len(text) > 1000:
                    raise self.error(node, "a number of more than 1000 digits", key)
                return int(text[2:] if base != 10 else text, base)
        if _SPECIAL.fullmatch(text):
            raise self.error(node, f"{text} is not a number that a config may hold", key)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if isinf(value) or isnan(value):
                raise self.error(node, f"{text} is out of range", key)
            return value
        return text


_KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool, "null": type(None)}


def _shown(tag: str) -> str:
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
