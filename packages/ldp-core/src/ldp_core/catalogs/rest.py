"""A catalog behind the Iceberg REST protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core.catalogs._environment import catalog_name, namespace_of, namespace_problems
from ldp_core.catalogs._shapes import IDENTIFIER, NAME, NAMESPACE, PROPERTIES, PROPERTIES_ENV, type_key
from ldp_core.errors import LDPError, Problem
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

SHAPE = Shape(
    keys=(
        type_key("rest"),
        Key("uri", Text(), "The address of the catalog, such as https://catalog.example/api.", required=True),
        Key("warehouse", Text(), "The warehouse: a name or a location, as the catalog wants it."),
        NAME,
        NAMESPACE,
        IDENTIFIER,
        Key("token_env", Text(), "The environment variable that holds a bearer token."),
        Key("credential_env", Text(), "The environment variable that holds client id and secret: id:secret."),
        PROPERTIES,
        PROPERTIES_ENV,
    ),
    at_most_one=(("token_env", "credential_env"),),
    doc="A catalog that speaks the Iceberg REST protocol.",
)


class RestProvider:
    """``type: rest``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """No namespace, or an address that is none."""
        found = namespace_problems(spec)
        uri = spec.get("uri")
        if isinstance(uri, str) and not uri.lower().startswith(("http://", "https://")):
            found.append(Problem("a REST catalog's uri begins with http:// or https://", key="uri"))
        return found

    def namespace(self, spec: Spec) -> str:
        """``namespace``, else ``identifier``."""
        return namespace_of(spec)

    def open(self, spec: Spec, *, create: bool) -> Catalog:
        """Open the catalog; the server is there or it is not, so ``create`` makes no difference.

        Raises:
            CatalogError: It does not answer.
        """
        from pyiceberg.catalog.rest import RestCatalog

        from ldp_core.catalogs._environment import from_environment, properties_of, refuse
        from ldp_core.catalogs.tables import unreachable

        refuse(self.problems(spec), spec)
        properties = {**properties_of(spec), "uri": str(spec.get("uri"))}
        for key, value in (
            ("warehouse", spec.get("warehouse")),
            ("token", from_environment(spec, "token_env")),
            ("credential", from_environment(spec, "credential_env")),
        ):
            if value:
                properties[key] = str(value)
        name = catalog_name(spec)
        try:
            return RestCatalog(name, **properties)
        except LDPError:
            raise
        except Exception as error:
            raise unreachable(name, error) from error


PROVIDER = RestProvider()
