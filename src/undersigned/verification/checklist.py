"""The verifier's checklist: each stage has its own type (AdCP verifier checklist, RFC 9421 section 3.2).

    screen(request) -> ParsedSignature -> identify(keys) -> Identified -> prove(full) -> AuthenticatedSignature
        -> bind(digest) -> Bound -> accept(claim, content) -> VerifiedSignature

Each stage is made by the stage before it, so a check out of order does not type-check. Nothing here does IO: keys, cap,
digest and claim are arguments, which `undersigned.verification.verifier` fetches.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from undersigned.errors import MalformedURL, cut_name
from undersigned.limits import LONGEST_BASE, MOST_CANDIDATES, MOST_EFFORT, MOST_EFFORT_TWICE
from undersigned.message.content_type import is_json
from undersigned.message.request import Request
from undersigned.message.request_target import received_target, typed_target
from undersigned.message.strict_json import AmbiguousJSON
from undersigned.signature.components import UnresolvableComponent, with_empty_query
from undersigned.signature.effort import effort, effort_of_base
from undersigned.signature.verification_key import VerificationKey
from undersigned.url import CanonicalURL
from undersigned.verification.verified_signature import VerifiedSignature

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.replay.store import Claim
    from undersigned.verification.revocation import RevocationList
    from undersigned.verification.screening import ParsedSignature


_NOT_OVER_THIS_BASE = (
    "the key did not sign this base: compare it with the sender's base line by line. Another scheme or prefix in "
    "@target-uri: correct origins=. Another path, query or @authority: a proxy rewrites the target or Host. Equal "
    "bases: another key, or a changed signature"
)
_TOO_MUCH = (
    "header fields, target and covered components ask for too much work together: send fewer header fields, percent "
    "signs in the path, covered components with parameters, or signature parameters"
)


def identify(candidate: ParsedSignature, keys: Sequence[VerificationKey]) -> Identified:
    """Check the keys that were found for the keyid (AdCP steps 7 and 8).

    Raises:
        SignatureError: no key was found, or none of them may verify the signature.
    """
    profile = candidate.profile
    usable: list[VerificationKey] = []
    misuse = ""
    # The usual types come first, because a check against `Sequence` takes a third of a microsecond.
    for key in keys if isinstance(keys, (tuple, list, Sequence)) else (None,):
        if not isinstance(key, VerificationKey):
            raise profile.error(
                "signature_jwks_unavailable",
                step=7,
                detail="the key source returned something other than a sequence of keys: fix the source",
            )
        fault = key.misuse(candidate.algorithm, profile.key)
        if not fault and not candidate.algorithm and not key.only_algorithm(profile.algorithms):
            fault = "the key is not for exactly one of the profile's algorithms"
        if not fault and len(usable) < MOST_CANDIDATES:
            usable.append(key)
        misuse = misuse or fault
    if not usable and misuse:
        raise profile.error("signature_key_purpose_invalid", step=8, detail=misuse)
    if not usable:
        raise profile.error("signature_key_unknown", step=7, detail="no key source knows the keyid")
    return Identified(candidate, usable)


class Identified(NamedTuple):
    """A signature that passed steps 0 to 8: keys were found that may verify it.

    Attributes:
        keys: one to four keys, the most likely first.
    """

    candidate: ParsedSignature
    keys: Sequence[VerificationKey]

    def check_revocations(self, lists: Sequence[RevocationList | None]) -> Identified:
        """Return a copy without the keys that are revoked or whose revocation list is stale (step 9).

        Args:
            lists: for each key, the revocation list that applies to it, or None.

        Raises:
            SignatureError: no key is left. It is the error of the first key.
        """
        faults = [self._revocation_fault(revocations) for revocations in lists]
        left = [key for key, fault in zip(self.keys, faults, strict=True) if fault is None]
        if not left and faults[0] is not None:
            raise faults[0]
        return Identified(self.candidate, left)

    def _revocation_fault(self, revocations: RevocationList | None) -> SignatureError | None:
        candidate = self.candidate
        if revocations is None:
            return None
        if candidate.keyid in revocations.revoked:
            return candidate.profile.error("signature_key_revoked", step=9, detail="the revocation list names the key")
        if revocations.is_stale(candidate.now):
            detail = "the revocation list is too old: fetch a new one"
            return candidate.profile.error("signature_revocation_stale", step=9, detail=detail)
        return None

    def prove(self, full: Sequence[bool]) -> AuthenticatedSignature:
        """Check the cap, the target, the authority and the signature over the base (steps 9a and 10).

        Args:
            full: for each key, whether the replay store's cap is reached.

        Raises:
            SignatureError: a check failed.
        """
        candidate, keys = self.candidate, self.keys
        if any(full):
            keys = [key for key, is_full in zip(keys, full, strict=True) if not is_full]
        if not keys:
            raise self._rate_abuse()
        spent = candidate.parsing + effort(candidate.request, candidate.coverage.components)
        self._check_effort(spent)
        target, signed = self._targets()
        try:
            base = candidate.base(signed)
        except UnresolvableComponent as unresolvable:
            raise self._invalid(str(unresolvable)) from None
        if len(base) > LONGEST_BASE:
            raise self._invalid(f"the signature base has more than {LONGEST_BASE} characters: cover less")
        spent += effort_of_base(base)
        self._check_effort(spent)
        octets, named, accepted = base.encode("ascii"), candidate.algorithm, candidate.profile.algorithms
        for key in keys:
            if key.verifies(candidate.signature, octets, algorithm=named or key.only_algorithm(accepted)):
                return AuthenticatedSignature(candidate, key, target, base)
        if target.query is None and candidate.covers_unseen_query and spent <= MOST_EFFORT_TWICE:
            proven = self._with_empty_query(keys, target, base)
            if proven is not None:
                return proven
        # The signature may be by a key whose cap is reached. The check of the cap comes before the signature's check.
        error = self._rate_abuse() if len(keys) < len(self.keys) else self._invalid(_NOT_OVER_THIS_BASE)
        error.signature_base = base
        raise error

    def _targets(self) -> tuple[CanonicalURL, CanonicalURL]:
        """Return the canonical target, and the target as the profile signs it."""
        message, profile = self.candidate.request, self.candidate.profile
        request = message if isinstance(message, Request) else cast("Request", message.request)
        try:
            target = received_target(request)
            return target, target if profile.target == "canonical" else typed_target(request.url, target)
        except MalformedURL as malformed:
            # The detail has only the name of the rule, because the message may quote the URL.
            detail = f"the rule {malformed.rule!r} rejects the target URI or an authority"
            raise profile.error("target_uri_malformed", step=10, detail=detail) from None

    def _check_effort(self, spent: int) -> None:
        if spent > MOST_EFFORT:
            raise self._invalid(_TOO_MUCH)

    def _with_empty_query(
        self, keys: Sequence[VerificationKey], target: CanonicalURL, base: str
    ) -> AuthenticatedSignature | None:
        """Return the signature if it verifies for a target that ends in a `?` which the server does not show."""
        candidate = self.candidate
        target = CanonicalURL(f"{target.target_uri}?", target.authority)
        base = with_empty_query(base, candidate.coverage.components)
        octets, named, accepted = base.encode("ascii"), candidate.algorithm, candidate.profile.algorithms
        for key in keys:
            if key.verifies(candidate.signature, octets, algorithm=named or key.only_algorithm(accepted)):
                return AuthenticatedSignature(candidate, key, target, base)
        return None

    def _rate_abuse(self) -> SignatureError:
        detail = "the key's cap of live nonces is reached"
        return self.candidate.profile.error("signature_rate_abuse", step="9a", detail=detail)

    def _invalid(self, detail: str) -> SignatureError:
        return self.candidate.profile.error("signature_invalid", step=10, detail=detail)


class AuthenticatedSignature(NamedTuple):
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
    def remembered(self) -> str | None:
        """What a replay store remembers instead of a nonce, or None if that is nothing (RFC 9421 section 7.2.2)."""
        candidate, rule = self.candidate, self.candidate.profile.replay
        if rule.remembers == "nothing":
            return None
        value = candidate.request.fields.combined.get(rule.field) if rule.remembers == "field" else None
        # Never the signature: the owner of an ECDSA key, or anybody else, can turn one into another for the same base.
        return value or f"base:{hashlib.sha256(self.signature_base.encode('ascii')).hexdigest()}"

    def __repr__(self) -> str:
        """Return who signed. Target and base may contain secrets."""
        return f"<AuthenticatedSignature: keyid {self.candidate.keyid!r}>"

    def running_digest(self, begun: bytes = b"") -> RunningDigest | None:
        """Return the digest to feed with the content, or None if nothing covers the content.

        Args:
            begun: content that has been read already. The digest starts with it.
        """
        declared = self.candidate.digest
        return None if declared is None else declared.running(begun)

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
        if now > candidate.until:
            raise candidate.profile.error(
                "signature_window_invalid", step=5, detail="the signature expired while the body was read"
            )
        if candidate.digest is not None and (digest is None or not digest.matches()):
            raise candidate.profile.error(
                "signature_digest_mismatch", step=11, detail="the body does not match the signed Content-Digest"
            )
        until, keeps_for = candidate.until, candidate.profile.replay.keeps_for
        if keeps_for is not None:
            until = now + keeps_for if math.isinf(until) else max(until, now + keeps_for)
        remembered = candidate.nonce if candidate.profile.replay.remembers == "nonce" else ""
        return Bound(self, remembered or self.remembered, until)


class Bound(NamedTuple):
    """A signature that passed steps 0 to 11: the content, if it is covered, is the content that was signed.

    Attributes:
        remembered: what a replay store remembers of it, or None if that is nothing.
        until: when the store may forget it (AdCP step 13).
    """

    proven: AuthenticatedSignature
    remembered: str | None
    until: float

    def accept(self, claim: Claim, content: Content) -> VerifiedSignature:
        """Check the replay store's answer, then the content (AdCP steps 12 to 14).

        Args:
            claim: the answer of the replay store for key and nonce.
            content: the content as it was read. It is parsed only if its type is JSON.

        Raises:
            SignatureError: the nonce was seen, the cap is reached, or a JSON object repeats a key.
        """
        proven = self.proven
        candidate = proven.candidate
        profile = candidate.profile
        if claim == "seen":
            raise profile.error("signature_replayed", step=12, detail="the keyid and nonce were seen before")
        if claim == "full":
            raise profile.error("signature_rate_abuse", step=13, detail="the key's cap of live nonces is reached")
        if claim != "fresh":
            raise profile.error(
                "signature_store_unavailable",
                step=13,
                detail="the replay store returned something other than fresh, seen or full: fix the store",
            )
        if candidate.request.has_body and is_json(candidate.request.fields):
            try:
                content.json()
            except AmbiguousJSON as ambiguous:
                raise self._ambiguous(ambiguous, content) from None
            except ValueError:
                # No JSON reader accepts this content, so two readers cannot disagree. The application may reject it.
                pass
        return VerifiedSignature(
            keyid=candidate.keyid,
            signer=proven.key.owner,
            label=candidate.label,
            tag=cast("str", candidate.parameters.get("tag", "")),
            algorithm=candidate.algorithm or proven.key.only_algorithm(profile.algorithms),
            created=candidate.created,
            expires=candidate.expires,
            nonce=candidate.nonce,
            components=candidate.coverage.texts,
            method=candidate.request.method,
            target=proven.target,
            signature_base=proven.signature_base,
            content=content,
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
