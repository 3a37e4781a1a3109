"""GNAP: requests of a client to an authorization or resource server (RFC 9635 section 7.3.1)."""

from __future__ import annotations

from typing import Final

from undersigned.signature import rules
from undersigned.signature.profile import Profile, Source

GNAP: Final = Profile(
    name="gnap",
    source=Source("RFC 9635", part="section 7.3.1", url="https://www.rfc-editor.org/rfc/rfc9635"),
    selection=rules.Selection(tags=("gnap",), pick="any"),
    parameters=rules.ParameterRule(expires="optional", nonce="optional", alg="forbidden", written=frozenset({"nonce"})),
    coverage=rules.CoverageRule(always=("@method", "@target-uri"), if_sent=("authorization",)),
    digest=rules.DigestRule(policy="required"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-pss-sha512", "rsa-v1_5-sha256"}),
    validity=rules.Validity(longest=None, ahead=60, behind=60, default=300, longest_age=300),
    answers=rules.Answers(codes={"signature_key_unknown": "invalid_client", "signature_invalid": "invalid_client"}),
    target="typed",
)
"""Requests with the key that a client or a token is bound to. The key is found by its `keyid`."""
