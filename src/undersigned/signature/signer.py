"""Signers: a request gets its signature fields (RFC 9421 section 3.1)."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from functools import lru_cache
from os import urandom
from typing import TYPE_CHECKING, NamedTuple

from undersigned.errors import ConfigurationError, SigningError
from undersigned.message.content_digest import DIGEST_ALGORITHMS, ContentDigest, content_digest
from undersigned.message.structured_fields import (
    KEY,
    Component,
    MalformedField,
    is_list,
    serialize_byte_sequence,
    serialize_signature_input,
)
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.signature.keys import SigningKey
from undersigned.signature.profile import Profile
from undersigned.url import canonicalize, canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.request import Request
    from undersigned.url import CanonicalURL

_LARGEST_INTEGER = 999_999_999_999_999
_URLS_KEPT = 128
_NONCE_BYTES = 16
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")


@dataclass(frozen=True, slots=True)
class SignedFields:
    """What signing a request gives.

    Attributes:
        fields: the header fields to add, as (name, value) pairs.
        target_uri: the canonical target URI that was signed; the request must be sent to it.
        signature_base: the base that was signed; it may hold header values, so it is not in the repr.
    """

    fields: tuple[tuple[str, str], ...]
    target_uri: str = field(repr=False)
    signature_base: str = field(repr=False)


class Signer:
    """Signs requests with one key by one profile. Safe to share between threads.

    Args:
        key: the private key.
        profile: what the receiver will judge by.
        components: fields to cover besides those the profile requires, lower case.
        digests: the algorithms of a Content-Digest the signer makes.
        clock: seconds since the epoch; `created` where none is given.
        nonces: makes a nonce where none is given: unpadded Base64url of as many bytes as the profile asks for, or
            more. Unless given, nonces are random, of 16 bytes or more.

    Raises:
        ConfigurationError: the key is for another purpose, or an argument is not what it must be.
    """

    __slots__ = ("_clock", "_constant", "_covered", "_digests", "_key", "_nonces", "_target_of", "profile")

    def __init__(
        self,
        key: SigningKey,
        *,
        profile: Profile,
        components: Sequence[str] = (),
        digests: Sequence[DigestAlgorithm] = ("sha-256",),
        clock: Callable[[], float] = time.time,
        nonces: Callable[[], str] | None = None,
    ) -> None:
        if not isinstance(key, SigningKey):
            raise ConfigurationError("key: pass a SigningKey, such as SigningKey.from_jwk(jwk)")
        if not isinstance(profile, Profile):
            raise ConfigurationError("profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2")
        if key.algorithm not in profile.algorithms:
            raise ConfigurationError(f"key: profile {profile.name} does not accept {key.algorithm}")
        if key.purposes and not key.purposes & profile.purposes:
            raise ConfigurationError(
                f"key: its adcp_use is not {' or '.join(sorted(profile.purposes))}; profile {profile.name} needs that"
            )
        _check_options(profile, components, digests)
        if not callable(clock) or not (nonces is None or callable(nonces)):
            option = "nonces" if callable(clock) else "clock"
            raise ConfigurationError(f"{option}: pass a function without arguments")
        self._key = key
        self.profile = profile
        self._covered = {
            has_body: _Covered.of((*profile.required_components(has_body=has_body), *components))
            for has_body in (True, False)
        }
        constant = {"keyid": key.keyid, "alg": key.algorithm, "tag": profile.tag}
        self._constant = serialize_signature_input((), constant).removeprefix("()")
        self._digests = tuple(digests)
        self._clock = clock
        self._nonces = nonces
        # A client sends to a few URLs again and again.
        self._target_of: Callable[[str], CanonicalURL] = lru_cache(_URLS_KEPT)(canonicalize)

    def sign(
        self,
        request: Request,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
    ) -> list[tuple[str, str]]:
        """Return the header fields to add to `request`; see `signed` for the arguments and errors."""
        return list(self.signed(request, created=created, expires=expires, nonce=nonce, label=label).fields)

    def signed(
        self,
        request: Request,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
    ) -> SignedFields:
        """Sign a request.

        Args:
            request: what is about to be sent. A Content-Digest it has is kept and must be right.
            created: seconds since the epoch; the clock's unless given.
            expires: seconds since the epoch; as late as the profile allows unless given.
            nonce: unpadded Base64url; a fresh one unless given.
            label: the signature's label; the profile's unless given.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the request lacks what the profile covers, or an argument is out of the profile's bounds.
        """
        if label is None:
            label = self.profile.label
        elif KEY.fullmatch(label) is None:
            raise SigningError("label: use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)")
        target = self._target_of(request.url)
        self._check(request, target, label)
        covered = self._covered[request.has_body]
        digest = self._digest(request) if "content-digest" in covered.names else None
        parameters = f"{covered.text}{self._parameters(created, expires, nonce)}{self._constant}"
        base = self._base(ComponentValues(request, target, digest), covered, parameters)
        added = () if digest is None else (("Content-Digest", digest),)
        signature = serialize_byte_sequence(self._key.sign(base.encode("ascii")), self.profile.encoding)
        fields = (*added, ("Signature-Input", f"{label}={parameters}"), ("Signature", f"{label}={signature}"))
        return SignedFields(fields, target.target_uri, base)

    def _check(self, request: Request, target: CanonicalURL, label: str) -> None:
        """Refuse what a receiver would read otherwise than we sign it."""
        if not request.fields_are_sound:
            raise SigningError("headers: a name is not a token, or a value holds CR, LF or NUL")
        for name, field_name in ((":authority", ":authority"), ("Host", "host")):
            values = request.by_name.get(field_name)
            if values is None:
                continue
            if len(values) > 1:
                raise SigningError(f"headers: more than one {name}; a receiver refuses such a request")
            own = target.authority
            if values[0] != own and canonicalize_authority(values[0], target.scheme) != own:
                raise SigningError(f"headers: {name} is not the URL's authority; sign for the authority that is sent")
        given = request.field("signature-input")
        if given is not None and re.search(rf"(?:^|,)[ \t]*{re.escape(label)}[ \t]*=", given):
            raise SigningError("headers: the request already has a signature of this label; pass another label")

    def _parameters(self, created: int | None, expires: int | None, nonce: str | None) -> str:
        """Return the parameters that differ from request to request: integers and a nonce without escapes."""
        longest = self.profile.longest_validity
        if created is None:
            created = int(self._clock())
        if not _is_whole(created) or abs(created) > _LARGEST_INTEGER - longest:
            raise SigningError("created: must be whole seconds since the epoch (RFC 8941 section 3.3.1: of 15 digits)")
        if expires is None:
            expires = created + longest
        elif not _is_whole(expires) or not 0 < expires - created <= longest:
            raise SigningError(f"expires: must lie 1 to {longest} whole seconds after created (profile)")
        return f';created={created};expires={expires};nonce="{self._nonce(nonce)}"'

    def _nonce(self, nonce: str | None) -> str:
        """Return the nonce to sign: the one given, one of the function that makes them, or a random one."""
        bytes_asked, option = self.profile.nonce_bytes, "nonce: must"
        if nonce is None:
            if self._nonces is None:
                return serialize_byte_sequence(urandom(max(_NONCE_BYTES, bytes_asked)), "base64url")[1:-1]
            nonce, option = self._nonces(), "nonces: what the function returns must"
        if not self.profile.accepts_nonce(nonce):
            raise SigningError(f"{option} be unpadded Base64url of at least {bytes_asked} bytes")
        return nonce

    def _digest(self, request: Request) -> str | None:
        """Return the Content-Digest to add, or None for the one the request already has, which must be right."""
        given = request.field("content-digest")
        if given is None:
            return content_digest(request.body, self.profile.digest_encodings[0], algorithms=self._digests)
        try:
            running = ContentDigest.parse(given, *self.profile.digest_encodings).running(request.body)
        except MalformedField as malformed:
            raise SigningError(f"headers: Content-Digest: {malformed}; leave it out to have it made") from None
        if not running.matches():
            raise SigningError("headers: Content-Digest is not the body's; leave it out to have it made")
        return None

    def _base(self, values: ComponentValues, covered: _Covered, parameters: str) -> str:
        if "content-type" in covered.names:
            types = values.request.by_name.get("content-type", ())
            if len(types) != 1:
                raise SigningError("headers: the profile covers Content-Type; add exactly one to the request")
            if is_list(types[0]):
                raise SigningError("headers: Content-Type has several values; a receiver refuses such a request")
        try:
            return signature_base(values, covered.components, parameters)
        except UnresolvableComponent as unresolvable:
            raise SigningError(f"{unresolvable}: {', '.join(covered.names)} are covered") from None


class _Covered(NamedTuple):
    """The components a signer covers, worked out once for requests with content and once for those without.

    Attributes:
        names: their names.
        components: the components.
        text: the inner list of them, as `@signature-params` begins.
    """

    names: tuple[str, ...]
    components: tuple[Component, ...]
    text: str

    @classmethod
    def of(cls, names: Iterable[str]) -> _Covered:
        unique = tuple(dict.fromkeys(names))
        components = tuple(Component(name, f'"{name}"', bare=True) for name in unique)
        return cls(unique, components, serialize_signature_input(unique, {}))


def _is_whole(seconds: object) -> bool:
    return isinstance(seconds, int) and not isinstance(seconds, bool)


def _check_options(profile: Profile, components: Sequence[str], digests: Sequence[str]) -> None:
    """Refuse what no request could be signed with.

    Raises:
        ConfigurationError: it is the signer's configuration.
    """
    names = all(isinstance(name, str) and _FIELD_NAME.fullmatch(name) for name in components)
    if isinstance(components, str) or not names:
        raise ConfigurationError("components: list field names in lower case, such as ['idempotency-key']")
    if profile.digest == "forbidden" and "content-digest" in components:
        raise ConfigurationError(f"components: profile {profile.name} forbids covering content-digest")
    if isinstance(digests, str) or not digests or not DIGEST_ALGORITHMS.issuperset(digests):
        raise ConfigurationError(f"digests: list some of {', '.join(sorted(DIGEST_ALGORITHMS))}")
