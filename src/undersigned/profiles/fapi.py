"""FAPI 2.0: requests with an access token, and their responses (FAPI 2.0 HTTP Signatures, draft, section 5.3)."""

from __future__ import annotations

from typing import Final

from undersigned.signature import rules
from undersigned.signature.profile import Profile, Source
from undersigned.signature.rules.coverage import ACTED_ON

_SOURCE: Final = Source(
    "FAPI 2.0 HTTP Signatures",
    "2026-11-22",
    url="https://github.com/openid/fapi/blob/HEAD/fapi-2_0-http-signatures.md",
)

FAPI_2_REQUEST: Final = Profile(
    name="fapi-2-request",
    source=_SOURCE._replace(part="section 5.3.1"),
    selection=rules.Selection(tags=("fapi-2-request",), pick="any"),
    parameters=rules.ParameterRule(
        expires="optional", nonce="optional", keyid="optional", alg="optional", written=frozenset({"nonce", "keyid"})
    ),
    coverage=rules.CoverageRule(always=("@method", "@target-uri", "authorization"), if_sent=("dpop",)),
    digest=rules.DigestRule(policy="required"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256", "rsa-pss-sha512"}),
    validity=rules.Validity(longest=60, ahead=10, behind=10, default=60, longest_age=60, signed_for=60),
    answers=rules.Answers(challenge="none"),
    target="typed",
)
"""Requests of a client to a resource server: the token is covered, and the signature is at most a minute old."""

FAPI_2_RESPONSE: Final = FAPI_2_REQUEST.derive(
    name="fapi-2-response",
    source=_SOURCE._replace(part="section 5.3.2"),
    message="response",
    selection=rules.Selection(tags=("fapi-2-response",), label="res", pick="any"),
    coverage=rules.CoverageRule(
        always=("@status", '"@method";req', '"@target-uri";req'),
        offered=("content-type", "content-encoding", *ACTED_ON),
        if_asked=("content-digest", "signature", "signature-input"),
    ),
)
"""Responses of a resource server, bound to the request that they answer."""
