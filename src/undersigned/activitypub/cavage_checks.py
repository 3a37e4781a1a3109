"""Screening of a signature by draft-cavage-12: it is read and checked before any key is looked up (steps 0 to 6)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from undersigned.cavage.signing_string import (
    CREATED,
    EXPIRES,
    HS2019,
    REQUEST_TARGET,
    RSA_SHA256,
    CavageParameters,
    components_of,
    parse_digest,
    read_http_date,
    signing_string,
)
from undersigned.message.covered_components import Coverage
from undersigned.message.header_fields import check_fields
from undersigned.message.structured_fields import MalformedField
from undersigned.verification.verifier import ReceivedSignature, field_error

if TYPE_CHECKING:
    from collections.abc import Collection

    from undersigned.message.request import Request
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile
    from undersigned.url import CanonicalURL

_RSA: Final = "rsa-v1_5-sha256"
_GROUPS: Final = (("date", CREATED), (REQUEST_TARGET, "digest"))
"""Of each of these, a signature must cover one (Mastodon)."""


class CavageSignature(ReceivedSignature):
    """A signature by draft-cavage-12 of a message."""

    __slots__ = ()

    def rebuilt_base(self, target: CanonicalURL) -> str:
        """Return the signing string of the draft (section 2.3)."""
        request, parameters = cast("Request", self.request), self.parameters
        created, expires = str(parameters.get("created", "")), str(parameters.get("expires", ""))
        return signing_string(request, target, self.coverage.texts, created=created, expires=expires)


def screen_cavage(request: Request, profile: Profile, *, now: float, required: Collection[str]) -> CavageSignature:
    """Read and check the signature of a message that has a Signature field and no Signature-Input.

    The label of the signature is "", as the draft has no labels.

    Args:
        request: the message.
        profile: says which algorithms and times are accepted, and how a rejection is answered.
        now: seconds since the epoch.
        required: the names that every signature must cover.

    Raises:
        SignatureError: the message is malformed, or the signature is not what is asked for.
    """
    try:
        given = _parameters(request)
        dated = _date(request) if "date" in given.names else None
        digest = parse_digest(request.fields.combined.get("digest", "")) if "digest" in given.names else None
    except MalformedField as malformed:
        raise field_error(malformed, profile) from None
    algorithm = _RSA if given.algorithm == RSA_SHA256 else ""
    if given.algorithm not in {HS2019, RSA_SHA256} or (algorithm and algorithm not in profile.algorithms):
        detail = "the algorithm is neither hs2019 nor rsa-sha256, or not one of the profile's"
        raise profile.error("signature_alg_not_allowed", step=4, detail=detail)
    created = int(given.created) if CREATED in given.names else dated
    expires, until = _check_times(given, created, profile, now)
    missing = _missing(request, given.names, required)
    if missing:
        detail = f"{', '.join(missing)} must be covered"
        raise profile.error("signature_components_incomplete", step=6, detail=detail)
    parameters: dict[str, Parameter] = {"keyid": given.keyid, "alg": given.algorithm}
    parameters |= {name: text for name, text in (("created", given.created), ("expires", given.expires)) if text}
    coverage = Coverage.of(components_of(given.names))
    return CavageSignature(
        request, profile, now, "", coverage, MappingProxyType(parameters), "", given.signature, digest, given.keyid,
        algorithm, "", created, expires, until,
    )  # fmt: skip


def _parameters(request: Request) -> CavageParameters:
    """Return the parameters of the Signature field."""
    if request.method != request.method.upper():
        # The signed method is in lower case, so whoever relays the request may choose the case.
        raise MalformedField("the method is not in upper case, and a signature of the draft does not say its case")
    check_fields(request.fields)
    return CavageParameters.parse(request.fields.combined["signature"])


def _check_times(
    given: CavageParameters, created: int | None, profile: Profile, now: float
) -> tuple[int | None, float]:
    """Check the times of a signature. Return its signed `expires`, and when no clock accepts it any more (step 5).

    A parameter that is not signed can end a signature earlier. It never makes it valid for longer. Anyone can change
    it, so what is signed alone says how long the signature is remembered.
    """
    stated = int(given.created) if given.created else None
    ends = int(given.expires.partition(".")[0]) if given.expires else None
    signed = ends if EXPIRES in given.names else None
    until, fault = profile.validity.window(created, signed, now=now)
    _, stated_fault = profile.validity.window(stated, ends, now=now)
    if fault or stated_fault:
        raise profile.error("signature_window_invalid", step=5, detail=fault or stated_fault)
    return signed, until


def _date(request: Request) -> int:
    """Return the covered Date as seconds since the epoch."""
    date = read_http_date(request.fields.combined.get("date", ""))
    if date is None:
        raise MalformedField("the covered Date is absent, or not a date such as Sun, 22 Nov 2026 00:00:00 GMT")
    return date


def _missing(request: Request, names: Collection[str], required: Collection[str]) -> list[str]:
    """Return the components that the signature must cover and does not cover."""
    asked = [*required]
    if request.method in {"GET", "HEAD"}:
        asked.append("host")
    if request.has_body or request.method == "POST":
        asked.append("digest")
    missing = [name for name in dict.fromkeys(asked) if name not in names]
    return missing + [" or ".join(group) for group in _GROUPS if not set(group) & set(names)]
