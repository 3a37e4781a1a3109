"""The signing string of the draft (draft-cavage-http-signatures-12 section 2.3), and its headers."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from undersigned.limits import LONGEST_FIELD, MOST_COMPONENTS, MOST_PARAMETERS, MOST_SIGNATURES
from undersigned.message import tchar
from undersigned.message.covered_components import Component
from undersigned.message.structured_fields import MalformedField, OversizedField
from undersigned.signature.components import FIELD_VALUE, NO_FIELD, UnresolvableComponent, check_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undersigned.message.request import Request
    from undersigned.url import CanonicalURL

CREATED: Final = "(created)"
EXPIRES: Final = "(expires)"
REQUEST_TARGET: Final = "(request-target)"
"""The names in `headers` that are not names of headers (section 2.3)."""

HS2019: Final = "hs2019"
"""The algorithm name that leaves the algorithm to the key. A signature without `algorithm` has it (section 2.1.3)."""

RSA_SHA256: Final = "rsa-sha256"
"""The algorithm name for RSA with PKCS #1 v1.5 and SHA-256."""

_WORD: Final = re.compile(r"Signature +")
"""What http-signature 1.2.0 writes before the parameters, and Mastodon passes over."""

_PARAMETER: Final = re.compile(rf'([A-Za-z][A-Za-z0-9_-]*) *= *(?:"([^"\\]*)"|({tchar.ANY}+))')
"""A parameter of RFC 7235 section 2.1, with spaces around the sign, and a token or a quoted string."""

_SEPARATOR: Final = re.compile(r" *, *")
SIGNED_NAME: Final = re.compile(rf"{tchar.LOWER}+|\((?:request-target|created|expires)\)")
"""A name in `headers`, in lower case."""

_WHOLE: Final = re.compile(r"[0-9]{1,15}")
_DECIMAL: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_SHA_256: Final = "sha-256"
_DIGEST_LENGTH: Final = 32
_DEFAULTS: Final = {HS2019: (CREATED,), RSA_SHA256: ("date",)}


def components_of(names: Iterable[str]) -> list[Component]:
    """Return signed names as components, which have their names as identifiers."""
    return [Component(name, name, bare=True) for name in names]


def signing_string(
    request: Request, target: CanonicalURL, names: Sequence[str], *, created: str = "", expires: str = ""
) -> str:
    """Return the signing string as ASCII text, lines separated by LF.

    Args:
        request: the message.
        target: its target, with path and query as they are on the wire.
        names: the signed names in their order.
        created: the `created` parameter as it is spelled.
        expires: the `expires` parameter as it is spelled.

    Raises:
        UnresolvableComponent: the message has no such field, or its value is not printable ASCII.
    """
    pseudo = {REQUEST_TARGET: _request_target(request.method, target), CREATED: created, EXPIRES: expires}
    return "\n".join([f"{name}: {pseudo[name] if name in pseudo else _value(request, name)}" for name in names])


def _request_target(method: str, target: CanonicalURL) -> str:
    check_method(method, any_case=True)
    path_and_query = target.target_uri.removeprefix(f"{target.scheme}://{target.authority}")
    return f"{method.lower()} {path_and_query}"


def _value(request: Request, name: str) -> str:
    value = request.fields.combined.get(name)
    if value is None:
        raise UnresolvableComponent(NO_FIELD)
    if FIELD_VALUE.fullmatch(value) is None:
        raise UnresolvableComponent("a signed field has a character that is not printable ASCII")
    return value


@dataclass(frozen=True, slots=True)
class CavageParameters:
    """The parameters of one signature by the draft.

    Attributes:
        keyid: the `keyId`.
        algorithm: the `algorithm`, `hs2019` if it is absent.
        names: the `headers` in their order; the default of the algorithm if it is absent.
        created: the `created` as it is spelled, or "".
        expires: the `expires` as it is spelled, or "".
        signature: the bytes of the signature.
    """

    keyid: str
    algorithm: str
    names: tuple[str, ...]
    created: str
    expires: str
    signature: bytes = field(repr=False)

    @classmethod
    def parse(cls, value: str) -> CavageParameters:
        """Read a field value.

        Raises:
            MalformedField: it is not a list of parameters, repeats one, lacks `keyId` or `signature`, or one of them
                has a wrong value.
        """
        given = _parameters(value)
        missing = [name for name in ("keyId", "signature") if not given.get(name)]
        if missing:
            raise MalformedField(f"the Signature field has no {missing[0]} parameter")
        algorithm = given.get("algorithm", HS2019)
        created, expires = given.get("created", ""), given.get("expires", "")
        if (created and not _WHOLE.fullmatch(created)) or (expires and not _DECIMAL.fullmatch(expires)):
            raise MalformedField("created or expires is not a number of seconds")
        names = _names(given["headers"]) if "headers" in given else _DEFAULTS.get(algorithm, ("date",))
        if (CREATED in names and not created) or (EXPIRES in names and not expires):
            raise MalformedField("headers names a parameter that the signature does not have")
        if algorithm != HS2019 and not {CREATED, EXPIRES}.isdisjoint(names):
            raise MalformedField("(created) and (expires) can be signed with the algorithm hs2019 only")
        return cls(given["keyId"], algorithm, names, created, expires, _octets(given["signature"], "signature"))


