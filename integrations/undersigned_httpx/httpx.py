"""The transports that sign what httpx sends."""

from __future__ import annotations

from undersigned.errors import missing_extra

from . import signing

try:
    import httpx
except ModuleNotFoundError as missing:
    raise missing_extra("httpx", missing) from missing


class SignatureTransport(signing.SigningTransport[httpx.Request, httpx.Response], httpx.BaseTransport):
    """A transport that signs every request it sends: `Client(transport=SignatureTransport(HTTPTransport(), ...))`.

    httpx calls its transport for each redirect too. A redirect within the listed origins is signed for its own URL,
    method and content. A request or redirect to any other origin raises `SigningError`, and nothing of it is sent.

    The request is sent to the canonical form of its URL. Its content is read before it is sent, a file again to send
    it. It needs a Content-Type, which httpx sets only for `json=`, `data=` and `files=`. Put a transport that retries
    around this one, so that each attempt has its own signature.

    `response.request` is the request before it was signed. `response.extensions["signed_request"]` is the
    `SignedRequest` that was sent, and `response.extensions["signature"]` the verified signature of the response.

    A client that also talks to other origins mounts the transport: `mounts={"https://seller.example.com": transport}`.
    A redirect that leads to another transport of the client is not checked, and has no signature.

    Args:
        transport: sends what is signed.
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that is answered with 401 is sent once more by the other scheme.
        origins: the origins to sign for, such as `https://seller.example.com`; or a function of an origin. An origin
            with a path, such as `https://seller.example.com/api`, allows only what is below that path.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    _new_request, _new_stream = httpx.Request, httpx.ByteStream


class AsyncSignatureTransport(signing.AsyncSigningTransport[httpx.Request, httpx.Response], httpx.AsyncBaseTransport):
    """`SignatureTransport` for an `AsyncClient`, around an `AsyncHTTPTransport`."""

    _new_request, _new_stream = httpx.Request, httpx.ByteStream
