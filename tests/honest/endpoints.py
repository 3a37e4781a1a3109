"""The endpoints that an honest sender writes to: one for each profile whose requests it can sign."""

from __future__ import annotations

from tests.honest.sender import CREATED, HOST, KEYID, Rule, jwk, rsa_jwk, thumbprint, token

from undersigned import KeySet, MemoryReplayStore, Request, Verifier, profiles
from undersigned.tokens import WorkloadTokenKeys

PROFILES = {
    name: profile
    for name, profile in profiles.BY_NAME.items()
    if profile.message == "request"
    and profile.algorithms & {"ed25519", "rsa-v1_5-sha256"}
    and (not profile.parameters.own or profile.parameters.audience)
    and (not profile.key.purposes or "request-signing" in profile.key.purposes)
    and profile.digest.policy != "forbidden"
}


def keyid_of(profile) -> str:
    return thumbprint() if profile.key.is_thumbprint else KEYID


def rule_of(profile) -> Rule:
    """What the hand-written signer is told about an endpoint."""

    def covered(method, target, fields, body):
        return profile.components_of(Request(method, f"https://{HOST}{target}", list(fields), body))

    return Rule(
        tag=profile.selection.tag or "",
        label=profile.selection.label,
        covered=covered,
        parameters=(*profile.written, *filter(None, [profile.parameters.audience])),
        padded_digest=profile.digest.encodings[0] == "base64",
        padded=profile.encoding == "base64",
        keyid=keyid_of(profile),
        member_of=profile.coverage.member_of,
        token=token() if profile.parameters.audience else "",
        is_rsa="ed25519" not in profile.algorithms,
        is_alone=profile.selection.pick == "only",
    )


def verifier(profile) -> Verifier:
    def clock() -> float:
        return CREATED + 1

    keyid = keyid_of(profile)
    known = KeySet.from_jwks({"keys": [jwk(keyid) if "ed25519" in profile.algorithms else rsa_jwk(keyid)]}).for_tests()
    keys: KeySet | WorkloadTokenKeys = known
    if profile.parameters.audience:
        keys = WorkloadTokenKeys({"buyer.example": KeySet.from_jwks({"keys": [jwk("issuer")]})}, clock=clock)
    return Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=clock)
