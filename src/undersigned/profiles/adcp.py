"""The AdCP signing profiles of release 3.2 (2026)."""

from __future__ import annotations

from typing import Final

from undersigned.signature import rules
from undersigned.signature.profile import Profile, Source

_SOURCE: Final = Source("AdCP", "v3.2", part="request signing", url="https://github.com/adcontextprotocol/adcp")

ADCP_3_2: Final = Profile(
    name="adcp-3.2",
    source=_SOURCE,
    selection=rules.Selection(tags=("adcp/request-signing/v1",), is_exclusive=True),
    parameters=rules.ParameterRule(nonce_bytes=16),
    coverage=rules.CoverageRule(with_content=("content-type",)),
    digest=rules.DigestRule(policy="required"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256"}),
    validity=rules.Validity(longest=300, ahead=60, behind=60),
    replay=rules.ReplayRule(remembers="nonce", caps=rules.Caps(per_key=1_000_000)),
    key=rules.KeyRule(purposes=frozenset({"request-signing"}), is_declared=True),
    answers=rules.Answers(prefix="request_"),
)
"""Request signing since release 3.2: Base64 as in RFC 8941, and the digest of content is always covered."""

ADCP_3_1: Final = ADCP_3_2.derive(
    name="adcp-3.1",
    source=_SOURCE._replace(edition="v3.1"),
    encoding="base64url",
    digest=rules.DigestRule(policy="either", encodings=("base64url", "base64")),
)
"""Request signing before release 3.2: unpadded Base64url, and a digest in either Base64, as in the published vectors.

`ADCP_3_1.derive(digest=...)` sets the digest policy.
"""

ADCP_WEBHOOK: Final = ADCP_3_2.derive(
    name="adcp-webhook",
    source=_SOURCE._replace(part="webhook signing"),
    selection=rules.Selection(tags=("adcp/webhook-signing/v1",), is_exclusive=True),
    coverage=rules.CoverageRule(always=("@method", "@target-uri", "@authority", "content-type", "content-digest")),
    encoding="base64url",
    digest=rules.DigestRule(policy="required", encodings=("base64", "base64url")),
    replay=ADCP_3_2.replay._replace(caps=rules.Caps(per_key=100_000, total=10_000_000)),
    key=rules.KeyRule(purposes=frozenset({"request-signing", "webhook-signing"}), is_declared=True),
    answers=rules.Answers(prefix="webhook_"),
)
"""Webhook deliveries: always all five components, and a digest in RFC 8941 Base64, as in the published vectors."""
