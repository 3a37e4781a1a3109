"""The adapter and the auth that sign what requests sends."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from requests import PreparedRequest
from requests.adapters import DEFAULT_POOLBLOCK, DEFAULT_POOLSIZE, HTTPAdapter
from requests.auth import AuthBase
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPResponse

from undersigned import ConfigurationError, SigningError
from undersigned.client import SIGNATURE_FIELDS, ClientSigner, DoubleKnock, ListedOrigins, Received, finish

if TYPE_CHECKING:
    from typing import Unpack

    from requests import Response

    from undersigned.client import (
        ConfiguredOrigins,
        Headers,
        SentContent,
        SignedRequest,
        SignerSource,
        SigningOptions,
        VerifiedResponse,
    )

_UNAUTHORIZED = 401


class SignatureAdapter(HTTPAdapter):
    """An adapter that signs every request it sends: `session.mount("https://", SignatureAdapter(signer, ...))`.

    requests calls its adapter for each redirect too. A redirect within the listed origins is signed for its own URL,
    method and body. A request or redirect to any other origin raises `SigningError` before it is sent.
    That holds for a redirect to a URL of another adapter too. It has no signature, if its origin is listed.

    The request is sent to the canonical form of its URL, with the body that was signed. A body needs a
    Content-Type, which requests sets only for `json=`, `files=` and a `data=` of pairs. A file is read to sign it and
    again to send it; a generator is kept, up to `max_spooled` bytes. `response.request` is the request as it was sent.
    `response.signature` is the verified signature of the response, if responses are verified.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that the receiver refuses is sent once more by the other scheme.
        pool_connections: as for `HTTPAdapter`.
        pool_maxsize: as for `HTTPAdapter`.
        pool_block: as for `HTTPAdapter`.
        max_retries: must be left out.
        options: as in `undersigned.client.SigningOptions`.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(
        self,
        signer: SignerSource,
        *,
        pool_connections: int = DEFAULT_POOLSIZE,
        pool_maxsize: int = DEFAULT_POOLSIZE,
        pool_block: bool = DEFAULT_POOLBLOCK,
        max_retries: object = 0,
        **options: Unpack[SigningOptions],
    ) -> None:
        if max_retries:
            raise ConfigurationError(
                "max_retries: urllib3 would send the same signature again, which the receiver takes for a replay; "
                "repeat the call itself, which signs again"
            )
        super().__init__(pool_connections, pool_maxsize, pool_block=pool_block)
        self._signer = ClientSigner(signer, **options)

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Sign `request` and send it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the body is a stream that is too long, or the request lacks what
                the signature covers.
            SignatureError: the response is rejected.
        """
        parts = _parts(request, self._signer)
        _guard(request, self._signer.origins)
        send = super().send
        tried: list[Response] = []

        async def send_signed(signed: SignedRequest) -> Received[Response]:
            response = send(_put(signed, request.copy(), parts[-1]), *args, **kwargs)
            response.history.extend(tried)
            tried.append(response)
            raw = cast("HTTPResponse", response.raw)
            headers, chunks = raw.headers.iteritems(), raw.stream(decode_content=False)
            return Received(response, response.status_code, headers, chunks, _replace, response.close)

        return finish(self._signer.exchange(*parts, send_signed))


class SignatureAuth(AuthBase):
    """An auth that signs every request it is given. Safe to share between threads and sessions.

    The request is signed once, as `SignatureAdapter` signs it. `response.request` is the request as it was sent.

    A redirect has no signature, and is followed only within the listed origins: to any other origin, it raises
    `SigningError` before anything is sent. `SignatureAdapter` signs redirects, verifies responses, and takes a
    `DoubleKnock`.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now.
        origins: the origins to sign for, as for `SignatureAdapter`.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(self, signer: SignerSource, *, origins: ConfiguredOrigins) -> None:
        if isinstance(signer, DoubleKnock):
            raise ConfigurationError("signer: SignatureAuth sends a request once; mount a SignatureAdapter")
        self._signer = ClientSigner(signer, origins)

    def __call__(self, r: PreparedRequest) -> PreparedRequest:
        """Sign the prepared request `r` in place and return it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the body is a stream that is too long, or the request lacks what
                the signature covers.
        """
        parts = _parts(r, self._signer)
        _put(self._signer.sign(*parts), r, parts[-1])
        r.register_hook("response", _name_retries)
        return _guard(r, self._signer.origins)


