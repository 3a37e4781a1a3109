"""The AdCP signing profiles of release 3.2 (2026)."""

from __future__ import annotations

from dataclasses import replace

from undersigned.signature.profile import Caps, Profile

ADCP_3_2 = Profile(
    name="adcp-3.2",
    tag="adcp/request-signing/v1",
    encoding="base64",
    digest_encodings=("base64",),
    prefix="request_",
    purposes=frozenset({"request-signing"}),
    caps=Caps(per_key=1_000_000),
)
"""Request signing since release 3.2: Base64 as in RFC 8941, and the digest of content is always covered."""

ADCP_3_1 = replace(
    ADCP_3_2, name="adcp-3.1", encoding="base64url", digest_encodings=("base64url", "base64"), digest="either"
)
"""Request signing before release 3.2: unpadded Base64url, and a digest in either Base64, as in the published vectors.

`dataclasses.replace(ADCP_3_1, digest=...)` sets the digest policy.
"""

ADCP_WEBHOOK = Profile(
    name="adcp-webhook",
    tag="adcp/webhook-signing/v1",
    encoding="base64url",
    digest_encodings=("base64", "base64url"),
    prefix="webhook_",
    purposes=frozenset({"request-signing", "webhook-signing"}),
    required=("@method", "@target-uri", "@authority", "content-type", "content-digest"),
    caps=Caps(per_key=100_000, total=10_000_000),
)
"""Webhook deliveries: always all five components, and a digest in RFC 8941 Base64, as in the published vectors."""
