"""The scheme of draft-cavage-12: how a recorded request that is signed by it is read and verified.

For an explanation, the scheme is one more profile, `DRAFT`. A `Verifier` does not take it; `ActivityPubVerifier` does.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.activitypub import ActivityPubVerifier
from undersigned.cavage.base import signing_string
from undersigned.cavage.digest import parse_digest
from undersigned.cavage.header import CREATED, EXPIRES, CavageParameters
from undersigned.errors import MalformedURL
from undersigned.message.component import Component, Coverage
from undersigned.message.request import Request
from undersigned.message.structured_fields import MalformedField, serialize_byte_sequence
from undersigned.message.timestamps import read_http_date
from undersigned.profiles import ACTIVITYPUB
from undersigned.replay.memory import UncheckedReplay
from undersigned.url import canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile
    from undersigned.url import CanonicalURL

DRAFT: Final = ACTIVITYPUB.derive(
    name="draft-cavage-12", source="draft-cavage-http-signatures-12, as Mastodon verifies it"
)
"""The scheme before RFC 9421, with the algorithm, the times and the answers of `ACTIVITYPUB`."""

_SPELLED: Final = re.compile(r'(?:^|[,\s])(?:keyid|headers)="', re.IGNORECASE)


class DraftInput(NamedTuple):
    """The parameters of a signature by the draft, in the place of a member of Signature-Input.

    Attributes:
        coverage: the signed names.
        parameters: the parameters by their names in RFC 9421; the times as numbers.
        given: the parameters as they are spelled.
    """

    coverage: Coverage
    parameters: Mapping[str, Parameter]
    given: CavageParameters

    @classmethod
    def of(cls, request: Request) -> DraftInput:
        """Read the Signature field of a request.

        Raises:
            MalformedField: it is not one of the draft.
        """
        given = CavageParameters.parse(request.fields.combined.get("signature", ""))
        date = read_http_date(request.fields.combined.get("date", "")) if "date" in given.names else None
        created = int(given.created) if CREATED in given.names else date
        expires = int(given.expires.partition(".")[0]) if EXPIRES in given.names else None
        parameters: dict[str, Parameter] = {"keyid": given.keyid, "alg": given.algorithm}
        parameters |= {name: time for name, time in (("created", created), ("expires", expires)) if time is not None}
        coverage = Coverage.of([Component(name, name, bare=True) for name in given.names])
        return cls(coverage, MappingProxyType(parameters), given)

    @property
    def components(self) -> tuple[Component, ...]:
        """The signed names in their order."""
        return self.coverage.components

    def base(self, request: Request, target: CanonicalURL) -> str:
        """Return the signing string (draft section 2.3). Host is the authority of the target, as the field spells it.

        Raises:
            UnresolvableComponent: there is no value for a signed name.
        """
        host = request.fields.combined.get("host")
        if host is not None and not _is_spelling(host, target):
            kept = [line for line in request.fields if line[0] != "host"]
            request = Request(request.method, request.url, [*kept, ("host", target.authority)], request.content)
        given = self.given
        return signing_string(request, target, given.names, created=given.created, expires=given.expires)


def is_draft(request: Request) -> bool:
    """Return whether a request is signed by the draft: its Signature field has quoted parameters, and it is alone."""
    fields = request.fields.combined
    return "signature-input" not in fields and _SPELLED.search(fields.get("signature", "")) is not None


def is_in_authorization(request: Request) -> bool:
    """Return whether Authorization has a signature by the draft (section 3.1), which no verifier here reads."""
    scheme, _, value = request.fields.combined.get("authorization", "").partition(" ")
    return scheme.lower() == "signature" and _SPELLED.search(value) is not None


def check_draft(request: Request, keys: KeySource, *, now: float) -> None:
    """Verify a request by the draft only. Its signature counts as new, and its key as not revoked.

    Raises:
        SignatureError: it is rejected.
    """
    fields = [line for line in request.fields if line[0] != "signature-input"]
    alone = Request(request.method, request.url, fields, request.content, has_body=request.has_body)
    ActivityPubVerifier(keys=keys, replay=UncheckedReplay(), profile=DRAFT, clock=lambda: now).verify(alone)


def content_digest_of(request: Request, profile: Profile) -> str:
    """Return the Content-Digest of a request, or "" if it has none. For the draft, it has the SHA-256 of Digest."""
    if profile is not DRAFT:
        return request.fields.combined.get("content-digest", "")
    try:
        digest = parse_digest(request.fields.combined.get("digest", ""))
    except MalformedField:
        return ""
    return f"sha-256={serialize_byte_sequence(digest.expected['sha-256'], 'base64')}"


def _is_spelling(host: str, target: CanonicalURL) -> bool:
    try:
        return canonicalize_authority(host, target.scheme, received=True) == target.authority
    except MalformedURL:
        return False
