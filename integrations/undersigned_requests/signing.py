"""The adapter and the auth that sign what requests sends."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPResponse

from undersigned import ConfigurationError
from undersigned.client import DEFAULT_MAX_SPOOLED, SIGNATURE_FIELDS, ClientSigner, DoubleKnock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from requests import Response

    from undersigned.client import (
        AnySigner,
        ConfiguredOrigins,
        FileDigest,
        ResponseVerification,
        SignedRequest,
        SignerSource,
    )

_CHUNK = 65_536
_RETRIES = (
    "max_retries: urllib3 would send the same signature again, which the receiver takes for a replay; repeat the call "
    "itself, which signs again"
)


class SignatureAdapter(HTTPAdapter):
    """An adapter that signs every request it sends: `session.mount("https://", SignatureAdapter(signer, ...))`.

    requests calls its adapter for each redirect too. A redirect within the listed origins is signed for its own URL,
    method and content. A request or redirect to any other origin raises `SigningError`, and nothing of it is sent.
    That holds for a redirect to a URL of another adapter too. It has no signature, if its origin is listed.

    The request is sent to the canonical form of its URL, with the content that was signed. Content needs a
    Content-Type, which requests sets only for `json=`, `files=` and a `data=` of pairs. A file is read to sign it and
    again to send it; a generator is kept, up to `max_spooled` bytes. `response.request` is the request as it was sent.
    `response.signature` is the verified signature of the response, if responses are verified.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that is answered with 401 is sent once more by the other scheme.
        origins: the origins to sign for, such as `https://seller.example.com`; or a function of an origin. An origin
            with a path, such as `https://seller.example.com/api`, allows only what is below that path.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified.
        options: the options of `HTTPAdapter`. `max_retries` must be left out.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
        **options: Any,
    ) -> None:
        if options.get("max_retries"):
            raise ConfigurationError(_RETRIES)
        super().__init__(**options)
        self._signer = ClientSigner(signer, origins, max_spooled=max_spooled, responses=responses)
        if responses is not None:
            responses.check_sync()

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as HTTPAdapter has it
        timeout: Any = None,
        verify: bool | str = True,  # noqa: FBT001, FBT002 - as above
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> Response:
        """Sign `request` and send it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the content is a stream that is too long, or the request lacks what
                the signature covers.
            SignatureError: the response is rejected.
        """
        by: AnySigner | None = None
        content = _read(request, self._signer)
        start = cast("Any", request.body).tell() if not isinstance(content, bytes) else 0
        before: Response | None = None
        while True:
            if not isinstance(content, bytes):
                cast("Any", request.body).seek(start)
            outgoing = request.copy()
            signed = _sign(outgoing, self._signer, content, by)
            response = super().send(outgoing, stream, timeout, verify, cert, proxies)  # type: ignore[arg-type]
            self._verify(signed, response)
            if before is not None:
                response.history.append(before)
            other = self._signer.note_answer(signed, response.status_code)
            if by is not None or other is None:
                _guard_redirect(request, response, self._signer)
                return response
            response.close()
            before, by = response, other

    def _verify(self, signed: SignedRequest, response: Response) -> None:
        """Read and verify a response, if responses are verified. It then has its content in memory."""
        responses = self._signer.responses
        if responses is None:
            return
        raw = cast("HTTPResponse", response.raw)
        try:
            content = responses.read(raw.stream(_CHUNK, decode_content=False))
            verified = responses.verify(signed, response.status_code, raw.headers.iteritems(), content)
        except BaseException:
            response.close()
            raise
        response.raw = HTTPResponse(
            io.BytesIO(content),
            raw.headers,
            raw.status,
            raw.version,
            reason=raw.reason,
            preload_content=False,
            original_response=vars(raw)["_original_response"],  # requests reads cookies from it
            request_method=signed.method,
        )
        vars(response)["signature"] = verified


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
            SigningError: the origin is not listed, the content is a stream that is too long, or the request lacks what
                the signature covers.
        """
        _sign(r, self._signer, _read(r, self._signer), None)
        r.register_hook("response", self._after)
        return r

    def _after(self, response: Response, **_options: Any) -> None:
        if response.is_redirect:
            request = response.request
            response.request = request.copy()
            _guard_redirect(request, response, self._signer)


def _guard_redirect(request: PreparedRequest, response: Response, signer: ClientSigner) -> None:
    """Let a redirected request have no signature, and stop it at an origin that is not listed.

    requests makes it of the request that it has sent, by `copy`.
    """
    if response.is_redirect:
        request.copy = partial(_Redirected, request, signer)  # type: ignore[method-assign]


class _Redirected(PreparedRequest):
    """A redirected request. It has no signature, and cannot be sent to an origin that is not listed.

    requests also makes it if redirects are not followed, so making it raises nothing.
    """

    def __init__(self, request: PreparedRequest, signer: ClientSigner) -> None:
        super().__init__()
        vars(self).update(vars(PreparedRequest.copy(request)))
        self._signer = signer
        for name in SIGNATURE_FIELDS:
            self.headers.pop(name, None)

    def copy(self) -> PreparedRequest:
        return _Redirected(self, self._signer)

    @property
    def hooks(self) -> Any:
        """The hooks, which a session asks for before it sends the request, and for nothing else."""
        self._signer.check(self.url or "")
        return vars(self)["hooks"]

    @hooks.setter
    def hooks(self, hooks: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        vars(self)["hooks"] = hooks


def _read(request: PreparedRequest, signer: ClientSigner) -> bytes | FileDigest:
    """Return the content of `request` or the digest of a file. A generator is replaced with its bytes."""
    body: object = request.body
    content = signer.read(body)
    if isinstance(content, bytes):
        # An older requests counts the characters of a text, not its bytes.
        if not isinstance(body, bytes | None):
            request.headers.pop("Transfer-Encoding", None)
            request.headers["Content-Length"] = str(len(content))
            vars(request)["_body_position"] = None  # where a file was, to rewind it for a redirect
        request.body = content or None
    return content


def _sign(
    request: PreparedRequest, signer: ClientSigner, content: bytes | FileDigest, by: AnySigner | None
) -> SignedRequest:
    """Give `request` its canonical URL and a signature."""
    # Sending normalizes a URL from a redirect, or one set by hand, once more. Preparing it again here yields a URL that
    # sending does not change.
    request.prepare_url(request.url or "", None)
    fields = [(name, _text(value)) for name, value in request.headers.items()]
    signed = signer.sign(request.method or "", request.url or "", fields, content, by=by)
    request.url = signed.url
    request.headers = CaseInsensitiveDict(signed.headers)
    return signed


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
