"""Signed fields: the header fields that sign one message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
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
