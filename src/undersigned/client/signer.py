"""Client signers: decide which requests are signed, and sign them."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Required, TypeAlias, TypedDict, TypeVar, cast

from undersigned.cavage.signer import CavageSigner
from undersigned.client.content import CHUNK, DEFAULT_MAX_SPOOLED, UnchangedBody, as_octets, from_here, is_seekable
from undersigned.client.double_knock import AnySigner, DoubleKnock, asked_nonce
from undersigned.client.origins import ConfiguredOrigins, ListedOrigins, origin_of
from undersigned.errors import ConfigurationError, SigningError
from undersigned.message.request import Request
from undersigned.message.signature_agent import SignatureAgentForm, write_signature_agent
from undersigned.signature.rules.option_checks import check
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize_authority
from undersigned.verification.blocking_calls import awaited, finish

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from undersigned.client.responses import ResponseVerification, VerifiedResponse
    from undersigned.signature.signer import SignatureOptions

SentContent: TypeAlias = bytes | UnchangedBody
"""The body of a request: its bytes, or its digest if it is read again to be sent."""

Headers: TypeAlias = Iterable[tuple[str, str]]
"""Headers as a client sends or receives them. Text is bytes decoded as Latin-1."""

SIGNATURE_FIELDS: Final = frozenset({"signature-input", "signature", "content-digest"})
"""The names of the fields that a signer writes, in lower case. Such fields that a request already has are replaced."""

ResponseT = TypeVar("ResponseT")

_LEGACY_FIELDS: Final = SIGNATURE_FIELDS | {"date", "digest"}


class BotAuth:
    """A signer for bots: each request says with Signature-Agent where the bot's keys are, and the signature covers it.

    Any client takes it as its signer. With `origins=lambda origin: True`, a crawler signs for every site.

    Args:
        signer: signs with a profile of Web Bot Auth.
        agent: the URL that names the keys: the origin of the key directory, or in the form `jwks` the JWK set.
        form: the wire form of Signature-Agent, as the sites read it.

    Attributes:
        signer: as given.
        field: the field, as a name and a value.

    Raises:
        ConfigurationError: no receiver would read the URL in this form, or the profile is for another form.
    """

    __slots__ = ("field", "signer")

    def __init__(self, signer: Signer, *, agent: str, form: SignatureAgentForm = "string") -> None:
        rule = signer.profile.coverage
        covers = rule.member_of in rule.if_sent or (form == "string") != bool(rule.member_of)
        check("form", covers, f"{signer.profile.name} does not cover Signature-Agent in the form {form}")
        try:
            value = write_signature_agent(agent, form=form, label=signer.profile.selection.label)
        except ValueError as wrong:
            raise ConfigurationError(f"agent: {wrong}") from None
        self.signer = signer
        self.field = ("Signature-Agent", value)


SignerSource: TypeAlias = AnySigner | BotAuth | DoubleKnock | Callable[[], AnySigner | BotAuth]
"""A signer, or a function that returns the one to use now, so that keys change without a restart."""


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
        headers: all headers to send: the given ones, a `Host` among them in canonical form, and those of the signature.
            Text is bytes decoded as Latin-1.
    """

    method: str
    url: str = field(repr=False)
    origin: str
    authority: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)


