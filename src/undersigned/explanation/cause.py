"""The cause of a rejection: the changes of a request that, undone, make its signature valid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned.errors import MalformedURL
from undersigned.explanation.body_digest import digested_content
from undersigned.explanation.budget import Budget
from undersigned.explanation.draft import content_digest_of
from undersigned.explanation.profile_guess import others, rejection
from undersigned.explanation.recorded_signature import RecordedSignature, other_spellings
from undersigned.explanation.search import Search
from undersigned.explanation.values import SignedValues
from undersigned.explanation.variant import Change
from undersigned.limits import MOST_CANDIDATES
from undersigned.signature.effort import effort
from undersigned.signature.key_source import KeyLookup, KeySet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.errors import Step
    from undersigned.message.request import Request
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.url import Origin

    _Keys: TypeAlias = tuple[VerificationKey, ...]

_SPELLING, _CONTENT = 1, 11
_SEARCHED: Final[frozenset[Step]] = frozenset({1, 7, 8, 10})
_MOST_KEYS: Final = 64


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a rejection. Its texts are printable ASCII, but for the base.

    Attributes:
        changes: what changed between signing and verifying, one change or more.
        keyid: the keyid of the key that verifies the signature, or "" if the key is not the question.
        signature_base: the base that the sender signed; None if it is the base that is rebuilt from the request.
    """

    changes: tuple[Change, ...]
    keyid: str = ""
    signature_base: str | None = None


@dataclass(frozen=True, slots=True)
class CauseSearch:
    """The result of a search for the cause of a rejection.

    Attributes:
        cause: the cause, or None if none was found.
        tried: how many bases were tried.
        is_complete: whether everything was tried, or the cause was found, before the budget was spent.
    """

    cause: Cause | None
    tried: int = 0
    is_complete: bool = True


def find_cause(
    request: Request,
    profile: Profile,
    keys: KeySource,
    *,
    now: float,
    origins: Sequence[Origin] = (),
    budget: Budget | None = None,
) -> CauseSearch:
    """Find the changes that explain why a request is rejected.

    A cause is proven: the library verifies the signature of the request over the changed values. Without a signature
    that verifies there is no cause.

    Args:
        request: the request as it was received, with its content.
        profile: the profile that it is verified by.
        keys: the keys. Of a `KeySet`, every key is tried, and of another source the keys that it names.
        now: the clock, seconds since the epoch.
        origins: the origins of the service, which name hosts and prefixes to try.
        budget: how much may be tried; by default, what takes less than a second.
    """
    budget = Budget() if budget is None else budget
    error = rejection(request, profile, keys, now=now)
    if error is None:
        return CauseSearch(None)
    cause = _Rejection(request, profile, keys, error.step, origins).cause(now, budget)
    return CauseSearch(cause, budget.spent, cause is not None or not budget.is_spent)


@dataclass(frozen=True, slots=True)
class _Rejection:
    """A request that is rejected at a step of the checklist."""

    request: Request
    profile: Profile
    keys: KeySource
    step: Step
    origins: Sequence[Origin]

    def cause(self, now: float, budget: Budget) -> Cause | None:
        """Return the cause, or None if none is found."""
        spelled = tuple(self._spelling_changes())
        search = self._search(budget) if self.step in _SEARCHED else None
        proof = None if search is None else search.prove_unchanged()
        if proof is not None and spelled:
            return Cause(spelled, proof.keyid)
        for other in others(self.request, self.profile, self.keys, now=now):
            return Cause((_of_profile(other, self.profile),))
        if self.step == _CONTENT:
            return self._of_content()
        if search is None or proof is not None or (self.step == _SPELLING and not spelled):
            return None
        proof = search.prove_changed()
        if proof is None:
            return None
        if any(change.part == "content-digest" for change in proof.changes):
            # The change tells already that the digest was signed in another Base64.
            spelled = tuple(change for change in spelled if not change.signed.startswith("content-digest"))
        return Cause((*spelled, *proof.changes), proof.keyid, proof.base)

    def _search(self, budget: Budget) -> Search | None:
        """Return the search among the variants, or None if the signature or the authority cannot be read."""
        request = self.request
        signature = RecordedSignature.of(request, self.profile)
        if signature is None or signature.octets is None:
            return None
        read = signature.read
        if effort(request, read.components) > self.profile.most_effort:
            return None
        named, rest = self._keys(signature)
        try:
            received = SignedValues.of(request, self.profile, read, signature.octets, keys=named)
        except MalformedURL:
            return None
        values = received._replace(
            others=rest,
            keyid=_keyid(signature),
            authorities=tuple(origin.authority for origin in self.origins),
            prefixes=tuple(origin.prefix for origin in self.origins if origin.prefix),
        )
        return Search(values, read, budget)

    def _keys(self, signature: RecordedSignature) -> tuple[_Keys, _Keys]:
        """Return the keys that the signature names, and the other keys of the set."""
        request, coverage = self.request, signature.read.coverage
        lookup = KeyLookup(
            _keyid(signature),
            signature.read.parameters,
            coverage.names,
            request.method,
            request.url,
            request.fields,
            label=signature.label,
            identifiers=coverage.texts,
        )
        try:
            named = tuple(self.keys.find(lookup))[:MOST_CANDIDATES]
        except Exception:  # noqa: BLE001 - a source may raise anything when it is not available
            named = ()
        known = self.keys.keys.values() if isinstance(self.keys, KeySet) else ()
        return named, tuple(key for key in known if key not in named)[:_MOST_KEYS]

    def _spelling_changes(self) -> Iterator[Change]:
        """Yield a change for each field that is in another Base64 than the profile expects."""
        if self.step == _SPELLING:
            for other in other_spellings(self.request, self.profile):
                reason = f"write {other.field} in the Base64 of the profile {self.profile.name}"
                yield Change("other Base64", "signature", f"{other.field} in {other.found}", other.expected, reason)

    def _of_content(self) -> Cause | None:
        """Return the cause of a digest that is of other content."""
        words = digested_content(self.request.body, content_digest_of(self.request, self.profile))
        if not words:
            return None
        received = f"{len(self.request.body)} other bytes"
        return Cause((Change("other content", "content", words, received, "sign exactly the bytes that are sent"),))


def _keyid(signature: RecordedSignature) -> str:
    keyid = signature.read.parameters.get("keyid")
    return keyid if isinstance(keyid, str) else ""


def _of_profile(verified: Profile, asked: Profile) -> Change:
    """Return the change for a request that another profile verifies."""
    reason = "verify by the profile that the sender signs by, or ask the sender to sign by yours"
    return Change("another profile", "profile", verified.name, asked.name, reason)
