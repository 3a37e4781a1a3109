"""The handler that signs what urllib sends."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, cast
from urllib.request import BaseHandler, HTTPRedirectHandler, Request
from weakref import WeakKeyDictionary

from undersigned import UndersignedError, canonicalize
from undersigned.client import DEFAULT_MAX_SPOOLED, SIGNATURE_FIELDS, ClientSigner, FileContent

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from http.client import HTTPMessage, HTTPResponse
    from typing import IO
    from urllib.request import OpenerDirector

    from undersigned.client import ConfiguredOrigins, ResponseVerification, SignedRequest, SignerSource

_AFTER_OTHERS = 10_000
"""The handlers of urllib have the order 500 or 900. Those that prepare a request run by their order."""

_BEFORE_OTHERS = 400
"""The first of urllib's handlers that looks at a response has the order 500."""

_CHUNK = 65_536

_CREDENTIALS = ("Authorization", "Cookie", "Proxy-authorization")
"""Header fields of a request, as urllib spells them, that urllib would send to any origin that it is redirected to."""


class SignatureHandler(HTTPRedirectHandler):
    """A handler that signs every request of an opener: `build_opener(SignatureHandler(signer, origins=[...]))`.

    It also follows redirects, in place of urllib's own handler. It prepares a request after all other handlers, so it
    signs the cookies and credentials that they add. The request is sent to the canonical form of its URL. A file is
    read to sign it and again to send it; a generator is kept, up to `max_spooled` bytes.

    A redirect within the listed origins is signed for its own URL and method. A redirect that leaves them or their
    listed paths raises `SigningError`. Unlike urllib's own handler, a redirect to another origin has no `Authorization`
    and no `Cookie` of yours. A request that is opened again, by another handler or by you, has its own signature.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that is answered with 401 is sent once more by the other scheme.
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path.
        follow_unsigned: whether to follow a redirect that leaves the listed origins, without a signature.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    handler_order = _AFTER_OTHERS

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._signer = ClientSigner(
            signer,
            origins,
            follow_unsigned=follow_unsigned,
            max_spooled=max_spooled,
            tries_again=True,
            responses=responses,
        )
        if responses is not None:
            responses.check_sync()
        self._signed: MutableMapping[Request, SignedRequest | None] = WeakKeyDictionary()
        self._redirected: MutableMapping[Request, str | None] = WeakKeyDictionary()
        self._again: MutableMapping[Request, ClientSigner] = WeakKeyDictionary()

    def add_parent(self, parent: OpenerDirector) -> None:
        """Note the opener, and have it verify responses before any other handler gets them."""
        super().add_parent(parent)
        if self._signer.responses is not None:
            parent.add_handler(_ResponseHandler(self._signer.responses, self._signed))

    def http_request(self, request: Request) -> Request:
        """Sign `request` in place and return it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or a redirect leaves the listed origins. Or the content is a stream
                that is too long, or the request lacks what the signature covers.
        """
        url = request.full_url
        if request in self._redirected and not self._signer.signs_redirect(self._redirected[request], url):
            _remove_signature(request)
            self._signed[request] = None
            return request
        content = self._read(request)
        # urllib's own Host has the user info of the URL, or is the host of a proxy.
        request.unredirected_hdrs["Host"] = request.headers.get("Host") or canonicalize(url).authority
        fields = [(name, _text(value)) for name, value in {**request.headers, **request.unredirected_hdrs}.items()]
        _remove_signature(request)
        has_body = bool(content) or request.has_header("Transfer-encoding")
        signer = self._again.get(request, self._signer)
        signed = signer.sign(request.get_method(), url, fields, content, has_body=has_body)
        _put(request, signed)
        self._signed[request] = signed
        return request

    https_request = http_request

    def http_error_401(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,  # noqa: ARG002 - urllib's
        headers: HTTPMessage,
    ) -> HTTPResponse | None:
        """Open a request once more, if its receiver asks for another signature that the signer may make.

        Returns:
            The response to the second try, or None if there is none.
        """
        signed = self._signed.get(req)
        if signed is None or req in self._again:
            return None
        again = self._signer.second_try(signed, code, ", ".join(headers.get_all("Accept-Signature", ())))
        if again is None:
            return None
        fp.close()
        for name, _ in signed.signature:
            req.remove_header(name.capitalize())
        self._again[req] = again
        try:
            return cast("HTTPResponse", self.parent.open(req, timeout=req.timeout))
        finally:
            del self._again[req]

    http_error_400 = http_error_403 = http_error_401

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        """Note that a receiver accepted a request: other handlers have raised an error for each that was rejected."""
        signed = self._signed.get(request)
        if signed is not None:
            self._signer.second_try(signed, response.status, None)
        return response

    https_response = http_response

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request that follows a redirect, as urllib's own handler does. It is signed when it is opened.

        It has no `Host`, and no credentials for another origin.

        Raises:
            MalformedURL: the redirect leads to a URL without canonical form, such as one for FTP.
            SigningError: it leaves the listed origins or paths, and `follow_unsigned` is False.
        """
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None:
            signed = self._signed.get(req)
            before = None if signed is None else signed.origin
            try:
                self._signer.signs_redirect(before, newurl)
            except UndersignedError:
                fp.close()
                raise
            self._redirected[following] = before
            # A chain of redirects loses the credentials when it first leaves their origin, so later there are none.
            elsewhere = before is not None and _origin(newurl) != before
            for name in ("Host", *(_CREDENTIALS if elsewhere else ())):
                following.remove_header(name)
        return following

    def _read(self, request: Request) -> bytes | FileContent:
        """Return the content of `request`, which then has it in a form that can be sent."""
        given: object = request.data
        content = self._signer.read(given)
        if content is not given and given is not None:
            request.data = cast("bytes", content)
            request.remove_header("Transfer-encoding")
            request.add_unredirected_header("Content-length", str(len(content)))
        return content


class _ResponseHandler(BaseHandler):
    """A handler that verifies responses before urllib follows redirects, and before it raises an error for a status.

    Args:
        responses: verifies them.
        signed: the requests as they were sent.
    """

    handler_order = _BEFORE_OTHERS

    def __init__(self, responses: ResponseVerification, signed: MutableMapping[Request, SignedRequest | None]) -> None:
        self._responses = responses
        self._signed = signed

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        """Read and verify a response. It then has its content in memory.

        Raises:
            SignatureError: it is rejected, and closed.
        """
        signed = cast("SignedRequest", self._signed[request])
        try:
            content = self._responses.read(iter(partial(response.read, _CHUNK), b""))
            self._responses.verify(signed, response.status, response.headers.items(), content)
        except BaseException:
            response.close()
            raise
        response.fp = io.BufferedReader(io.BytesIO(content))
        response.chunked, response.length = False, len(content)
        return response

    https_response = http_response


def _remove_signature(request: Request) -> None:
    for name in SIGNATURE_FIELDS:
        request.remove_header(name.capitalize())


def _put(request: Request, signed: SignedRequest) -> None:
    """Give the request its canonical URL and its signature. A redirected request does not inherit the signature."""
    # urllib opens a request again that it sends to a proxy. The URL is canonical by then.
    if request.full_url != signed.url:
        request.full_url = signed.url
    request.add_unredirected_header("Host", signed.authority)
    for name, value in signed.signature:
        request.add_unredirected_header(name, value)


def _origin(url: str) -> str:
    target = canonicalize(url)
    return f"{target.scheme}://{target.authority}"


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
