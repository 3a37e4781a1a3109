"""Client signers: decide which requests are signed, and sign them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Required, TypeAlias, TypedDict
from urllib.parse import quote

from undersigned.cavage.signer import CavageSigner
from undersigned.client.bots import BotAuth
from undersigned.client.content import DEFAULT_MAX_SPOOLED, FileDigest, read_content
from undersigned.client.double_knock import AnySigner, DoubleKnock, asked_nonce
from undersigned.client.signed_request import SignedRequest
from undersigned.errors import ConfigurationError, MalformedURL, SigningError
from undersigned.message.request import Request
from undersigned.message.request_target import check_sent
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize, canonicalize_authority
from undersigned.url.origin import Origins

if TYPE_CHECKING:
    from undersigned.client.responses import ResponseVerification
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
_AFTER_AUTHORITY: Final = re.compile(r"[/?#].*", re.DOTALL)
_UNQUOTED: Final = re.compile(r"""["<>[\]^`{|}]""")
"""What RFC 3986 forbids in a URL, and HTTP libraries encode or send as it is, each in its own way."""


class SigningOptions(TypedDict, total=False):
    """The options of every client that signs.

    Attributes:
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path. Instead of a list, there may be a
            function of an origin, which returns True to sign for it: a crawler visits sites that nobody listed. Each
            listed origin can redirect to another one, and so choose a URL that is signed for it.
        max_spooled: how many bytes to keep of a body that cannot be read again, such as a generator; 16 MiB by
            default.
        responses: verifies the response to each request, also a redirect or an error, before you get it. By default no
            response is verified.
    """

    origins: Required[ConfiguredOrigins]
    max_spooled: int
    responses: ResponseVerification | None


