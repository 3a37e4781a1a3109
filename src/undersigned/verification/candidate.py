"""Candidates: what a message's signature fields say, once they have the profile's shape (AdCP steps 0 to 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned.message.json_content import says_json
from undersigned.signature.key_source import KeyLookup

if TYPE_CHECKING:
    from undersigned.message.content_digest import ContentDigest
    from undersigned.message.request import Request
    from undersigned.message.structured_fields import Coverage
    from undersigned.signature.profile import Profile

_QUERY_COMPONENTS = frozenset({"@target-uri", "@request-target"})


class ParsedSignature(NamedTuple):
    """Steps 0 to 6 hold: the message carries a signature of the profile's shape, by a key not yet looked for.

    Attributes:
        request: the message.
        profile: what it is judged by.
        now: the verifier's clock when the judging began, seconds since the epoch.
        label: the label that is processed.
        coverage: its covered components.
        text: the value of `@signature-params`, as it stands in the base.
        signature: its bytes.
        digest: the Content-Digest it covers, or None.
        keyid: the key id it names.
        algorithm: the RFC 9421 algorithm name it names.
        nonce: its nonce.
        created: seconds since the epoch.
        expires: seconds since the epoch.
        until: when the nonce may be forgotten, as no clock within the skew accepts the signature any more (step 13).
    """

    request: Request
    profile: Profile
    now: float
    label: str
    coverage: Coverage
    text: str
    signature: bytes
    digest: ContentDigest | None
    keyid: str
    algorithm: str
    nonce: str
    created: int
    expires: int
    until: float

    def lookup(self, *, again: bool = False) -> KeyLookup:
        """Return what a key source is asked (step 7)."""
        request = self.request
        parameters: dict[str, str | int] = {
            "created": self.created,
            "expires": self.expires,
            "nonce": self.nonce,
            "keyid": self.keyid,
            "alg": self.algorithm,
            "tag": self.profile.tag,
        }
        return KeyLookup(
            self.keyid, parameters, self.coverage.names, request.method, request.url, request.fields, again
        )

    @property
    def covers_unseen_query(self) -> bool:
        """Whether a lone `?` the server could not show would change what is signed."""
        return self.request.query_unknown and not _QUERY_COMPONENTS.isdisjoint(self.coverage.names)

    @property
    def is_json(self) -> bool:
        """Whether the content says it is JSON."""
        return self.request.has_body and says_json(self.request)
