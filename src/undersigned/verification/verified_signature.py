"""The last stages of the checklist: an authentic signature, one bound to its content, and a verified one."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from undersigned.errors import cut_name
from undersigned.message.content import is_json
from undersigned.message.content_digest import RunningDigest
from undersigned.message.strict_json import AmbiguousJSON
from undersigned.signature.rules.coverage import signature_members

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.message.content import Content
    from undersigned.message.strict_json import JSONValue
    from undersigned.policy.operation import Operation
    from undersigned.replay.store import ContentClaim
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.url import CanonicalURL
    from undersigned.verification.screening import ParsedSignature


_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


# The stages are not frozen: the constructor of a frozen class sets each attribute through `object.__setattr__`, which
# takes four times as long.
@dataclass(slots=True, eq=False, repr=False)
class AuthenticatedSignature:
    """A signature that passed steps 0 to 10: the key's owner signed the covered components.

    Attributes:
        target: the canonical target that was signed.
        signature_base: the base that was signed.
        others: the other signatures of the message, if the profile asks for all of them.
    """

    candidate: ParsedSignature
    key: VerificationKey
    target: CanonicalURL
    signature_base: str
    others: tuple[AuthenticatedSignature, ...] = ()

    @property
    def repeatable(self) -> str | None:
        """A digest of method, target and content, by which a repeated request is recognized.

        None if the profile does not accept a request again.
        """
        candidate, rule = self.candidate, self.candidate.profile.replay
        if not rule.accepts_repeats or rule.field not in candidate.request.fields.combined:
            return None
        declared = () if candidate.digest is None else sorted(candidate.digest.expected.items())
        digests = " ".join([f"{name}={digest.hex()}" for name, digest in declared])
        text = f"{candidate.request.method} {self.target.target_uri} {digests}"
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    @property
    def remembered(self) -> str | None:
        """The text that a replay store remembers instead of a nonce, or None for nothing (RFC 9421 section 7.2.2)."""
        candidate, rule = self.candidate, self.candidate.profile.replay
        if rule.remembers == "nothing":
            return None
        value = candidate.request.fields.combined.get(rule.field) if rule.remembers == "field" else None
        if value is None and rule.remembers == "field" and candidate.request.method in _SAFE:
            return None
        # Never the signature: anybody can turn an ECDSA signature into another valid one over the same base.
        return value or f"base:{hashlib.sha256(self.signature_base.encode('ascii')).hexdigest()}"

    def __repr__(self) -> str:
        """Return the keyid only, as target and base may contain secrets."""
        return f"<AuthenticatedSignature: keyid {self.candidate.keyid!r}>"

    def running_digest(self, begun: bytes = b"") -> RunningDigest | None:
        """Return the digest to feed with the content, or None if nothing covers the content.

        Args:
            begun: content that has been read already. The digest starts with it.
        """
        declared = self.candidate.digest
        return None if declared is None else RunningDigest(declared, begun)

    def bind(self, digest: RunningDigest | None, *, now: float) -> Bound:
        """Check the digest of the content (AdCP step 11).

        Args:
            digest: the digest of `running_digest`, fed with the content.
            now: the verifier's clock after the content was read. If the signature expired in the meantime, the store
                may have forgotten its nonce. So a sender could delay the body and replay the request.

        Raises:
            SignatureError: the signature has expired, or the content has another digest than the signed one.
        """
        candidate = self.candidate
        until, rule = candidate.until, candidate.profile.replay
        if now > until:
            raise candidate.profile.error(
                "signature_window_invalid", step=5, detail="the signature expired while the body was read"
            )
        if rule.keeps_for is not None:
            until = now + rule.keeps_for if math.isinf(until) else max(until, now + rule.keeps_for)
        remembered = candidate.nonce if rule.remembers == "nonce" else ""
        bound = Bound(self, remembered or self.remembered, until)
        if candidate.digest is not None and (digest is None or not digest.matches()):
            raise candidate.profile.error(
                "signature_digest_mismatch", step=11, detail="the body does not match the signed Content-Digest"
            )
        return bound


@dataclass(slots=True, eq=False)
class Bound:
    """A signature that passed steps 0 to 11: the content, if it is covered, is the content that was signed.

    Attributes:
        remembered: the text that a replay store remembers of the signature, or None for nothing.
        until: when the store may forget it, seconds since the epoch (AdCP step 13).
    """

    proven: AuthenticatedSignature
    remembered: str | None
    until: float

    def accept(self, claim: ContentClaim, content: Content) -> VerifiedSignature:
        """Check the replay store's answer, then the content (AdCP steps 12 to 14).

        Args:
            claim: the answer of the replay store for key and nonce.
            content: the content as it was read. It is parsed only if its type is JSON.

        Raises:
            SignatureError: the nonce was seen, the cap is reached, or a JSON object repeats a key.
        """
        proven = self.proven
        candidate = proven.candidate
        if claim != "fresh":
            self._check_claim(claim)
        if candidate.request.has_body and is_json(candidate.request.fields):
            try:
                content.json()
            except AmbiguousJSON as ambiguous:
                raise self._ambiguous(ambiguous, content) from None
            except ValueError:
                # No JSON reader accepts this content, so two readers cannot disagree. The application may reject it.
                pass
        verified: Any = _Unfrozen()
        verified.keyid = candidate.keyid
        verified.signer = proven.key.owner
        verified.label = candidate.label
        verified.tag = candidate.parameters.get("tag", "")
        verified.algorithm = candidate.algorithm or proven.key.only_algorithm(candidate.profile.algorithms)
        verified.created = candidate.created
        verified.expires = candidate.expires
        verified.nonce = candidate.nonce
        verified.components = candidate.coverage.texts
        verified.method = candidate.request.method
        verified.target = proven.target
        verified.signature_base = proven.signature_base
        verified.content = content
        verified.operation = None
        verified.repeated = claim == "same"
        verified.others = ()
        # An application gets this one, so it is frozen once it is made.
        verified.__class__ = VerifiedSignature
        made: VerifiedSignature = verified
        return made

    def _check_claim(self, claim: ContentClaim) -> None:
        """Check that the store says that the signature is not replayed (AdCP steps 12 and 13)."""
        profile = self.proven.candidate.profile
        if claim == "seen":
            raise profile.error("signature_replayed", step=12, detail="the keyid and nonce were seen before")
        if claim == "full":
            raise profile.error("signature_rate_abuse", step=13, detail="the key's cap of live nonces is reached")
        if claim != "same" or not profile.replay.accepts_repeats:
            raise profile.error(
                "signature_store_unavailable",
                step=13,
                detail="the replay store returned something other than fresh, seen or full: fix the store",
            )

    def _ambiguous(self, ambiguous: AmbiguousJSON, content: Content) -> SignatureError:
        candidate = self.proven.candidate
        repeated = ", ".join(cut_name(name) for name in ambiguous.duplicates)
        return candidate.profile.error(
            "body_malformed",
            step=14,
            detail=str(ambiguous),
            received=f"nonce {candidate.nonce}, {len(content)} bytes, repeated keys: {repeated}",
        )


@dataclass(frozen=True, slots=True)
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
        repeated: whether the same request was accepted before, with the same Idempotency-Key, by a profile that accepts
            that. Answer as you did then, and do nothing a second time.
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

    def covers(self, other: VerifiedSignature) -> bool:
        """Return whether this signature covers another one of the same message, and all that the other one covers."""
        return {*signature_members(other.label), *other.components} <= set(self.components)

    def json(self) -> JSONValue:
        """Return the verified content as JSON, parsed strictly and once.

        Raises:
            AmbiguousJSON: two parsers could read it differently, and its Content-Type is not JSON.
            ValueError: it is not JSON.
        """
        return self.content.json()


class _Unfrozen:
    """A `VerifiedSignature` while it is made."""

    __slots__ = VerifiedSignature.__slots__
