"""Signed fields: the header fields that sign one message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.signature.draft import Draft


@dataclass(frozen=True, slots=True)
class SignedFields:
    """The header fields that sign one request. Iterating yields them: `[*headers, *signer.sign(request)]`.

    Attributes:
        fields: the header fields to add, as (name, value) pairs.
        components: the names of the covered components, such as `@method` and `content-type`.
        target_uri: the canonical target URI that was signed. Send the request to it.
        signature_base: the base that was signed. It may contain header values, so the repr leaves it out.
    """

    fields: tuple[tuple[str, str], ...]
    components: tuple[str, ...]
    target_uri: str = field(repr=False)
    signature_base: str = field(repr=False)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the header fields to add."""
        return iter(self.fields)


class _Unfrozen:
    """A `SignedFields` while it is made."""

    __slots__ = SignedFields.__slots__


def signed_fields(fields: tuple[tuple[str, str], ...], draft: Draft) -> SignedFields:
    """Return the header fields that sign the message of a draft."""
    signed: Any = _Unfrozen()
    signed.fields = fields
    signed.components = draft.names
    signed.target_uri = draft.target_uri
    signed.signature_base = draft.base
    # A frozen class sets each attribute through `object.__setattr__`, which takes several times as long.
    signed.__class__ = SignedFields
    made: SignedFields = signed
    return made
