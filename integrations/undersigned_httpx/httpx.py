"""The transports that sign what httpx sends."""

from __future__ import annotations

from undersigned.errors import needs_extra

from . import signing

with needs_extra("httpx"):
    import httpx


class SignatureTransport(
    signing.SigningTransport[httpx.BaseTransport, httpx.Request, httpx.Response], httpx.BaseTransport
):
    """A transport that signs every request it sends: `Client(transport=SignatureTransport(HTTPTransport(), ...))`.

    httpx calls its transport for each redirect too. A redirect within the listed origins is signed for its own URL,
    method and body. A request or redirect to any other origin raises `SigningError` before it is sent.

    The request is sent to the canonical form of its URL. Its body is read before it is sent, a file again to send
    it. It needs a Content-Type, which httpx sets only for `json=`, `data=` and `files=`. Put a transport that retries
    around this one, so that each attempt has its own signature.

    `response.request` is the request before it was signed. `response.extensions["signed_request"]` is the
    `SignedRequest` that was sent, and `response.extensions["signature"]` the verified signature of the response.

    A client that also talks to other origins mounts the transport: `mounts={"https://seller.example.com": transport}`.
    A redirect that leads to another transport of the client is sent without a signature and without a body. If
    `proxy=` or `mounts=` of the client sends requests for a listed origin past this transport, a warning is logged.

    Args:
        transport: sends what is signed.
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that the receiver refuses is sent once more by the other scheme.
        options: as in `undersigned.client.SigningOptions`.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    _library = httpx


class AsyncSignatureTransport(
    signing.AsyncSigningTransport[httpx.AsyncBaseTransport, httpx.Request, httpx.Response], httpx.AsyncBaseTransport
):
    """`SignatureTransport` for an `AsyncClient`, around an `AsyncHTTPTransport`."""

    _library = httpx
