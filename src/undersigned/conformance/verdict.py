"""Verdicts: a request or a response, and whether a profile accepts it, with a key that the verifier holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.activitypub import ActivityPubVerifier
from undersigned.conformance.difference import Difference
from undersigned.errors import KeySourceError, SignatureError
from undersigned.message.response import Response
from undersigned.profiles import ACTIVITYPUB
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.agent import named_agent
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.request import Request
    from undersigned.message.signature_agent import SignatureAgentForm
    from undersigned.signature.key_source import KeyLookup
    from undersigned.signature.profile import Profile
    from undersigned.signature.verification_key import VerificationKey


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCase:
    """A message, the profile that it is verified by, and the published outcome.

    Attributes:
        name: the name of the vector.
        request: the request, or a response with the request that it answers.
        profile: the profile.
        key: the key that the verifier holds, or None. A signature that names no key is by this one.
        now: the verifier's clock.
        expected: `verified`, `invalid` or `unknown`; or `rejected` if both of the latter will do.
        agent_form: the form in which the key source reads Signature-Agent, or None if it does not look at it.
    """

    name: str
    request: Request | Response
    profile: Profile
    key: VerificationKey | None
    now: int
    expected: str
    agent_form: SignatureAgentForm | None = None

    def differences(self) -> Iterator[Difference | None]:
        """Compare the outcome."""
        replay = MemoryReplayStore()
        keys, clock = _Held(self.key, self.agent_form), lambda: self.now
        # Its verifier also takes signatures by the scheme before RFC 9421.
        is_activitypub = self.profile.name == ACTIVITYPUB.name
        verifier = (
            ActivityPubVerifier(keys=keys, replay=replay, profile=self.profile, clock=clock)
            if is_activitypub
            else Verifier(self.profile, keys=keys, replay=replay, clock=clock)
        )
        found, note = "verified", ""
        try:
            if isinstance(self.request, Response):
                verifier.verify_response(self.request)
            else:
                verifier.verify(self.request)
        except SignatureError as error:
            is_unknown = error.reason in self.profile.answers.unknown
            found, note = "unknown" if is_unknown else "invalid", error.detail
        if self.expected == "rejected" and found != "verified":
            found = "rejected"
        yield Difference.between("outcome", self.expected, found, note=note)


class _Held:
    """A key source with one key at most. It reads Signature-Agent as the sources do that fetch."""

    __slots__ = ("_form", "_key")

    blocking = False

    def __init__(self, key: VerificationKey | None, form: SignatureAgentForm | None) -> None:
        self._key = key
        self._form: SignatureAgentForm | None = form

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        key, form = self._key, self._form
        if form is not None and named_agent(lookup, form=form) is None:
            raise KeySourceError("signature_identity_missing", "the signature covers no Signature-Agent that is read")
        return () if key is None or lookup.keyid not in {"", key.keyid} else (key,)
