"""Responses of both libraries, read and verified before the caller gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.client import ClientSigner, ResponseVerification, SignedRequest

    from .messages import Response

_READ = "responses: a response hook read the content before it was verified; use SignatureTransport, or remove the hook"


def verify(
    responses: ResponseVerification, signed: SignedRequest, response: Response, kept: Callable[[bytes], object]
) -> None:
    """Read and verify a response. It then has its content in memory.

    Args:
        responses: verifies it.
        signed: the request that it answers, as it was sent.
        response: the response.
        kept: the library's class of streams of bytes.

    Raises:
        SignatureError: it is rejected, and closed.
        ConfigurationError: its content has been read already.
    """
    try:
        _check_unread(response)
        content = responses.read(response.stream)
        responses.verify(signed, response.status_code, _fields(response), content)
    except BaseException:
        response.close()
        raise
    response.stream.close()
    response.stream = kept(content)


async def async_verify(
    responses: ResponseVerification, signed: SignedRequest, response: Response, kept: Callable[[bytes], object]
) -> None:
    """Read and verify a response as `verify` does, and await the verifier."""
    try:
        _check_unread(response)
        content = await responses.async_read(response.stream)
        await responses.async_verify(signed, response.status_code, _fields(response), content)
    except BaseException:
        await response.aclose()
        raise
    await response.stream.aclose()
    response.stream = kept(content)


def second_try(signer: ClientSigner, signed: SignedRequest | None, response: Response) -> ClientSigner | None:
    """Return the signer of a second try, as `ClientSigner.second_try` does; None for a request sent unsigned."""
    if signed is None:
        return None
    wanted: str | None = response.headers.get("Accept-Signature")
    return signer.second_try(signed, response.status_code, wanted)


def _check_unread(response: Response) -> None:
    if response.is_stream_consumed:
        raise ConfigurationError(_READ)


def _fields(response: Response) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
