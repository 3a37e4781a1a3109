"""Profiles whose documents are not settled: they may change in any release."""

from __future__ import annotations

from typing import Final

from undersigned.signature.profile import Profile
from undersigned.signature.rules import Answers, CoverageRule, DigestRule, ParameterRule, Selection, Validity

AAUTH: Final = Profile(
    name="aauth",
    source="dickhardt/AAuth with Signature-Key draft 04, autumn 2026 (experimental)",
    selection=Selection(label="sig"),
    parameters=ParameterRule(
        expires="optional",
        nonce="optional",
        keyid="optional",
        alg="ignored",
        tag="ignored",
        written=frozenset({"nonce"}),
    ),
    coverage=CoverageRule(always=("@method", "@authority", "@path", "signature-key")),
    digest=DigestRule(policy="either"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256"}),
    validity=Validity(longest=None, ahead=60, behind=0, default=60, signed_for=60),
    answers=Answers(challenge="none"),
    target="typed",
)
"""Requests whose key is in the JWT that `Signature-Key` names."""

TAP: Final = Profile(
    name="tap",
    source="visa/trusted-agent-protocol, as far as it is public, autumn 2026 (experimental)",
    selection=Selection(tags=("agent-browser-auth", "agent-payer-auth"), label="sig2", pick="any"),
    parameters=ParameterRule(),
    coverage=CoverageRule(always=("@authority", "@path")),
    digest=DigestRule(policy="either"),
    algorithms=frozenset({"ed25519", "rsa-pss-sha512"}),
    validity=Validity(longest=480, ahead=0, behind=0, signed_for=480),
    answers=Answers(challenge="none"),
    target="typed",
)
"""Requests of shopping agents, with the keys that the network publishes."""
