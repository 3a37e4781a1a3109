"""Prepared signatures: what must be signed somewhere else, kept together with the request that it is for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from undersigned.message.request import Request
    from undersigned.message.response import Response


class Draft(NamedTuple):
    """A signature without its bytes.

    Attributes:
        request: the request.
        target_uri: its canonical target URI.
        names: the names of the covered components.
        digest: the Content-Digest to add, or None.
        label: the label of the signature.
        parameters: the value of `@signature-params`.
        base: the signature base.
    """

    request: Request | Response
    target_uri: str
    names: tuple[str, ...]
    digest: str | None
    label: str
    parameters: str
    base: str

    def changed_in(self, request: Request) -> str:
        """Return which part of `request` is not the prepared one, or ""."""
        own = self.request
        if request.method != own.method:
            return "method"
        if request.url != own.url:
            return "URL"
        if [*request.fields] != [*own.fields]:
            return "header fields"
        return "" if (request.body, request.has_body) == (own.body, own.has_body) else "content"


@dataclass(frozen=True, slots=True)
class PreparedSignature:
    """What must be signed somewhere else. `Signer.attach` makes header fields of it and the signature.

    Attributes:
        keyid: the name of the key that must sign.
        algorithm: the RFC 9421 name of its algorithm.
        signature_base: the bytes to sign, not a digest of them. They may contain header values, so the repr leaves
            them out.
        components: the names of the covered components.
        target_uri: the canonical target URI. Send the request to it.
        draft: the request and the parameters, for `Signer.attach`.
    """

    keyid: str
    algorithm: str
    signature_base: bytes = field(repr=False)
    components: tuple[str, ...]
    target_uri: str = field(repr=False)
    draft: Draft = field(repr=False)
