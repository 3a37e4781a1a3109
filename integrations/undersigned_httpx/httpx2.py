"""The transports that sign what httpx2 sends."""

from __future__ import annotations

from undersigned.errors import needs_extra

from . import signing

with needs_extra("httpx2"):
    import httpx2


class SignatureTransport(
    signing.SigningTransport[httpx2.BaseTransport, httpx2.Request, httpx2.Response], httpx2.BaseTransport
):
    """`undersigned_httpx.SignatureTransport` for httpx2, with the same arguments."""

    _library = httpx2


class AsyncSignatureTransport(
    signing.AsyncSigningTransport[httpx2.AsyncBaseTransport, httpx2.Request, httpx2.Response], httpx2.AsyncBaseTransport
):
    """`SignatureTransport` for an `AsyncClient`, around an `AsyncHTTPTransport`."""

    _library = httpx2
