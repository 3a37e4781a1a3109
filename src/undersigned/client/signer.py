"""Client signers: decide which requests are signed, and sign them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, Required, TypeAlias, TypedDict, TypeVar, cast

from undersigned.cavage.signer import CavageSigner
from undersigned.client.bot_auth import BotAuth
from undersigned.client.content import DEFAULT_MAX_SPOOLED, Spool, UnchangedFile, as_octets, is_seekable
from undersigned.client.double_knock import AnySigner, DoubleKnock, asked_nonce
from undersigned.client.origins import ConfiguredOrigins, ListedOrigins, origin_of
from undersigned.errors import ConfigurationError, SigningError
from undersigned.message.request import Request
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize_authority
from undersigned.verification.blocking_calls import awaited, finish

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable

    from undersigned.client.content import FileDigest
    from undersigned.client.responses import ResponseVerification, VerifiedResponse
    from undersigned.message.content_digest import RunningDigest
    from undersigned.signature.signer import SignatureOptions
    from undersigned.url import CanonicalURL

SignerSource: TypeAlias = AnySigner | BotAuth | DoubleKnock | Callable[[], AnySigner | BotAuth]
"""A signer, or a function that returns the one to use now, so that keys change without a restart."""

Headers: TypeAlias = Iterable[tuple[str, str]]
"""Headers as a client sends or receives them. Text is bytes decoded as Latin-1."""

SIGNATURE_FIELDS: Final = frozenset({"signature-input", "signature", "content-digest"})
"""The names of the fields that a signer writes, in lower case. Such fields that a request already has are replaced."""

ResponseT = TypeVar("ResponseT")

_LEGACY_FIELDS: Final = SIGNATURE_FIELDS | {"date", "digest"}
_CHUNK: Final = 65_536


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


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A signed request: send exactly these parts, and the bytes sent are the bytes signed.

    Attributes:
        method: the method.
        url: the canonical URL.
        origin: the scheme and authority of the URL.
        authority: the value of `Host` or `:authority`.
        fields: the given headers without signature fields; a `Host` among them is in canonical form.
        signature: the headers to add: Signature-Input, Signature and, for a body, Content-Digest.
    """

    method: str
    url: str = field(repr=False)
    origin: str
    authority: str
    fields: tuple[tuple[str, str], ...] = field(repr=False)
    signature: tuple[tuple[str, str], ...]

    @property
    def headers(self) -> list[tuple[str, str]]:
        """All headers to send. Text is bytes decoded as Latin-1."""
        return [*self.fields, *self.signature]

    @property
    def request(self) -> Request:
        """The request without its content: the parts that a signed response can cover (RFC 9421 section 2.4)."""
        host = [] if any(name.lower() == "host" for name, _ in self.fields) else [("Host", self.authority)]
        return Request(self.method, self.url, [*host, *self.headers])


