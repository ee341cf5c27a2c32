"""Keys that catalogs other than the local one share."""

from __future__ import annotations

from ldp_core.shape import Key, MapOf, Scalar, Text

NAMESPACE = Key("namespace", Text(), "The namespace of the table; the catalog's identifier when absent.")
IDENTIFIER = Key("identifier", Text(), "The namespace of the table where no namespace is given.")
NAME = Key("name", Text(), "The catalog's name, as it stands in its rows and in messages.")
PROPERTIES = Key(
    "properties",
    MapOf(Scalar()),
    "Properties that pyiceberg takes, such as s3.endpoint or s3.region; no secrets.",
)
PROPERTIES_ENV = Key(
    "properties_env",
    MapOf(Text()),
    "Properties whose values stand in environment variables: the property to the variable's name.",
)


def type_key(*words: str, default: bool = False) -> Key:
    """The ``type`` key of a provider: its entry name and its other spellings."""
    return Key(
        "type",
        Text(choices=words, ignore_case=True),
        "The kind of catalog.",
        required=not default,
        default=words[0] if default else None,
    )
