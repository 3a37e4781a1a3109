"""The transports that sign what httpx2 sends."""

from __future__ import annotations

from undersigned.errors import missing_extra

from . import signing

try:
    import httpx2
except ModuleNotFoundError as missing:
    raise missing_extra("httpx2", missing) from missing


class _Checked(signing.CheckedStream, httpx2.SyncByteStream, httpx2.AsyncByteStream):
    pass


class _Guarded(signing.GuardedStream, httpx2.SyncByteStream, httpx2.AsyncByteStream):
    pass


class SignatureTransport(signing.SigningTransport[httpx2.Request, httpx2.Response], httpx2.BaseTransport):
    """`undersigned_httpx.SignatureTransport` for httpx2, with the same arguments."""

    _new_request, _new_stream, _checked, _guarded = httpx2.Request, httpx2.ByteStream, _Checked, _Guarded


class AsyncSignatureTransport(
    signing.AsyncSigningTransport[httpx2.Request, httpx2.Response], httpx2.AsyncBaseTransport
):
    """`SignatureTransport` for an `AsyncClient`, around an `AsyncHTTPTransport`."""

    _new_request, _new_stream, _checked, _guarded = httpx2.Request, httpx2.ByteStream, _Checked, _Guarded
