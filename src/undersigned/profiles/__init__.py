"""The published profiles, dated and pinned. `DEFAULT` is for your own services, and the others are for a protocol.

The endpoint's configuration chooses the profile, never the message: a `Verifier` or a `Signer` gets one at
construction, or has `DEFAULT`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.profiles.activitypub import ACTIVITYPUB
from undersigned.profiles.adcp import ADCP_3_1, ADCP_3_2, ADCP_WEBHOOK
from undersigned.profiles.fapi import FAPI_2_REQUEST, FAPI_2_RESPONSE
from undersigned.profiles.gnap import GNAP
from undersigned.profiles.ucp import UCP, UCP_DUAL, UCP_MCP, UCP_RESPONSE
from undersigned.profiles.web_bot_auth import (
    WEB_BOT_AUTH,
    WEB_BOT_AUTH_DIRECTORY,
    WEB_BOT_AUTH_JWKS,
    WEB_BOT_AUTH_STRING,
    WEB_BOT_AUTH_TYPED,
)
from undersigned.profiles.wimse import WIMSE, WIMSE_RESPONSE
from undersigned.signature.profile import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.signature.profile import Profile

BY_NAME: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        DEFAULT,
        ADCP_3_2,
        ADCP_3_1,
        ADCP_WEBHOOK,
        WEB_BOT_AUTH,
        WEB_BOT_AUTH_STRING,
        WEB_BOT_AUTH_TYPED,
        WEB_BOT_AUTH_JWKS,
        WEB_BOT_AUTH_DIRECTORY,
        UCP,
        UCP_DUAL,
        UCP_RESPONSE,
        ACTIVITYPUB,
        GNAP,
        FAPI_2_REQUEST,
        FAPI_2_RESPONSE,
        WIMSE,
        WIMSE_RESPONSE,
    )
}
"""The profiles by the name the command line takes. `UCP_MCP` is not one of them: only its answers differ from `UCP`."""

FOR_REQUESTS: Final = tuple(profile for profile in BY_NAME.values() if profile.message == "request")
"""The published profiles that requests are signed with, `DEFAULT` first."""

__all__ = [
    "ACTIVITYPUB",
    "ADCP_3_1",
    "ADCP_3_2",
    "ADCP_WEBHOOK",
    "BY_NAME",
    "DEFAULT",
    "FAPI_2_REQUEST",
    "FAPI_2_RESPONSE",
    "GNAP",
    "UCP",
    "UCP_DUAL",
    "UCP_MCP",
    "UCP_RESPONSE",
    "WEB_BOT_AUTH",
    "WEB_BOT_AUTH_DIRECTORY",
    "WEB_BOT_AUTH_JWKS",
    "WEB_BOT_AUTH_STRING",
    "WEB_BOT_AUTH_TYPED",
    "WIMSE",
    "WIMSE_RESPONSE",
]
