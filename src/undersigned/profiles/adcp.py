"""The AdCP signing profiles of release 3.2 (2026)."""

from __future__ import annotations

from typing import Final

from undersigned.signature.profile import Profile, Source
from undersigned.signature.rules import (
    Answers,
    Caps,
    CoverageRule,
    DigestRule,
    KeyRule,
    ParameterRule,
    ReplayRule,
    Selection,
    Validity,
)

_SOURCE: Final = Source("AdCP", "v3.2", part="request signing", url="https://github.com/adcontextprotocol/adcp")

ADCP_3_2: Final = Profile(
    name="adcp-3.2",
    source=_SOURCE,
    selection=Selection(tags=("adcp/request-signing/v1",), is_exclusive=True),
    parameters=ParameterRule(nonce_bytes=16),
    coverage=CoverageRule(with_content=("content-type",)),
    digest=DigestRule(policy="required"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256"}),
    validity=Validity(longest=300, ahead=60, behind=60),
    replay=ReplayRule(remembers="nonce", caps=Caps(per_key=1_000_000)),
    key=KeyRule(purposes=frozenset({"request-signing"}), is_declared=True),
    answers=Answers(prefix="request_"),
)
"""Request signing since release 3.2: Base64 as in RFC 8941, and the digest of content is always covered."""

ADCP_3_1: Final = ADCP_3_2.derive(
    name="adcp-3.1",
    source=_SOURCE._replace(edition="v3.1"),
    encoding="base64url",
    digest=DigestRule(policy="either", encodings=("base64url", "base64")),
)
"""Request signing before release 3.2: unpadded Base64url, and a digest in either Base64, as in the published vectors.

`ADCP_3_1.derive(digest=...)` sets the digest policy.
"""

ADCP_WEBHOOK: Final = ADCP_3_2.derive(
    name="adcp-webhook",
    source=_SOURCE._replace(part="webhook signing"),
    selection=Selection(tags=("adcp/webhook-signing/v1",), is_exclusive=True),
    coverage=CoverageRule(always=("@method", "@target-uri", "@authority", "content-type", "content-digest")),
    encoding="base64url",
    digest=DigestRule(policy="required", encodings=("base64", "base64url")),
    replay=ADCP_3_2.replay._replace(caps=Caps(per_key=100_000, total=10_000_000)),
    key=KeyRule(purposes=frozenset({"request-signing", "webhook-signing"}), is_declared=True),
    answers=Answers(prefix="webhook_"),
)
"""Webhook deliveries: always all five components, and a digest in RFC 8941 Base64, as in the published vectors."""
