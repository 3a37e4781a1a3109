"""The wire examples: one whole signed message for each profile, as data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.messages import PROFILES
from tests.keys import OneKey

from undersigned import MemoryReplayStore, Profile, Request, VerificationKey, Verifier, profiles
from undersigned.message import Response

PUBLISHED = Path(__file__).parents[1] / "vectors" / "published" / "profiles"
FILE, OF_WIMSE = PUBLISHED / "wire-examples.json", PUBLISHED / "wimse" / "sigs-response.json"


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

    def verifier(self, profile: Profile | None = None) -> Verifier:
        keys, replay = OneKey(self.key), MemoryReplayStore()
        return Verifier(profile or self.profile, keys=keys, replay=replay, clock=lambda: self.now)


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


_ALL = [
    example(document, profiles.BY_NAME[PROFILES.get(document["id"], document["profile"])])
    for file in (FILE, OF_WIMSE)
    for document in json.loads(file.read_text("utf-8"))["examples"]
    if document["id"] != "activitypub-cavage"
]
EXAMPLES = {each.name: each for each in _ALL if each.response is None}
RESPONSES = {each.name: each for each in _ALL if each.response is not None}
