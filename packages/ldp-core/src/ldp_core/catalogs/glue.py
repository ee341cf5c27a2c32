"""The AWS Glue data catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core.catalogs._environment import catalog_name, namespace_of, namespace_problems
from ldp_core.catalogs._shapes import IDENTIFIER, NAME, NAMESPACE, PROPERTIES, PROPERTIES_ENV, type_key
from ldp_core.errors import EngineNotFound, Problem
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

SHAPE = Shape(
    keys=(
        type_key("glue"),
        Key("warehouse", Text(), "The location below which tables are made, such as s3://bucket/warehouse."),
        NAME,
        NAMESPACE,
        IDENTIFIER,
        PROPERTIES,
        PROPERTIES_ENV,
    ),
    doc="The AWS Glue data catalog; a namespace is a Glue database.",
)


class GlueProvider:
    """``type: glue``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """No namespace, or one of several levels."""
        found = namespace_problems(spec)
        value = spec.get("namespace") or spec.get("identifier")
        if not found and isinstance(value, str) and "." in value:
            found.append(Problem("a Glue database has one level: no dots", key="namespace"))
        return found

    def namespace(self, spec: Spec) -> str:
        """``namespace``, else ``identifier``."""
        return namespace_of(spec)

    def open(self, spec: Spec, *, create: bool) -> Catalog:
        """Open the catalog; it exists with the account, so ``create`` makes no difference.

        Raises:
            EngineNotFound: boto3 is not installed.
            CatalogError: The client cannot be made.
        """
        from ldp_core.catalogs._environment import properties_of, refuse
        from ldp_core.catalogs.tables import unreachable

        refuse(self.problems(spec), spec)
        try:
            from pyiceberg.catalog.glue import GlueCatalog
        except ImportError as error:
            raise EngineNotFound(
                "a Glue catalog needs boto3, which is not installed", hint='pip install "ldp-core[glue]"'
            ) from error
        properties = properties_of(spec)
        if spec.get("warehouse"):
            properties["warehouse"] = str(spec.get("warehouse"))
        name = catalog_name(spec)
        try:
            return GlueCatalog(name, **properties)
        except Exception as error:
            raise unreachable(name, error) from error


PROVIDER = GlueProvider()
