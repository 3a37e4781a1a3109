"""The types of structured fields by name (RFC 9651 section 3), which a covered component with `sf` or `key` needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from http_sf.retrofit import retrofit

if TYPE_CHECKING:
    from collections.abc import Mapping

FieldType: TypeAlias = Literal["dictionary", "list", "item"]
"""A type of a structured field (RFC 9651 section 3)."""

_DICTIONARIES: Final = (
    "accept-signature", "content-digest", "integrity-policy", "integrity-policy-report-only", "no-vary-search",
    "permissions-policy", "repr-digest", "reporting-endpoints", "signature", "signature-input", "signature-key",
    "ucp-agent", "unencoded-digest", "use-as-dictionary", "want-content-digest", "want-repr-digest",
    "want-unencoded-digest",
)  # fmt: skip
_LISTS: Final = ("accept-query", "cache-group-invalidation", "cache-groups", "client-cert-chain", "speculation-rules")
_ITEMS: Final = (
    "available-dictionary", "capsule-protocol", "client-cert", "deprecation", "dictionary-id", "idempotency-key",
    "incremental",
)  # fmt: skip

FIELD_TYPES: Final[Mapping[str, FieldType]] = {
    **dict.fromkeys(_DICTIONARIES, "dictionary"),
    **dict.fromkeys(_LISTS, "list"),
    **dict.fromkeys(_ITEMS, "item"),
}
"""The types of fields that were defined as structured fields, by the IANA registry and the drafts of the profiles."""


def field_type(name: str, own: Mapping[str, FieldType]) -> FieldType | None:
    """Return the type of the field `name` (lower case), or None if it is not known.

    Older fields that RFC 9651 can parse have the type of draft-ietf-httpbis-retrofit.

    Args:
        name: the name of the field.
        own: types that the application adds; they come first.
    """
    return own.get(name) or FIELD_TYPES.get(name) or cast("FieldType | None", retrofit.get(name))
