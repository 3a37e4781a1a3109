"""The published profiles, dated and pinned.

The endpoint's configuration chooses the profile, never the message: a `Verifier` or a `Signer` gets one at
construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.profiles.adcp import ADCP_3_1, ADCP_3_2, ADCP_WEBHOOK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.signature.profile import Profile

BY_NAME: Mapping[str, Profile] = {profile.name: profile for profile in (ADCP_3_2, ADCP_3_1, ADCP_WEBHOOK)}
"""The profiles by the name the command line takes."""

__all__ = ["ADCP_3_1", "ADCP_3_2", "ADCP_WEBHOOK", "BY_NAME"]