def _replace(response: Response, verified: VerifiedResponse) -> None:
    """Make a response the one that was verified, with its body in memory."""
    raw = cast("HTTPResponse", response.raw)
    # requests reads cookies from the original response.
    original = vars(raw)["_original_response"]
    headers = type(raw.headers)(verified.headers)  # urllib3 exports the class only since version 2
    for name in ("Set-Cookie", "Set-Cookie2"):
        if name in raw.headers and name not in headers:
            del original.msg[name]
            response.cookies.clear()
    response.headers = CaseInsensitiveDict(headers)
    response.raw = HTTPResponse(
        io.BytesIO(verified.content),
        headers,
        raw.status,
        raw.version,
        reason=raw.reason,
        preload_content=False,
        original_response=original,
        request_method=response.request.method,
    )
    vars(response)["signature"] = verified.signature


def _name_retries(response: Response, **_options: Any) -> None:
    """Say so if a response is a rejection that a retry of urllib3 has provoked."""
    retries = getattr(response.raw, "retries", None)
    if response.status_code == _UNAUTHORIZED and retries is not None and retries.history:
        raise SigningError(
            "max_retries: the session's adapter has a Retry of urllib3, which sent the same signature again, and the "
            "receiver answered 401; mount a plain HTTPAdapter, and repeat the call itself, which signs again"
        )


def _guard(request: PreparedRequest, origins: ListedOrigins) -> PreparedRequest:
    """Let `request` and every copy of it be sent by a session to listed origins only.

    requests makes a redirected request by `copy`, and so do auths and hooks that send a request again.
    """
    request.__class__ = _GuardedRequest
    vars(request)["_origins"] = origins
    return request


def _restore(plain: PreparedRequest, own: str) -> PreparedRequest:
    """Return a guarded request from a pickle: it is for its own origin, or for none."""
    return _guard(plain, ListedOrigins(lambda origin: origin == own))


class _GuardedRequest(PreparedRequest):
    """A request that a session sends to a listed origin only. A copy of it has no signature.

    requests also makes a redirected request if redirects are not followed, so making it raises nothing.
    """

    _origins: ListedOrigins

    def _plain(self) -> PreparedRequest:
        plain = PreparedRequest()
        vars(plain).update({name: value for name, value in vars(self).items() if name != "_origins"})
        return plain

    def copy(self) -> PreparedRequest:
        copied = self._plain().copy()
        for name in SIGNATURE_FIELDS:
            copied.headers.pop(name, None)
        return _guard(copied, self._origins)

    @property
    def path_url(self) -> str:
        """The path and query, which an adapter asks for before it sends the request."""
        self._origins.check(self.url or "")
        return super().path_url

    @property
    def hooks(self) -> Any:
        """The hooks, which a session asks for before it sends the request."""
        self._origins.check(self.url or "")
        return vars(self)["hooks"]

    @hooks.setter
    def hooks(self, hooks: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        vars(self)["hooks"] = hooks

    def __reduce__(self) -> Any:
        return _restore, (self._plain(), self._origins.find(self.url or ""))


def _parts(request: PreparedRequest, signer: ClientSigner) -> tuple[str, str, Headers, SentContent]:
    """Return the method, URL, headers and body of `request`, as they are signed. A generator becomes its bytes."""
    body: object = request.body
    content = finish(signer.read(body))
    if isinstance(content, bytes):
        # An older requests counts the characters of a text, not its bytes.
        if not isinstance(body, bytes | None):
            request.headers.pop("Transfer-Encoding", None)
            request.headers["Content-Length"] = str(len(content))
            vars(request)["_body_position"] = None  # where a file was, to rewind it for a redirect
        request.body = content or None
    # Sending normalizes a URL from a redirect, or one set by hand, once more. Preparing it again here yields a URL that
    # sending does not change.
    request.prepare_url(request.url or "", None)
    fields = [
        (name, value.decode("latin-1") if isinstance(value, bytes) else str(value))
        for name, value in request.headers.items()
    ]
    return request.method or "", request.url or "", fields, content


def _put(signed: SignedRequest, request: PreparedRequest, content: SentContent) -> PreparedRequest:
    """Make `request` the one that was signed, and return it."""
    request.url = signed.url
    request.headers = CaseInsensitiveDict(signed.headers)
    if not isinstance(content, bytes):
        request.body = cast("Any", content)
    return request
