"""Reading: the choices that RFC 9421 leaves to the reader of a message, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from http_sf.retrofit import retrofit

if TYPE_CHECKING:
    from collections.abc import Mapping

FieldType: TypeAlias = Literal["dictionary", "list", "item"]
"""A type of a structured field (RFC 9651 section 3)."""

_DICTIONARIES: Final = (
    "accept-signature",
    "content-digest",
    "integrity-policy",
    "integrity-policy-report-only",
    "no-vary-search",
    "permissions-policy",
    "repr-digest",
    "reporting-endpoints",
    "signature",
    "signature-input",
    "signature-key",
    "ucp-agent",
    "unencoded-digest",
    "use-as-dictionary",
    "want-content-digest",
    "want-repr-digest",
    "want-unencoded-digest",
)
_LISTS: Final = (
    "accept-query",
    "cache-group-invalidation",
    "cache-groups",
    "client-cert-chain",
    "speculation-rules",
)
_ITEMS: Final = (
    "available-dictionary",
    "capsule-protocol",
    "client-cert",
    "deprecation",
    "dictionary-id",
    "idempotency-key",
    "incremental",
)

FIELD_TYPES: Final[Mapping[str, FieldType]] = {
    **dict.fromkeys(_DICTIONARIES, "dictionary"),
    **dict.fromkeys(_LISTS, "list"),
    **dict.fromkeys(_ITEMS, "item"),
}
"""The types of fields that were defined as structured fields, by the IANA registry and the drafts of the profiles."""


def field_type(name: str, own: Mapping[str, FieldType]) -> str | None:
    """Return the type of the field `name` (lower case), or None if it is not known.

    Older fields that RFC 9651 can parse have the type of draft-ietf-httpbis-retrofit.

    Args:
        name: the name of the field.
        own: types that the application adds; they come first.
    """
    return own.get(name) or FIELD_TYPES.get(name) or retrofit.get(name)


class Reading(NamedTuple):
    """A set of choices for reading a message, where RFC 9421 leaves a choice or needs facts that the message lacks.

    Attributes:
        lower_case_methods: whether a method may have lower-case letters. RFC 9421 section 2.2.1 keeps its case, but
            many programs change it. AdCP allows upper case only.
        repeated_keys: whether the last one counts if a label or a parameter is repeated (RFC 9651 sections 4.2.2 and
            4.2.3.2). Programs differ in which one they use, so AdCP rejects such a field.
        field_types: the types of the application's own structured fields, by name in lower case. `sf` needs them.
    """

    lower_case_methods: bool = False
    repeated_keys: bool = False
    field_types: Mapping[str, FieldType] = {}


STRICT: Final = Reading()
"""A message has one reading only, or it is rejected: what the AdCP profiles ask for."""

LENIENT: Final = Reading(lower_case_methods=True, repeated_keys=True)
"""A message is read as the text of RFC 9421 and RFC 9651 has it, even if some programs read it otherwise."""