@dataclass(slots=True)
class Received(Generic[ResponseT]):
    """A response as a client integration has received it.

    Attributes:
        response: the response of the HTTP library.
        status: its status.
        headers: its headers.
        chunks: its body before any decoding.
        replace: makes the response the one that was verified, with its body in memory.
        close: closes it, if the caller does not get it.
    """

    response: ResponseT
    status: int
    headers: Headers
    chunks: AsyncIterable[bytes]
    replace: Callable[[VerifiedResponse], Awaitable[None] | None]
    close: Callable[[], Awaitable[None] | None]


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
        origins: the listed origins.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_is_async", "_responses", "_signer", "max_spooled", "origins")

    def __init__(
        self,
        signer: SignerSource,
        origins: ConfiguredOrigins,
        *,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
        is_async: bool = False,
    ) -> None:
        if not isinstance(signer, Signer | CavageSigner | BotAuth | DoubleKnock) and not callable(signer):
            raise ConfigurationError("signer: pass a Signer, such as Signer(key), or a function that returns one")
        if responses is not None and not is_async and not responses.is_sync:
            raise ConfigurationError("responses: this client does not await its verifier; pass a Verifier")
        self._signer: SignerSource = signer
        self.origins = ListedOrigins(origins)
        self.max_spooled = max_spooled
        self._responses = responses
        self._is_async = is_async

    def sign(self, method: str, url: str, fields: Headers, content: bytes | FileDigest) -> SignedRequest:
        """Sign a request that is sent once.

        Args:
            method: the method as it is sent.
            url: the absolute URL as the client spells it. `ws` and `wss` become `http` and `https`.
            fields: the headers as they are sent.
            content: the whole body as it is sent, or the digest of a file, as `read` returns it.

        Raises:
            MalformedURL: the URL or `Host` has no canonical form, or the URL has an escape that no receiver reads.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            ConfigurationError: the key must be awaited, or the function for the signer returned something else.
        """
        return finish(self._sign(method, url, fields, content, self._current(), is_async=False))

    async def exchange(
        self,
        method: str,
        url: str,
        fields: Headers,
        content: bytes | FileDigest,
        send: Callable[[SignedRequest], Awaitable[Received[ResponseT]]],
    ) -> ResponseT:
        """Sign a request, send it, and verify the response; a second time if a `DoubleKnock` asks for it.

        It waits only in an asyncio client. Arguments are those of `sign`, and `send`, which sends a signed request.
        Errors are those of `sign` and of `send`.

        Raises:
            SignatureError: the response is rejected.
        """
        parts = method, url, tuple(fields), content
        signer, nonce, is_second = self._current(), "", False
        while True:
            signed = await self._sign(*parts, signer, nonce=nonce or None, is_async=self._is_async)
            received = await send(signed)
            headers = received.headers
            if self._responses is not None:
                try:
                    verified = await self._responses.verify(signed, received.status, headers, received.chunks)
                except BaseException:
                    await awaited(received.close())
                    raise
                await awaited(received.replace(verified))
                headers = verified.headers
            other, nonce = self._second_try(signed, received.status, headers)
            if other is None or is_second:
                return received.response
            await awaited(received.close())
            signer, is_second = other, True

    def _second_try(self, signed: SignedRequest, status: int, headers: Headers) -> tuple[AnySigner | None, str]:
        """Return the signer and the nonce of a second try, or None if the response asks for none."""
        if not isinstance(self._signer, DoubleKnock):
            return None, ""
        pair, modern = self._signer, any(name == "Signature-Input" for name, _ in signed.signature)
        other = pair.note_answer(signed.origin, status, modern=modern)
        asked = ", ".join([value for name, value in headers if name.lower() == "accept-signature"])
        nonce = asked_nonce(asked, pair.modern.profile) if modern and other is not None else ""
        return pair.modern if nonce else other, nonce

    def read(self, body: object) -> bytes | FileDigest:
        """Return the body of a request so that it can be signed before it is sent.

        A file that can be read again is read in chunks, and is then where it was before. Any other stream is kept, up
        to `max_spooled` bytes.

        Args:
            body: bytes, text, which is encoded as UTF-8, a binary file, an iterable of bytes, or None for no body.

        Raises:
            SigningError: `body` is something else, a file in text mode, or a stream longer than `max_spooled`.
        """
        if body is None:
            return b""
        if isinstance(body, str):
            return body.encode()
        if isinstance(body, bytes | bytearray | memoryview):
            return as_octets(cast("object", body))
        if is_seekable(body):
            file = UnchangedFile(body, self.digest_builder())
            return file if file.length else b""
        if callable(read := getattr(body, "read", None)):
            body = iter(lambda: read(_CHUNK), b"")
        if not isinstance(body, Iterable):
            raise SigningError(
                f"content: expected bytes, a binary file or an iterable of bytes, not {type(body).__name__}"
            )
        spool = Spool(self.max_spooled)
        for chunk in cast("Iterable[object]", body):
            spool.add(chunk)
        return bytes(spool.content)

    def digest_builder(self) -> RunningDigest:
        """Return the digest of nothing yet, for a body that an integration reads by itself."""
        current = self._current()
        signer = current.legacy if isinstance(current, DoubleKnock) else current
        return (signer.signer if isinstance(signer, BotAuth) else signer).digest_builder()

    def _current(self) -> AnySigner | BotAuth | DoubleKnock:
        """Return the signer to use now."""
        if isinstance(self._signer, Signer | CavageSigner | BotAuth | DoubleKnock):
            return self._signer
        current = self._signer()
        if not isinstance(current, Signer | CavageSigner | BotAuth):
            raise ConfigurationError("signer: the function must return a Signer")
        return current

    async def _sign(
        self,
        method: str,
        url: str,
        fields: Headers,
        content: bytes | FileDigest,
        signer: AnySigner | BotAuth | DoubleKnock,
        *,
        nonce: str | None = None,
        is_async: bool,
    ) -> SignedRequest:
        """Sign a request as `sign` does. Only an async key is awaited."""
        target = self.origins.check(url)
        origin = origin_of(target)
        added: list[tuple[str, str]] = []
        if isinstance(signer, BotAuth):
            added.append(signer.field)
            signer = signer.signer
        elif isinstance(signer, DoubleKnock):
            signer = signer.signer(origin)
        if self._responses is not None:
            # If the signature does not cover Content-Encoding, a relay could change how the content is decoded.
            added.append(("Accept-Encoding", "identity"))
        replaced = (SIGNATURE_FIELDS if isinstance(signer, Signer) else _LEGACY_FIELDS).union(
            [name.lower() for name, _ in added]
        )
        length = len(content) if isinstance(content, bytes) else content.length
        kept: list[tuple[str, str]] = []
        has_body = bool(length)
        for name, value in fields:
            lower = name.lower()
            if lower == "host":
                kept.append((name, _canonical_host(value, target)))
            elif lower == "content-length":
                kept.append((name, str(length)))
            elif lower not in replaced:
                kept.append((name, value))
                has_body |= lower == "transfer-encoding"
        body, digest = (content, None) if isinstance(content, bytes) else (b"", content.value)
        request = Request(method, target.target_uri, [*kept, *added], body, has_body=has_body)
        if isinstance(signer, Signer):
            options: SignatureOptions = {"digest": digest, "nonce": nonce}
            made = await signer.async_sign(request, **options) if is_async else signer.sign(request, **options)
        else:
            made = await signer.async_sign(request, digest=digest) if is_async else signer.sign(request, digest=digest)
        return SignedRequest(request.method, target.target_uri, origin, target.authority, (*kept, *added), made.fields)


def _canonical_host(value: str, target: CanonicalURL) -> str:
    """Return the target's authority if `value` is a spelling of it, else `value`, which the signer then rejects."""
    own = target.authority
    return own if value == own or canonicalize_authority(value.strip(" \t"), target.scheme) == own else value
