"""What an application gets of a signature that passed every step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undersigned.message.content import Content
    from undersigned.message.strict_json import JSONValue
    from undersigned.policy.operation import Operation
    from undersigned.url import CanonicalURL


@dataclass(slots=True)
class VerifiedSignature:
    """A signature that passed every step, with what it covers.

    Attributes:
        keyid: the key that signed.
        signer: the owner of the key by the key source, or "" if the source does not say.
        label: the signature's label; not itself covered.
        tag: the signature's tag, or "" if it has none.
        algorithm: the RFC 9421 algorithm name.
        created: seconds since the epoch, or None if the signature does not say.
        expires: seconds since the epoch, or None if the signature does not say.
        nonce: the nonce, now used up, or "" if the signature has none.
        components: the covered component identifiers, as they appear in the base.
        method: the method that was signed.
        target: the canonical target that was signed.
        signature_base: the signature base. It may contain header values, so it is not in the repr.
        content: the content that was verified, empty if nothing covers it. It is not in the repr.
        operation: the operation of the request, if a policy has resolved it.
        repeated: whether the same request was accepted before, with an equal Idempotency-Key or base, by a profile
            that accepts that. Answer as you did then, and do nothing a second time.
        others: the other signatures of the message, if the profile asks for all of them.
    """

    keyid: str
    signer: str
    label: str
    tag: str
    algorithm: str
    created: int | None
    expires: int | None
    nonce: str
    components: tuple[str, ...]
    method: str
    target: CanonicalURL = field(repr=False)
    signature_base: str = field(repr=False)
    content: Content = field(repr=False)
    operation: Operation | None = None
    repeated: bool = False
    others: tuple[VerifiedSignature, ...] = ()

    @property
    def target_uri(self) -> str:
        """The canonical target URI that was signed."""
        return self.target.target_uri

    @property
    def authority(self) -> str:
        """The canonical authority that was signed."""
        return self.target.authority

    def json(self) -> JSONValue:
        """Return the verified content as JSON, parsed strictly and once.

        Raises:
            AmbiguousJSON: two parsers could read it differently, and its Content-Type is not JSON.
            ValueError: it is not JSON.
        """
        return self.content.json()
