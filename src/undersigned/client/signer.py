"""Client signers: decide which requests are signed, and sign them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned.cavage.signer import CavageSigner
from undersigned.client.content import DEFAULT_MAX_SPOOLED, FileDigest, read_content
from undersigned.client.signers import AnySigner, BotAuth, DoubleKnock
from undersigned.errors import ConfigurationError, SigningError
from undersigned.message.request import Request
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize, canonicalize_authority
from undersigned.url.origin import Origins

if TYPE_CHECKING:
    from undersigned.client.responses import ResponseVerification
    from undersigned.message.content_digest import RunningDigest
    from undersigned.signature.signer import SignedFields
    from undersigned.url import CanonicalURL

SignerSource: TypeAlias = AnySigner | BotAuth | DoubleKnock | Callable[[], AnySigner | BotAuth]
"""A signer, or a function that returns the one to use now, so that keys change without a restart."""

ConfiguredOrigins: TypeAlias = Iterable[str] | Callable[[str], bool]
"""The origins that a client signs for: a list, or a function of an origin, such as `https://site.example`."""

SIGNATURE_FIELDS: Final = frozenset({"signature-input", "signature", "content-digest"})
"""The names of the fields that a signer writes, in lower case. Such fields that a request already has are replaced."""

_Fields: TypeAlias = tuple[tuple[str, str], ...]
_LEGACY_FIELDS: Final = SIGNATURE_FIELDS | {"date", "digest"}
_MODERN_FIELD: Final = "Signature-Input"
_SCHEMES: Final = {"ws": "http", "wss": "https"}
"""A WebSocket handshake is an http request (RFC 6455 section 3)."""
_URLS_KEPT: Final = 128


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A signed request: send exactly these parts, and the bytes sent are the bytes signed.

    Attributes:
        method: the method.
        url: the canonical URL.
        origin: the scheme and authority of the URL.
        authority: the value of `Host` or `:authority`.
        fields: the given header fields without signature fields; a `Host` among them is in canonical form.
        signature: the header fields to add: Signature-Input, Signature and, for content, Content-Digest.
    """

    method: str
    url: str = field(repr=False)
    origin: str
    authority: str
    fields: tuple[tuple[str, str], ...] = field(repr=False)
    signature: tuple[tuple[str, str], ...]

    @property
    def headers(self) -> list[tuple[str, str]]:
        """All header fields to send. Text is bytes decoded as Latin-1."""
        return [*self.fields, *self.signature]

    @property
    def request(self) -> Request:
        """The request without its content: the parts that a signed response can cover (RFC 9421 section 2.4)."""
        host = [] if any(name.lower() == "host" for name, _ in self.fields) else [("Host", self.authority)]
        return Request(self.method, self.url, [*host, *self.headers])


