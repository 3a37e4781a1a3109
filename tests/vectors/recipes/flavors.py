"""The endpoints our own vectors are for: three profiles, and two bindings that carry operations in their content."""

from __future__ import annotations

from dataclasses import replace

from tests.vectors.recipes import keys
from tests.vectors.recipes.message import Flavor

ORIGIN = "https://seller.own.test"

ADCP_3_2 = Flavor(
    folder="request-signing/profile-3.2",
    url=f"{ORIGIN}/adcp/create_media_buy",
    prefix="request_",
    tag="adcp/request-signing/v1",
    padded=True,
    digest_padded=True,
    digest="required",
    key=keys.BUYER,
    p256=keys.BUYER_P256,
    revoked=keys.REVOKED,
    misused=keys.GOVERNANCE,
    capability={"supported": True, "covers_content_digest": "required", "required_for": ["create_media_buy"]},
    members={"signing_profile_version": "3.2"},
)
ADCP_3_1 = replace(
    ADCP_3_2,
    folder="request-signing",
    padded=False,
    digest_padded=False,
    digest="either",
    capability={**ADCP_3_2.capability, "covers_content_digest": "either"},
    members={"signing_profile_version": "3.1"},
)
WEBHOOK = replace(
    ADCP_3_2,
    folder="webhook-signing",
    url="https://buyer.own.test/hooks/create_media_buy/op_7",
    prefix="webhook_",
    tag="adcp/webhook-signing/v1",
    padded=False,
    key=keys.SELLER,
    p256=keys.SELLER_P256,
    revoked=keys.SELLER_REVOKED,
    misused=keys.RESPONSES,
    capability={},
    members={},
)
PROFILES = (ADCP_3_1, ADCP_3_2, WEBHOOK)
MCP = replace(
    ADCP_3_2, folder="request-signing/mcp", url=f"{ORIGIN}/mcp", members={**ADCP_3_2.members, "transport": "mcp"}
)
A2A = replace(
    ADCP_3_2, folder="request-signing/a2a", url=f"{ORIGIN}/a2a", members={**ADCP_3_2.members, "transport": "a2a"}
)
