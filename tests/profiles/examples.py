"""The wire examples: one whole signed request for each profile, as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.keys import OneKey

from undersigned import MemoryReplayStore, Profile, Request, VerificationKey, Verifier, profiles
from undersigned.message import Response

FILE = Path(__file__).parents[1] / "vectors" / "published" / "profiles" / "wire-examples.json"
PROFILES = {
    "wba-string": profiles.WEB_BOT_AUTH_STRING,
    "wba-typed": profiles.WEB_BOT_AUTH_TYPED,
    "wba-jwks": profiles.WEB_BOT_AUTH_JWKS,
    "ucp-request": profiles.UCP,
    "ucp-dual": profiles.UCP_DUAL,
    "activitypub-rfc9421": profiles.ACTIVITYPUB,
    "gnap": profiles.GNAP,
    "fapi-request": profiles.FAPI_2_REQUEST,
    "wimse-request": profiles.WIMSE,
}
RESPONSE_PROFILES = {
    "ucp-response": profiles.UCP_RESPONSE,
    "fapi-response": profiles.FAPI_2_RESPONSE,
    "wba-directory": profiles.WEB_BOT_AUTH_DIRECTORY,
}


@dataclass(frozen=True, slots=True)
class Example:
    """One whole signed message with its key, its base and the verifier's clock."""

    name: str
    edition: str
    profile: Profile
    request: Request
    response: Response | None
    key: VerificationKey
    now: int
    base: str

    def verifier(self, *, profile: Profile | None = None, now: float | None = None, keys=None) -> Verifier:
        at = self.now if now is None else now
        source = OneKey(self.key) if keys is None else keys
        return Verifier(profile or self.profile, keys=source, replay=MemoryReplayStore(), clock=lambda: at)


def example(document, profile: Profile) -> Example:
    """An example of such a file."""
    body = document.get("body", "").encode()
    key = VerificationKey.from_jwk({"kid": "", **document["jwk"]}).for_tests()
    response = None
    if "status" in document:
        request = Request(document["method"], document["url"], document["request_headers"])
        response = Response(document["status"], document["headers"], body, request=request)
    else:
        request = Request(document["method"], document["url"], document["headers"], body)
    edition = document.get("edition", "")
    return Example(
        document["id"], edition, profile, request, response, key, document["now"], document["signature_base"]
    )


_OF = {**PROFILES, **RESPONSE_PROFILES}
_ALL = [
    example(document, _OF[document["id"]])
    for document in json.loads(FILE.read_text("utf-8"))["examples"]
    if document["id"] in _OF
]
EXAMPLES = {each.name: each for each in _ALL if each.response is None}
RESPONSES = {each.name: each for each in _ALL if each.response is not None}
