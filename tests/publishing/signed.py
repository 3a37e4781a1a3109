"""Which keys of a served key directory signed it (Web Bot Auth sections 5.5.3 and B.1)."""

from __future__ import annotations

import json
import re
import time

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.signature.rules import Selection


def keyids_that_signed(response, *, clock=time.time) -> list[str]:
    """The keyids of the signatures of a directory, each verified with the key that the directory lists."""
    profile = profiles.WEB_BOT_AUTH_DIRECTORY
    keys = KeySet.from_jwks(json.loads(response.body))
    verified = []
    for label in re.findall(r"(?:^|, )([a-z0-9]+)=", response.fields.combined["signature-input"]):
        one = profile.derive(selection=Selection(tags=profile.selection.tags, label=label, pick="preferred"))
        verifier = Verifier(one, keys=keys, replay=MemoryReplayStore(), clock=clock)
        verified.append(verifier.verify_response(response).keyid)
    return verified
