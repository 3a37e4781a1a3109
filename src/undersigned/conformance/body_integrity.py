"""Body integrity: facts about a request, from which a request is made, signed, changed and verified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from undersigned import profiles
from undersigned.conformance.difference import Difference
from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.result import verify
from undersigned.conformance.tampering import KEYS, METHOD, NOW, OPERATION, Facts
from undersigned.errors import VerificationUnavailable
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import PathResolver
from undersigned.policy.policy import Policy
from undersigned.replay.memory import MemoryReplayStore
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance.result import Result
    from undersigned.message.request import Request
    from undersigned.signature.profile import Profile
    from undersigned.signature.rules import DigestPolicy

_LISTS = frozenset({"required_for", "warn_for", "supported_for"})
_METHODS = "protocol_methods_"
_PROFILES = {"3.1": profiles.ADCP_3_1, "3.2": profiles.ADCP_3_2}


@dataclass(frozen=True, slots=True)
class BodyIntegrityFact:
    """A case: its request is signed with a fixed, public key of our own that only this package trusts.

    We add two values to the published members. The `mode` `none` means that no list contains the operation.
    `registers_webhook` means that the content registers a webhook with its own credentials.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare the action, the code, the source of the caller's identity, and whether the signer is verified."""
        expected = self.document.document("expected")
        result = self.result()
        wanted, note = expected.text("action"), ""
        action, code = _action(result, unauthenticated=wanted == "reject_unauthenticated"), "none"
        if result.error is not None:
            note = f"rejected at step {result.error.step}: {result.error.detail}"
            code = result.error.code
        yield Difference.between("action", wanted, action, note=note)
        if "error_code" in expected:
            yield Difference.between("code", expected.text("error_code"), code, note=note)
        if "authentication_source" in expected:
            yield Difference.between("authentication source", expected.text("authentication_source"), result.source)
        identity = str(result.signature is not None).lower()
        yield Difference.between(
            "verified signer identity", str(expected.flag("verified_signer_identity")).lower(), identity
        )

    def result(self) -> Result:
        """Return the result for the request that the facts describe."""
        fallback = self.document.flag("fallback_auth_valid")
        return verify(self.verifier(), self.request(), policy=self.policy, fallback=fallback)

    def verifier(self) -> Verifier:
        """Return a verifier that knows the key."""
        return Verifier(self.profile, keys=KEYS, replay=MemoryReplayStore(), clock=lambda: NOW)

    @property
    def profile(self) -> Profile:
        """The endpoint's profile, which is its configuration and does not depend on the body."""
        version = self.document.text("endpoint_profile")
        if version not in _PROFILES:
            raise MalformedVector("endpoint_profile is not 3.1 or 3.2")
        profile = _PROFILES[version]
        # The profile itself rejects an unknown digest policy.
        digest = cast("DigestPolicy", self.document.text("legacy_digest_policy", profile.digest.policy))
        return profile.derive(digest=replace(profile.digest, policy=digest))

    @property
    def policy(self) -> Policy:
        """The endpoint's policy: a single list that contains the operation or the method."""
        mode = self.document.text("mode")
        if mode != "none" and mode.removeprefix(_METHODS) not in _LISTS:
            raise MalformedVector("mode is not one of the policy's lists")
        return Policy(
            required_for=[OPERATION] if mode == "required_for" else (),
            warn_for=[OPERATION] if mode == "warn_for" else (),
            supported_for=[OPERATION] if mode == "supported_for" else (),
            protocol_methods_required_for=[METHOD] if mode == f"{_METHODS}required_for" else (),
            protocol_methods_warn_for=[METHOD] if mode == f"{_METHODS}warn_for" else (),
            protocol_methods_supported_for=[METHOD] if mode == f"{_METHODS}supported_for" else (),
            resolver=JSONRPCResolver() if self._rpc else PathResolver(),
        )

    @property
    def _rpc(self) -> bool:
        return self.document.text("mode").startswith(_METHODS)

    def request(self) -> Request:
        """Return the request that the facts describe."""
        case = self.document
        facts = Facts(
            profile=self.profile,
            rpc=self._rpc,
            has_body=case.flag("has_body"),
            version=case.text("request_body_adcp_version", ""),
            registers_webhook=case.flag("registers_webhook", default=False),
            signed=case.flag("signature_present"),
            paired=case.text("signature_header_state", "") != "malformed_pair",
            covers_digest=case.flag("covers_content_digest", default=True),
            digest_matches=case.flag("digest_matches_body", default=True),
            signature_valid=case.flag("cryptographic_signature_valid", default=True),
        )
        return facts.request()


def _action(result: Result, *, unauthenticated: bool) -> str:
    """Return the action of a result. `unauthenticated` selects the name for a rejection that the caller caused."""
    if result.admitted is not None:
        return "accept" if result.admitted.warning is None else "accept_with_warning"
    ours = isinstance(result.error, VerificationUnavailable)
    return "reject_unauthenticated" if unauthenticated and not ours else "reject"