class ClientSigner:
    """A signer of outgoing requests, for listed origins only. Safe to share between threads.

    Args:
        signer: makes the signatures. A function without arguments is called for each signature and returns the signer
            to use, so that keys change without a restart.
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path. Instead of a list, there may be a
            function of an origin, which returns True to sign for it: a crawler visits sites that nobody listed. Each
            listed origin can redirect to another one, and so choose a URL that is signed for it.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the responses, or None.

    Attributes:
        max_spooled: as given.
        responses: as given.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_canonical", "_is_listed", "_signer", "max_spooled", "responses")

    def __init__(
        self,
        signer: SignerSource,
        origins: ConfiguredOrigins,
        *,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        if not isinstance(signer, Signer | CavageSigner | BotAuth | DoubleKnock) and not callable(signer):
            raise ConfigurationError(
                "signer: pass a Signer, such as Signer(key, profile=profiles.ADCP_3_2), or a function that returns one"
            )
        self._signer: SignerSource = signer
        self._is_listed = _function(origins) if callable(origins) else Origins(origins).lists
        self.max_spooled = max_spooled
        self.responses = responses
        # A client sends to a few URLs again and again.
        self._canonical: Callable[[str], CanonicalURL] = lru_cache(_URLS_KEPT)(canonicalize)

    def sign(
        self,
        method: str,
        url: str,
        fields: Iterable[tuple[str, str]],
        content: bytes | FileDigest,
        *,
        by: AnySigner | None = None,
    ) -> SignedRequest:
        """Sign a request.

        Args:
            method: the method as it is sent.
            url: the absolute URL as the client spells it. `ws` and `wss` become `http` and `https`.
            fields: the header fields as they are sent. Text is bytes decoded as Latin-1.
            content: the whole content as it is sent, or the digest of a file, as `read` returns it.
            by: the signer of a second try, as `note_answer` returns it.

        Raises:
            MalformedURL: the URL or `Host` has no canonical form.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            ConfigurationError: the key must be awaited, or the function for the signer returned something else.
        """
        signer, target, sent, request, digest = self._parts(method, url, fields, content, by)
        return _signed(target, request, sent, signer.sign(request, digest=digest))

    async def async_sign(
        self,
        method: str,
        url: str,
        fields: Iterable[tuple[str, str]],
        content: bytes | FileDigest,
        *,
        by: AnySigner | None = None,
    ) -> SignedRequest:
        """Sign a request as `sign` does, and await the key if its `sign` is async."""
        signer, target, sent, request, digest = self._parts(method, url, fields, content, by)
        return _signed(target, request, sent, await signer.async_sign(request, digest=digest))

    def note_answer(self, signed: SignedRequest, status: int) -> AnySigner | None:
        """Note how a receiver answered. Return the signer of a second try, or None if the request is not sent again.

        Only a `DoubleKnock` has two tries. Call this for the second answer too, and ignore what it returns.

        Args:
            signed: the request as it was sent.
            status: the status of the response.
        """
        if not isinstance(self._signer, DoubleKnock):
            return None
        modern = any(name == _MODERN_FIELD for name, _ in signed.signature)
        return self._signer.note_answer(signed.origin, status, modern=modern)

    def check(self, url: str) -> CanonicalURL:
        """Return the canonical form of a URL whose origin is listed.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed.
        """
        scheme, separator, rest = url.partition("://")
        target = self._canonical(f"{_SCHEMES.get(scheme.lower(), scheme)}{separator}{rest}")
        if not self._is_listed(target):
            raise SigningError(
                f"origins: {_origin_of(target)} is not listed for this path; add it to origins=, "
                "do not follow the redirect that leads there, or send the request by a client that does not sign"
            )
        return target

    def read(self, body: object) -> bytes | FileDigest:
        """Return the content of a request so that it can be signed before it is sent.

        A file that can be read again is read in chunks, and is then where it was before. Any other stream is kept, up
        to `max_spooled` bytes.

        Args:
            body: bytes, text, which is encoded as UTF-8, a binary file, an iterable of bytes, or None for no content.

        Raises:
            SigningError: `body` is something else, a file in text mode, or a stream longer than `max_spooled`.
        """
        return read_content(body, self.digest_builder(), most=self.max_spooled)

    def digest_builder(self) -> RunningDigest:
        """Return a new builder of a Content-Digest, for content that an integration reads by itself."""
        current = self._current()
        signer = current.legacy if isinstance(current, DoubleKnock) else current
        return (signer.signer if isinstance(signer, BotAuth) else signer).digest_builder()

    def _current(self) -> AnySigner | BotAuth | DoubleKnock:
        if isinstance(self._signer, Signer | CavageSigner | BotAuth | DoubleKnock):
            return self._signer
        current = self._signer()
        if not isinstance(current, Signer | CavageSigner | BotAuth):
            raise ConfigurationError("signer: the function must return a Signer")
        return current

    def _parts(
        self,
        method: str,
        url: str,
        fields: Iterable[tuple[str, str]],
        content: bytes | FileDigest,
        by: AnySigner | None,
    ) -> tuple[AnySigner, CanonicalURL, _Fields, Request, str | None]:
        """Return the signer, the canonical target, the fields, the request, and the digest if the content is a file."""
        target = self.check(url)
        current = by or self._current()
        added: list[tuple[str, str]] = []
        if isinstance(current, BotAuth):
            added.append(current.field)
            signer: AnySigner = current.signer
        else:
            signer = current.signer(_origin_of(target)) if isinstance(current, DoubleKnock) else current
        if self.responses is not None:
            # If the signature does not cover Content-Encoding, a relay could change how the content is decoded.
            added.append(("Accept-Encoding", "identity"))
        replaced = (SIGNATURE_FIELDS if isinstance(signer, Signer) else _LEGACY_FIELDS).union(
            [name.lower() for name, _ in added]
        )
        kept = [
            (name, _canonical_host(value, target) if lower == "host" else value)
            for name, value in fields
            if (lower := name.lower()) not in replaced
        ]
        chunked = any(name.lower() == "transfer-encoding" for name, _ in kept)
        sent = (*kept, *added)
        if isinstance(content, bytes):
            request = Request(method, target.target_uri, sent, content, has_body=chunked or bool(content))
            return signer, target, sent, request, None
        return signer, target, sent, Request(method, target.target_uri, sent, has_body=True), content.value


def _signed(target: CanonicalURL, request: Request, sent: _Fields, signed: SignedFields) -> SignedRequest:
    return SignedRequest(request.method, target.target_uri, _origin_of(target), target.authority, sent, signed.fields)


def _function(ask: Callable[[str], bool]) -> Callable[[CanonicalURL], bool]:
    """Return a check of a target by a function of its origin. Only True lists it: another function may return text."""
    return lambda target: ask(_origin_of(target)) is True


def _origin_of(target: CanonicalURL) -> str:
    """Return the scheme and authority of a URL (RFC 6454 section 6.2)."""
    return f"{target.scheme}://{target.authority}"


def _canonical_host(value: str, target: CanonicalURL) -> str:
    """Return the target's authority if `value` is a spelling of it, else `value`, which the signer then rejects."""
    own = target.authority
    return own if value == own or canonicalize_authority(value.strip(" \t"), target.scheme) == own else value