class ClientSigner:
    """A signer of outgoing requests, for listed origins only. Safe to share between threads.

    Args:
        signer: makes the signatures. A function without arguments is called for each signature and returns the signer
            to use, so that keys change without a restart.
        origins: as in `SigningOptions`.
        max_spooled: as in `SigningOptions`.
        responses: as in `SigningOptions`.
        is_async: whether the client awaits: a verifier of responses, and a key.

    Attributes:
        max_spooled: as given.
        origins: the listed origins, or none if there is a function.
        responses: as given.
        signer: as given.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_canonical", "_is_listed", "max_spooled", "origins", "responses", "signer")

    def __init__(
        self,
        signer: SignerSource,
        origins: ConfiguredOrigins,
        *,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
        is_async: bool = True,
    ) -> None:
        if not isinstance(signer, Signer | CavageSigner | BotAuth | DoubleKnock) and not callable(signer):
            raise ConfigurationError("signer: pass a Signer, such as Signer(key), or a function that returns one")
        if responses is not None and not is_async and not responses.is_sync:
            raise ConfigurationError("responses: this client does not await its verifier; pass a Verifier")
        self.signer: SignerSource = signer
        self.origins = () if callable(origins) or isinstance(origins, str) else tuple(origins)
        self._is_listed = _function(origins) if callable(origins) else Origins(self.origins or origins).lists
        self.max_spooled = max_spooled
        self.responses = responses
        # A client sends to a few URLs again and again.
        self._canonical: Callable[[str], CanonicalURL] = lru_cache(_URLS_KEPT)(url_as_sent)

    def tries(self, method: str, url: str, fields: Iterable[tuple[str, str]], content: bytes | FileDigest) -> Tries:
        """Return the tries of a request: one, or two with a `DoubleKnock`.

        Args:
            method: the method as it is sent.
            url: the absolute URL as the client spells it. `ws` and `wss` become `http` and `https`.
            fields: the headers as they are sent. Text is bytes decoded as Latin-1.
            content: the whole body as it is sent, or the digest of a file, as `read` returns it.
        """
        return Tries(self, method, url, fields, content)

    def sign(
        self, method: str, url: str, fields: Iterable[tuple[str, str]], content: bytes | FileDigest
    ) -> SignedRequest:
        """Sign a request that is sent once. Arguments are those of `tries`, and errors those of `Tries.sign`."""
        return self.tries(method, url, fields, content).sign()

    def check(self, url: str) -> CanonicalURL:
        """Return the canonical form of a URL whose origin is listed.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed.
        """
        target = self._canonical(url)
        if not self._is_listed(target):
            raise SigningError(
                f"origins: {_origin_of(target)} is not listed for this path; add it to origins=, "
                "do not follow the redirect that leads there, or send the request with a client that does not sign"
            )
        return target

    def lists(self, url: str) -> bool:
        """Return whether the origin of a URL is listed."""
        try:
            self.check(url)
        except (MalformedURL, SigningError):
            return False
        return True

    def read(self, body: object) -> bytes | FileDigest:
        """Return the body of a request so that it can be signed before it is sent.

        A file that can be read again is read in chunks, and is then where it was before. Any other stream is kept, up
        to `max_spooled` bytes.

        Args:
            body: bytes, text, which is encoded as UTF-8, a binary file, an iterable of bytes, or None for no body.

        Raises:
            SigningError: `body` is something else, a file in text mode, or a stream longer than `max_spooled`.
        """
        return read_content(body, self.file_digest(), most=self.max_spooled)

    def file_digest(self) -> FileDigest:
        """Return the digest of nothing yet, for a body that an integration reads by itself."""
        current = self.current()
        signer = current.legacy if isinstance(current, DoubleKnock) else current
        return FileDigest((signer.signer if isinstance(signer, BotAuth) else signer).digest_builder())

    def current(self) -> AnySigner | BotAuth | DoubleKnock:
        """Return the signer to use now.

        Raises:
            ConfigurationError: the function for the signer returned something else.
        """
        if isinstance(self.signer, Signer | CavageSigner | BotAuth | DoubleKnock):
            return self.signer
        current = self.signer()
        if not isinstance(current, Signer | CavageSigner | BotAuth):
            raise ConfigurationError("signer: the function must return a Signer")
        return current


class Tries:
    """The tries of one request, without IO: sign it, send what is signed, and ask whether to sign it once more.

    `ClientSigner.tries` makes them.
    """

    __slots__ = ("_by", "_client", "_nonce", "_parts", "_signed")

    def __init__(
        self,
        client: ClientSigner,
        method: str,
        url: str,
        fields: Iterable[tuple[str, str]],
        content: bytes | FileDigest,
    ) -> None:
        self._client = client
        self._parts = method, url, tuple(fields), content
        self._by: AnySigner | None = None
        self._nonce: str | None = None

    def sign(self) -> SignedRequest:
        """Return the request to send now.

        Raises:
            MalformedURL: the URL or `Host` has no canonical form, or the URL has an escape that no receiver reads.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            ConfigurationError: the key must be awaited, or the function for the signer returned something else.
        """
        signer, target, sent, request, digest = self._draft()
        if isinstance(signer, Signer):
            return self._note(target, request, sent, signer.sign(request, digest=digest, nonce=self._nonce))
        return self._note(target, request, sent, signer.sign(request, digest=digest))

    async def async_sign(self) -> SignedRequest:
        """Return the request to send now, as `sign` does, and await the key if its `sign` is async."""
        signer, target, sent, request, digest = self._draft()
        if isinstance(signer, Signer):
            made = await signer.async_sign(request, digest=digest, nonce=self._nonce)
        else:
            made = await signer.async_sign(request, digest=digest)
        return self._note(target, request, sent, made)

    def is_last(self, status: int, accept_signature: str = "") -> bool:
        """Return whether a response is the one for the caller; if not, sign and send once more.

        Ask this for each response. A `DoubleKnock` remembers what the response says of its origin.

        Args:
            status: the status of the response to the request that was signed last.
            accept_signature: the value of its Accept-Signature, or "".
        """
        pair = self._client.signer
        if not isinstance(pair, DoubleKnock):
            return True
        was_second, modern = self._by is not None, any(name == _MODERN_FIELD for name, _ in self._signed.signature)
        self._by = pair.note_answer(self._signed.origin, status, modern=modern)
        if modern and self._by is not None and (nonce := asked_nonce(accept_signature, pair.modern.profile)):
            self._by, self._nonce = pair.modern, nonce
        return was_second or self._by is None

    def _draft(self) -> tuple[AnySigner, CanonicalURL, _Fields, Request, str | None]:
        """Return the signer, the canonical target, the fields, the request, and the digest if the body is a file."""
        method, url, fields, content = self._parts
        target = self._client.check(url)
        current = self._by or self._client.current()
        added: list[tuple[str, str]] = []
        if isinstance(current, BotAuth):
            added.append(current.field)
            signer: AnySigner = current.signer
        else:
            signer = current.signer(_origin_of(target)) if isinstance(current, DoubleKnock) else current
        if self._client.responses is not None:
            # If the signature does not cover Content-Encoding, a relay could change how the content is decoded.
            added.append(("Accept-Encoding", "identity"))
        replaced = (SIGNATURE_FIELDS if isinstance(signer, Signer) else _LEGACY_FIELDS).union(
            [name.lower() for name, _ in added]
        )
        length = len(content) if isinstance(content, bytes) else content.length
        kept: list[tuple[str, str]] = []
        for name, value in fields:
            lower = name.lower()
            if lower == "host":
                kept.append((name, _canonical_host(value, target)))
            elif lower == "content-length":
                kept.append((name, str(length)))
            elif lower not in replaced:
                kept.append((name, value))
        chunked = any(name.lower() == "transfer-encoding" for name, _ in kept)
        sent = (*kept, *added)
        if isinstance(content, bytes):
            request = Request(method, target.target_uri, sent, content, has_body=chunked or bool(content))
            return signer, target, sent, request, None
        return signer, target, sent, Request(method, target.target_uri, sent, has_body=True), content.value

    def _note(self, target: CanonicalURL, request: Request, sent: _Fields, signed: SignedFields) -> SignedRequest:
        self._signed = SignedRequest(
            request.method, target.target_uri, _origin_of(target), target.authority, sent, signed.fields
        )
        return self._signed


def url_as_sent(url: str) -> CanonicalURL:
    """Return the canonical form of a URL as every client sends it.

    Args:
        url: an absolute URL. `ws` and `wss` become `http` and `https`.

    Raises:
        MalformedURL: it has no canonical form, or one that no receiver reads, as with a bad escape in its query.
    """
    scheme, separator, rest = url.partition("://")
    after = _AFTER_AUTHORITY.search(rest)
    if after is not None:
        rest = rest[: after.start()] + _UNQUOTED.sub(lambda found: quote(found[0]), after[0])
    canonical = canonicalize(f"{_SCHEMES.get(scheme.lower(), scheme)}{separator}{rest}")
    check_sent(canonical)
    return canonical


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