def serialize_parameters(keyid: str, algorithm: str, names: tuple[str, ...], signature: bytes) -> str:
    """Return the value of the Signature field."""
    text = base64.b64encode(signature).decode("ascii")
    return f'keyId="{keyid}",algorithm="{algorithm}",headers="{" ".join(names)}",signature="{text}"'


def _parameters(value: str) -> dict[str, str]:
    if len(value) > LONGEST_FIELD:
        raise OversizedField(
            f"the Signature field has {len(value):,} characters, and at most {LONGEST_FIELD:,} are read: sign fewer "
            "fields, or use a shorter keyId"
        )
    if not value.isascii() or not value.isprintable():
        raise MalformedField("the Signature field has a character that is not printable ASCII")
    given: dict[str, str] = {}
    word = _WORD.match(value)
    at = word.end() if word else 0
    while match := _PARAMETER.match(value, at):
        name, quoted, bare = match.groups()
        if name in given:
            raise MalformedField("the Signature field repeats a parameter, or has several signatures")
        given[name] = bare if quoted is None else quoted
        if match.end() == len(value):
            return given
        separator = _SEPARATOR.match(value, match.end())
        if separator is None or len(given) == MOST_PARAMETERS:
            break
        at = separator.end()
    raise MalformedField(f"the Signature field is not a list of at most {MOST_PARAMETERS} parameters")


def _names(value: str) -> tuple[str, ...]:
    # Case and spaces cannot change what was signed: the signing string has each name in lower case (section 2.3).
    names = tuple(value.lower().split())
    if len(names) > MOST_COMPONENTS:
        raise OversizedField(f"headers has {len(names):,} names, and at most {MOST_COMPONENTS} are read: sign fewer")
    if not names or len(set(names)) < len(names) or not all(map(SIGNED_NAME.fullmatch, names)):
        raise MalformedField("headers is not a list of different names")
    return names


def _octets(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise MalformedField(f"the {what} is not Base64") from None


def read_http_date(value: str) -> int | None:
    """Return an HTTP date, such as `Sun, 22 Nov 2026 00:00:00 GMT`, as seconds since the epoch.

    None means that it is not a date in this form, which senders must write (RFC 9110 section 5.6.7).
    """
    try:
        seconds = int(parsedate_to_datetime(value).timestamp())
        return seconds if http_date(seconds) == value else None
    except (ValueError, OverflowError):
        # Also in the year 10000, which no HTTP date has.
        return None


def http_date(seconds: float) -> str:
    """Return seconds since the epoch as an HTTP date (RFC 9110 section 5.6.7)."""
    return formatdate(int(seconds), usegmt=True)


def parse_digest(value: str) -> dict[str, bytes]:
    """Return the SHA-256 digest of a Digest field (RFC 3230 section 4.3.2). Digests by other algorithms are ignored.

    Raises:
        MalformedField: it is not a list of digests, or its SHA-256 is absent, repeated, or not 32 bytes in Base64.
    """
    members = value.split(",", MOST_SIGNATURES)
    if len(value) > LONGEST_FIELD or len(members) > MOST_SIGNATURES:
        raise OversizedField(
            f"the Digest field has {len(value):,} characters and {value.count(',') + 1:,} digests, and at most "
            f"{LONGEST_FIELD:,} and {MOST_SIGNATURES} are read: send SHA-256 alone"
        )
    found: list[bytes] = []
    for member in members:
        name, equals, text = member.strip(" \t").partition("=")
        if not equals:
            raise MalformedField("the Digest field is not a list of digests such as SHA-256=...")
        if name.lower() == _SHA_256:
            found.append(_octets(text, "SHA-256 of the Digest field"))
    if len(found) != 1 or len(found[0]) != _DIGEST_LENGTH:
        raise MalformedField(f"the Digest field does not have one SHA-256 of {_DIGEST_LENGTH} bytes")
    return {_SHA_256: found[0]}


def legacy_digest(content_digest: str) -> str:
    """Return the Digest field for a Content-Digest with one digest, by sha-256."""
    return f"SHA-256={content_digest.removeprefix(f'{_SHA_256}=:').removesuffix(':')}"
