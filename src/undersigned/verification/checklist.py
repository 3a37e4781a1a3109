"""The verifier's checklist: each stage has its own type (AdCP verifier checklist, RFC 9421 section 3.2).

    screen(request) -> ParsedSignature -> identify(keys) -> Identified -> prove(full) -> AuthenticatedSignature
        -> bind(digest) -> Bound -> accept(claim, content) -> VerifiedSignature

Each stage is made by the stage before it, so a check out of order does not type-check. Nothing here does IO: keys, cap,
digest and claim are arguments, which `undersigned.verification.verifier` fetches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from undersigned.errors import MalformedURL
from undersigned.limits import LONGEST_BASE, MOST_CANDIDATES, MOST_EFFORT_TWICE
from undersigned.message.request import Request
from undersigned.message.request_target import received_target, typed_target
from undersigned.signature.components import UnresolvableComponent, with_empty_query
from undersigned.signature.effort import BASE_CHARACTERS, effort, effort_if_unusual
from undersigned.signature.verification_key import VerificationKey
from undersigned.url import CanonicalURL
from undersigned.verification.verified_signature import AuthenticatedSignature

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.verification.revocation import RevocationList
    from undersigned.verification.screening import ParsedSignature

# The usual types come first, because a check against `Sequence` takes a third of a microsecond.
_SEQUENCES: Final = (tuple, list, Sequence)

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
    profile, algorithm = candidate.profile, candidate.algorithm
    usable: list[VerificationKey] = []
    identified, misuse = Identified(candidate, usable), ""
    for key in keys if isinstance(keys, _SEQUENCES) else (None,):
        if not isinstance(key, VerificationKey):
            raise profile.error(
                "signature_jwks_unavailable",
                step=7,
                detail="the key source returned something other than a sequence of keys: fix the source",
            )
        fault = key.misuse(algorithm, profile.key)
        if not fault and not algorithm and not key.only_algorithm(profile.algorithms):
            fault = "the key is not for exactly one of the profile's algorithms"
        if fault:
            misuse = misuse or fault
        elif len(usable) < MOST_CANDIDATES:
            usable.append(key)
    if usable:
        return identified
    if misuse:
        raise profile.error("signature_key_purpose_invalid", step=8, detail=misuse)
    raise profile.error("signature_key_unknown", step=7, detail="no key source knows the keyid")


@dataclass(slots=True, eq=False)
class Identified:
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
        faults = [self._revocation_fault(key, revocations) for key, revocations in zip(self.keys, lists, strict=True)]
        left = [key for key, fault in zip(self.keys, faults, strict=True) if fault is None]
        if not left and faults[0] is not None:
            raise faults[0]
        return Identified(self.candidate, left)

    def _revocation_fault(self, key: VerificationKey, revocations: RevocationList | None) -> SignatureError | None:
        candidate = self.candidate
        if revocations is None:
            return None
        # A signature may name its key by the thumbprint, or not at all if a token names it.
        if not revocations.revoked.isdisjoint((candidate.keyid, key.keyid, key.thumbprint)):
            return candidate.profile.error("signature_key_revoked", step=9, detail="the revocation list names the key")
        if revocations.is_stale(candidate.now):
            detail = "the revocation list is too old: fetch a new one"
            return candidate.profile.error("signature_revocation_stale", step=9, detail=detail)
        return None

    def prove(self, full: Sequence[VerificationKey]) -> AuthenticatedSignature:
        """Check the cap, the target, the authority and the signature over the base (steps 9a and 10).

        Args:
            full: the keys whose cap in the replay store is reached.

        Raises:
            SignatureError: a check failed.
        """
        candidate, keys = self.candidate, self._below_cap(full) if full else self.keys
        message, profile = candidate.request, candidate.profile
        spent = effort_if_unusual(message, candidate.coverage, parsing=candidate.parsing)
        if spent > profile.most_effort:
            raise self._invalid(_TOO_MUCH)
        request = message if isinstance(message, Request) else cast("Request", message.request)
        try:
            target = received_target(request)
            signed = target if profile.target == "canonical" else typed_target(request.url, target)
            base = candidate.rebuilt(candidate, signed)
        except MalformedURL as malformed:
            raise self._malformed_error(malformed) from None
        except UnresolvableComponent as unresolvable:
            raise self._invalid(str(unresolvable)) from None
        if len(base) > LONGEST_BASE:
            raise self._invalid(f"the signature base has more than {LONGEST_BASE} characters: cover less")
        if spent + len(base) // BASE_CHARACTERS > profile.most_effort:
            raise self._invalid(_TOO_MUCH)
        octets, signature = base.encode("ascii"), candidate.signature
        for key in keys:
            algorithm = candidate.algorithm or key.only_algorithm(profile.algorithms)
            if key.verifies(signature, octets, algorithm=algorithm):
                return AuthenticatedSignature(candidate, key, target, base)
        if target.query is None and candidate.covers_unseen_query:
            # The effort of a usual message was not counted yet, and the base is hashed again.
            spent = (spent or effort(message, candidate.coverage.components)) + 2 * (len(base) // BASE_CHARACTERS)
            proven = self._with_empty_query(keys, target, base) if spent <= MOST_EFFORT_TWICE else None
            if proven is not None:
                return proven
        raise self._not_over(base, keys)

    def _below_cap(self, full: Sequence[VerificationKey]) -> Sequence[VerificationKey]:
        keys = [key for key in self.keys if key not in full]
        if not keys:
            raise self._rate_abuse()
        return keys

    def _with_empty_query(
        self, keys: Sequence[VerificationKey], target: CanonicalURL, base: str
    ) -> AuthenticatedSignature | None:
        """Return the signature if it verifies for a target that ends in a `?` which the server does not show."""
        candidate = self.candidate
        base = with_empty_query(base, candidate.coverage.components)
        octets, named, accepted = base.encode("ascii"), candidate.algorithm, candidate.profile.algorithms
        for key in keys:
            if key.verifies(candidate.signature, octets, algorithm=named or key.only_algorithm(accepted)):
                signed = CanonicalURL(f"{target.target_uri}?", target.authority)
                return AuthenticatedSignature(candidate, key, signed, base)
        return None

    def _not_over(self, base: str, keys: Sequence[VerificationKey]) -> SignatureError:
        """Return the error if none of `keys` verifies the signature over `base`."""
        # The signature may be by a key whose cap is reached. The check of the cap comes before the signature's check.
        error = self._rate_abuse() if len(keys) < len(self.keys) else self._invalid(_NOT_OVER_THIS_BASE)
        error.signature_base = base
        return error

    def _rate_abuse(self) -> SignatureError:
        detail = "the key's cap of live nonces is reached"
        return self.candidate.profile.error("signature_rate_abuse", step="9a", detail=detail)

    def _malformed_error(self, malformed: MalformedURL) -> SignatureError:
        # The detail has only the name of the rule, because the message may quote the URL.
        detail = f"the rule {malformed.rule!r} rejects the target URI or an authority"
        return self.candidate.profile.error("target_uri_malformed", step=10, detail=detail)

    def _invalid(self, detail: str) -> SignatureError:
        return self.candidate.profile.error("signature_invalid", step=10, detail=detail)
