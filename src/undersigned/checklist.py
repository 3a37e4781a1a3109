"""The verifier's checklist, one stage a type (AdCP verifier checklist, RFC 9421 section 3.2).

    screen(request) -> Candidate -> identify(key) -> Identified -> prove(full) -> Proven
        -> bind(digest) -> Bound -> accept(claim, content) -> VerifiedSignature

Each stage is made by the one before it, so a check out of order does not type-check. Nothing here asks anybody
anything: keys, cap, digest and claim come in as arguments, and a driver in `undersigned.verify` fetches them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .base import signature_base
from .components import ComponentValues, UnresolvableComponent, received_target
from .errors import MalformedURL
from .strict_json import AmbiguousJSON, loads
from .url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .digest import RunningDigest
    from .errors import Reason, SignatureError, Step
    from .keys import VerificationKey
    from .replay import Claim
    from .revocation import RevocationList
    from .screening import Candidate
    from .url import CanonicalURL


@dataclass(frozen=True, slots=True)
class VerifiedSignature:
    """A signature that passed every step, and what it covers.

    Attributes:
        keyid: the key that signed.
        label: the signature's label; not itself covered.
        tag: the profile's tag.
        algorithm: the RFC 9421 algorithm name.
        created: seconds since the epoch.
        expires: seconds since the epoch.
        nonce: the nonce, now spent.
        components: the covered component identifiers, as they stand in the base.
        method: the method that was signed.
        target_uri: the canonical target URI that was signed.
        authority: the canonical authority that was signed.
        signature_base: the base; it may hold header values, so it is not in the repr.
    """

    keyid: str
    label: str
    tag: str
    algorithm: str
    created: int
    expires: int
    nonce: str
    components: tuple[str, ...]
    method: str
    target_uri: str = field(repr=False)
    authority: str
    signature_base: str = field(repr=False)


def identify(
    candidate: Candidate,
    key: VerificationKey | None,
    *,
    revocations: RevocationList | None,
) -> Identified:
    """Judge the key that was found for the candidate's keyid (steps 7 to 9).

    Raises:
        SignatureError: the key is unknown, not for this purpose, revoked, or the revocation list is stale.
    """
    if key is None:
        raise candidate.error("signature_key_unknown", step=7, detail="no key source knows the keyid")
    misuse = key.misuse(candidate.algorithm, candidate.profile.purposes)
    if misuse:
        raise candidate.error("signature_key_purpose_invalid", step=8, detail=misuse)
    if revocations is not None:
        if candidate.keyid in revocations.revoked:
            raise candidate.error("signature_key_revoked", step=9, detail="the revocation list names the key")
        if revocations.is_stale(candidate.now):
            raise candidate.error(
                "signature_revocation_stale", step=9, detail="the revocation list is beyond its grace: fetch a new one"
            )
    return Identified(candidate, key)


@dataclass(frozen=True, slots=True)
class Identified:
    """Steps 0 to 9 hold: a key was found that may verify this signature."""

    candidate: Candidate
    key: VerificationKey

    def prove(self, *, full: bool) -> Proven:
        """Check the cap, the target, the authority and the signature over the base (steps 9a and 10).

        Args:
            full: whether the replay store's cap for the keyid is reached.

        Raises:
            SignatureError: one of them does not hold.
        """
        candidate = self.candidate
        if full:
            raise candidate.error("signature_rate_abuse", step="9a", detail="the key's cap of live nonces is reached")
        try:
            target = received_target(candidate.request)
        except MalformedURL as malformed:
            raise candidate.error("target_uri_malformed", step=10, detail=f"{malformed.rule}: {malformed}") from None
        try:
            base = self._base(target)
        except UnresolvableComponent as unresolvable:
            raise candidate.error("signature_invalid", step=10, detail=str(unresolvable)) from None
        if self._verifies(base):
            return Proven(candidate, self.key, target, base)
        if target.query is None and candidate.covers_unseen_query:
            target = canonicalize(f"{target.target_uri}?")
            other = self._base(target)
            if self._verifies(other):
                return Proven(candidate, self.key, target, other)
        raise candidate.error(
            "signature_invalid", step=10, detail="the signature is not the key's over this base", signature_base=base
        )

    def _base(self, target: CanonicalURL) -> str:
        candidate = self.candidate
        values = ComponentValues(candidate.request, target)
        return signature_base(values, candidate.input.components, candidate.input.text)

    def _verifies(self, base: str) -> bool:
        return self.key.verifies(self.candidate.signature, base.encode("ascii"))


@dataclass(frozen=True, slots=True)
class Proven:
    """Steps 0 to 10 hold: the key's owner signed the covered components, `content-digest` being one or not.

    Attributes:
        target: the canonical target that was signed.
        signature_base: the base that was signed.
    """

    candidate: Candidate
    key: VerificationKey
    target: CanonicalURL
    signature_base: str = field(repr=False)

    @property
    def covers_body(self) -> bool:
        """Whether the signature covers a digest of the content, so that the content must be read and bound."""
        return self.candidate.digest is not None

    def running_digest(self) -> RunningDigest | None:
        """Return the digest to feed the content to while it is read, or None where nothing covers the content."""
        return None if self.candidate.digest is None else self.candidate.digest.running()

    def bind(self, digest: RunningDigest | None) -> Bound:
        """Bind the content that `digest`, made by `running_digest`, was fed (step 11).

        Raises:
            SignatureError: the content is not the one whose digest was signed.
        """
        if self.covers_body and (digest is None or not digest.matches()):
            raise self.error("signature_digest_mismatch", step=11, detail="the content has another digest")
        return Bound(self)

    def error(self, reason: Reason, *, step: Step, detail: str) -> SignatureError:
        """Return the error for `reason`, with the keyid and the base as evidence."""
        return self.candidate.error(reason, step=step, detail=detail, signature_base=self.signature_base)


@dataclass(frozen=True, slots=True)
class Bound:
    """Steps 0 to 11 hold: the content is the one that was signed, where it is covered at all."""

    proven: Proven

    def accept(self, claim: Claim, content: Sequence[bytes]) -> VerifiedSignature:
        """Judge the replay store's answer, then the content (steps 12 to 14).

        Args:
            claim: what the store answered for the candidate's keyid and nonce.
            content: the content in chunks; joined only where it is JSON.

        Raises:
            SignatureError: the nonce was seen, the cap is reached, or a JSON object repeats a key.
        """
        proven = self.proven
        if claim == "seen":
            raise proven.error("signature_replayed", step=12, detail="the keyid and nonce were seen before")
        if claim == "full":
            raise proven.error("signature_rate_abuse", step=13, detail="the key's cap of live nonces is reached")
        if proven.candidate.is_json:
            self._check_json(content)
        candidate = proven.candidate
        return VerifiedSignature(
            keyid=candidate.keyid,
            label=candidate.label,
            tag=candidate.profile.tag,
            algorithm=candidate.algorithm,
            created=candidate.created,
            expires=candidate.expires,
            nonce=candidate.nonce,
            components=tuple([component.text for component in candidate.input.components]),
            method=candidate.request.method,
            target_uri=proven.target.target_uri,
            authority=proven.target.authority,
            signature_base=proven.signature_base,
        )

    def _check_json(self, content: Sequence[bytes]) -> None:
        body = b"".join(content)
        try:
            loads(body)
        except AmbiguousJSON as ambiguous:
            raise self.proven.error("body_malformed", step=14, detail=str(ambiguous)) from None
        except ValueError:
            # Content that is no JSON at all is the application's to refuse: there is nothing to read two ways.
            return