@dataclass(slots=True)
class Received(Generic[ResponseT]):
    """A response as a client integration has received it.

    Attributes:
        response: the response of the HTTP library.
        status: its status.
        headers: its headers.
        chunks: its body before any decoding.
        replace: makes a response the one that was verified, with its body in memory.
        close: closes it, if the caller does not get it.
    """

    response: ResponseT
    status: int
    headers: Headers
    chunks: Iterable[bytes] | AsyncIterable[bytes]
    replace: Callable[[ResponseT, VerifiedResponse], Awaitable[None] | None]
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
        origins: the listed origins.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_is_async", "_max_spooled", "_responses", "_signer", "origins")

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
        awaits = is_async or responses is None or responses.is_sync
        check("responses", awaits, "this client does not await its verifier; pass a Verifier")
        self._signer: SignerSource = signer
        self.origins = ListedOrigins(origins)
        self._max_spooled = max_spooled
        self._responses = responses
        self._is_async = is_async

    def sign(self, method: str, url: str, fields: Headers, content: SentContent) -> SignedRequest:
        """Sign a request that is sent once, in a client that does not await.

        Args:
            method: the method as it is sent.
            url: the absolute URL as the client spells it. `ws` and `wss` become `http` and `https`.
            fields: the headers as they are sent.
            content: the whole body as it is sent, as `read` returns it.

        Raises:
            MalformedURL: the URL or `Host` has no canonical form, or the URL has an escape that no receiver reads.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            ConfigurationError: the key must be awaited, or the function for the signer returned something else.
        """
        return finish(self._sign(method, url, fields, content))

    async def exchange(
        self,
        method: str,
        url: str,
        fields: Headers,
        content: SentContent,
        send: Callable[[SignedRequest], Awaitable[Received[ResponseT]]],
    ) -> ResponseT:
        """Sign a request, send it, and verify the response; a second time if a `DoubleKnock` asks for it.

        It waits only in an asyncio client. Arguments are those of `sign`, and `send`, which sends a signed request.
        Errors are those of `sign` and of `send`.

        Raises:
            SignatureError: the response is rejected.
        """
        parts = method, url, tuple(fields), content
        again: AnySigner | None = None
        nonce = ""
        while True:
            signed = await self._sign(*parts, signer=again, nonce=nonce)
            received = await send(signed)
            headers = received.headers
            if self._responses is not None:
                chunks = self._each(received.chunks)
                try:
                    verified = await self._responses.verify(signed, received.status, headers, chunks)
                except BaseException:
                    await awaited(received.close())
                    raise
                await awaited(received.replace(received.response, verified))
                headers = verified.headers
            if not isinstance(pair := self._signer, DoubleKnock):
                return received.response
            modern = any(name == "Signature-Input" for name, _ in signed.headers)
            other = pair.note_answer(signed.origin, received.status, modern=modern)
            if other is None or again is not None:
                return received.response
            await awaited(received.close())
            asked = ", ".join([value for name, value in headers if name.lower() == "accept-signature"])
            nonce = asked_nonce(asked, pair.modern.profile) if modern else ""
            again = pair.modern if nonce else other

    async def read(self, body: object) -> SentContent:
        """Return the body of a request so that it can be signed before it is sent. It waits only in an asyncio client.

        A file that can be read again is read in chunks, and is then where it was before. Any other stream is kept, up
        to `max_spooled` bytes.

        Args:
            body: bytes, text (encoded as UTF-8), a binary file, an iterable of bytes, a body that `read` returned, or
                None. An asyncio client also takes an asynchronous iterable.

        Raises:
            SigningError: `body` is something else, a file in text mode, or a stream longer than `max_spooled`.
        """
        if body is None:
            return b""
        if isinstance(body, str):
            return body.encode()
        if isinstance(body, bytes | bytearray | memoryview):
            return as_octets(cast("object", body))
        if isinstance(body, UnchangedBody):
            return self.unchanged(body.chunks) or b""
        if is_seekable(body):
            return self.unchanged(from_here(body)) or b""
        if callable(read := getattr(body, "read", None)):
            body = iter(lambda: read(CHUNK), b"")
        content = bytearray()
        async for chunk in self._each(body):
            self.keep(content, chunk)
        return bytes(content)

    def unchanged(self, chunks: Callable[[], Iterable[bytes]] = tuple) -> UnchangedBody:
        """Return a body that can be read again, to be signed by its digest. `chunks` is as for `UnchangedBody`."""
        current = self._current()
        signer = current.legacy if isinstance(current, DoubleKnock) else current
        return UnchangedBody((signer.signer if isinstance(signer, BotAuth) else signer).digest_builder(), chunks)

    def keep(self, content: bytearray, chunk: object) -> None:
        """Append to `content` the next chunk of a stream that can be read only once.

        Raises:
            SigningError: it is not bytes, or the stream is longer than `max_spooled`.
        """
        content += as_octets(chunk)
        if len(content) > self._max_spooled:
            raise SigningError(
                f"content: the stream has more than {self._max_spooled} bytes, and must be read before it is sent. "
                "Pass a file that can be read again, or a larger max_spooled="
            )

    async def _each(self, chunks: object) -> AsyncIterator[Any]:
        """Yield chunks, which are awaited only in an asyncio client."""
        if self._is_async and isinstance(chunks, AsyncIterable):
            async for chunk in cast("AsyncIterable[object]", chunks):
                yield chunk
        elif isinstance(chunks, Iterable):
            for chunk in cast("Iterable[object]", chunks):
                yield chunk
        else:
            raise SigningError(
                f"content: expected bytes, a binary file or an iterable of bytes, not {type(chunks).__name__}"
            )

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
        content: SentContent,
        *,
        signer: AnySigner | None = None,
        nonce: str = "",
    ) -> SignedRequest:
        """Sign a request, with the signer and the nonce of a second try if they are given."""
        target = self.origins.check(url)
        origin = origin_of(target)
        current = signer or self._current()
        added: list[tuple[str, str]] = []
        if isinstance(current, BotAuth):
            added.append(current.field)
            current = current.signer
        elif isinstance(current, DoubleKnock):
            current = current.signer(origin)
        if self._responses is not None:
            # If the signature does not cover Content-Encoding, a relay could change how the content is decoded.
            added.append(("Accept-Encoding", "identity"))
        written = SIGNATURE_FIELDS if isinstance(current, Signer) else _LEGACY_FIELDS
        replaced = written.union([name.lower() for name, _ in added])
        kept: list[tuple[str, str]] = []
        for name, value in fields:
            lower = name.lower()
            if lower == "host" and canonicalize_authority(value.strip(" \t"), target.scheme) == target.authority:
                kept.append((name, target.authority))
            elif lower == "content-length":
                kept.append((name, str(len(content))))
            elif lower not in replaced:
                kept.append((name, value))
        has_body = bool(content) or any(name.lower() == "transfer-encoding" for name, _ in kept)
        body, digest = (content, None) if isinstance(content, bytes) else (b"", content.value)
        request = Request(method, target.target_uri, [*kept, *added], body, has_body=has_body)
        if isinstance(current, Signer):
            options: SignatureOptions = {"digest": digest, "nonce": nonce or None}
            made = await current.async_sign(request, **options) if self._is_async else current.sign(request, **options)
        else:
            sign = current.async_sign if self._is_async else current.sign
            made = await awaited(sign(request, digest=digest))
        headers = (*kept, *added, *made.fields)
        return SignedRequest(request.method, target.target_uri, origin, target.authority, headers)
