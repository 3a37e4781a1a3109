"""Responses that are read and verified before the caller gets them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from urllib3_future import AsyncHTTPResponse, HTTPResponse

from undersigned import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from niquests.models import AsyncResponse, Response

    from undersigned.client import ResponseVerification, SignedRequest

_CHUNK = 65_536


def check_options(responses: ResponseVerification | None, options: Mapping[str, object]) -> None:
    """Check that a request that is sent with these options has a response at once, if responses are verified.

    Raises:
        ConfigurationError: it does not.
    """
    if responses is not None and options.get("multiplexed"):
        raise ConfigurationError("responses: a multiplexed session returns them unread; use one without multiplexed=")


def verify(responses: ResponseVerification, signed: SignedRequest, response: Response) -> None:
    """Read and verify a response. It then has its content in memory.

    Args:
        responses: verifies it.
        signed: the request that it answers, as it was sent.
        response: the response.

    Raises:
        SignatureError: it is rejected, and closed.
    """
    raw = cast("HTTPResponse", vars(response)["raw"])
    try:
        content = responses.read(raw.stream(_CHUNK, decode_content=False))
        responses.verify(signed, raw.status, _fields(raw), content)
    except BaseException:
        raw.close()
        raise
    response.raw = HTTPResponse(io.BytesIO(content), preload_content=False, **_parts(raw))


async def async_verify(responses: ResponseVerification, signed: SignedRequest, response: AsyncResponse) -> None:
    """Read and verify a response as `verify` does, and await the verifier."""
    raw = cast("AsyncHTTPResponse", vars(response)["raw"])
    try:
        content = await responses.async_read(_chunks(raw))
        await responses.async_verify(signed, raw.status, _fields(raw), content)
    except BaseException:
        await raw.close()
        raise
    response.raw = AsyncHTTPResponse(io.BytesIO(content), preload_content=False, **_parts(raw))


async def _chunks(raw: AsyncHTTPResponse) -> AsyncIterator[bytes]:
    while chunk := await raw.read(_CHUNK, decode_content=False):
        yield chunk


def _fields(raw: HTTPResponse | AsyncHTTPResponse) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in raw.headers.iteritems()]


def _parts(raw: HTTPResponse | AsyncHTTPResponse) -> dict[str, Any]:
    """Return the other parts of a response of urllib3. niquests reads cookies from the original response."""
    parts = ("headers", "status", "version", "reason")
    return {**{name: getattr(raw, name) for name in parts}, "original_response": vars(raw)["_original_response"]}
