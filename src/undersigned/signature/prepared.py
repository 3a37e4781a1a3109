"""Prepared signatures: a signature base that is signed somewhere else, kept together with its request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undersigned.signature.draft import Draft


@dataclass(frozen=True, slots=True)
class PreparedSignature:
    """A signature that is made somewhere else. `Signer.attach` makes header fields of this and the signature's bytes.

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
