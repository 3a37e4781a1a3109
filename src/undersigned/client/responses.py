"""Responses to signed requests: read under a bound and verified, before a caller gets them (RFC 9421 section 2.4)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.errors import ConfigurationError
from undersigned.limits import DEFAULT_MAX_BODY
from undersigned.message.request import Request
from undersigned.message.response import Response
from undersigned.signature.rules.coverage import ACTED_ON
from undersigned.signature.rules.option_checks import check
from undersigned.verification.blocking_calls import awaited
from undersigned.verification.verifier import AsyncVerifier, Verifier

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable, Mapping

    from undersigned.client.signer import SignedRequest
    from undersigned.errors import SignatureError
    from undersigned.verification.verified_signature import VerifiedSignature

logger = logging.getLogger("undersigned")

_NOT_COVERED = "the client would %s by %s, which the signature of the response does not cover"
_READ_BY: Final = ("content-type", "content-encoding")
_FOLLOWED: Final = ("location", "uri")
"""What a client follows; aiohttp also follows URI."""
_REDIRECTS: Final = range(300, 400)
_LEFT_OUT: Final = (*ACTED_ON, "accept-signature", "set-cookie", "set-cookie2")
"""What a client obeys, keeps or follows later. A proxy may add it to an honest response, so it is left out."""

_CACHED_BY: Final = frozenset({"cache-control", "date", "etag", "expires", "last-modified", "vary"})
"""By what a cache decides whether to answer with a response again (RFC 9111)."""


class VerifiedResponse(NamedTuple):
    """What a caller gets of a response that was verified.

    Attributes:
        signature: the verified signature.
        content: the body before any decoding.
        headers: the headers: covered ones as the signature base has them, and others as they came. Those that a client
            obeys, keeps or follows are left out unless they are covered. `Cache-Control` is `no-store` unless all that
            a cache decides by is covered.
    """

    signature: VerifiedSignature
    content: bytes
    headers: list[tuple[str, str]]


class ResponseVerification:
    """A verification of the response to each request that a client signs. Safe to share between clients.

    Every response must be signed, also a redirect or an error. Its signature is checked together with the request that
    was sent. If the profile covers parts of the request (`;req`), the response to another request is rejected. The
    content is read first, as it is on the wire, up to `max_body` bytes, and it must be covered by a digest.

    A client acts only on what the signature covers. A response is rejected if its signature does not cover the
    Content-Type or Content-Encoding of its body, or the Location of a redirect. Other fields that clients obey, keep
    or follow are left out of the response if they are not covered: a Set-Cookie, a Link, a challenge. No cache keeps a
    response unless the Cache-Control, and what else a cache decides by, is covered. At construction, the log says which
    fields the profile does not ask for. The client asks for a body that is not compressed.

    Args:
        verifier: verifies with a profile for responses, such as `profiles.UCP_RESPONSE`. Only an asyncio client awaits
            an `AsyncVerifier`. A `Verifier` whose sources do IO blocks the event loop of such a client.
        signers: whose responses an origin sends: the `signer` of the verified signature for each origin, such as
            `{"https://payments.example": "payments"}`, or a function of the origin. The response of any other signer is
            rejected. None: every key of the verifier's source may sign for every origin. That is right if the source
            has the keys of one party only.
        max_body: the largest body that is read, in bytes.

    Raises:
        ConfigurationError: the verifier is not one, or its profile is for requests or does not cover the status.
    """

    __slots__ = ("_max_body", "_signer_of", "_verifier")

    def __init__(
        self,
        verifier: Verifier | AsyncVerifier,
        *,
        signers: Mapping[str, str] | Callable[[str], str | None] | None,
        max_body: int = DEFAULT_MAX_BODY,
    ) -> None:
        if not isinstance(verifier, AsyncVerifier) or verifier.profile.message != "response":
            raise ConfigurationError("verifier: pass a Verifier with a profile for responses, such as UCP_RESPONSE")
        coverage = verifier.profile.coverage
        advice = f"profile {verifier.profile.name} does not cover @status, so anyone could change the status"
        check("verifier", "@status" in coverage.always, advice)
        asked = {*coverage.required(has_content=True), *coverage.if_sent}
        refused = [name for name in (*_READ_BY, _FOLLOWED[0]) if name not in asked]
        if refused:
            logger.info(
                "responses: profile %s does not require signatures to cover %s: if the client would act on one that is "
                "not covered, it rejects the response. It leaves out what is not covered of %s",
                verifier.profile.name,
                ", ".join(refused),
                ", ".join(name for name in _LEFT_OUT if name not in asked),
            )
        self._verifier = verifier
        self._signer_of = signers if signers is None or callable(signers) else signers.get
        self._max_body = max_body

    @property
    def is_sync(self) -> bool:
        """Whether the verifier need not be awaited."""
        return isinstance(self._verifier, Verifier)

    async def verify(
        self, signed: SignedRequest, status: int, fields: Iterable[tuple[str, str]], chunks: AsyncIterable[bytes]
    ) -> VerifiedResponse:
        """Read and verify a response. Only `chunks` is awaited if the verifier is a `Verifier`.

        Args:
            signed: the request as it was sent.
            status: the status of the response.
            fields: the headers of the response. Text is bytes decoded as Latin-1.
            chunks: its body before any decoding. What is longer than `max_body` is not read.

        Raises:
            SignatureError: the response is rejected, or cannot be verified now.
        """
        content = bytearray()
        async for chunk in chunks:
            content += chunk
            if len(content) > self._max_body:
                raise self._error(f"the response body is longer than max_body ({self._max_body} bytes)")
        # Content is not among the parts of a request that a response can cover (RFC 9421 section 2.4).
        host = [] if any(name.lower() == "host" for name, _ in signed.headers) else [("Host", signed.authority)]
        request = Request(signed.method, signed.url, [*host, *signed.headers])
        came = list(fields)
        try:
            response = Response(status, came, bytes(content), request=request)
        except ValueError as wrong:
            raise self._verifier.profile.error("signature_header_malformed", step=1, detail=str(wrong)) from None
        verified: VerifiedSignature = await awaited(self._verifier.verify_response(response))
        self._check(signed, response, verified)
        left_out = {name for name in _LEFT_OUT if not _covers(verified, name)}
        cached_by = _CACHED_BY.intersection(("cache-control", *response.fields.combined))
        added: list[tuple[str, str]] = []
        if not all(_covers(verified, name) for name in cached_by):
            left_out.add("cache-control")
            added.append(("Cache-Control", "no-store"))
        signed_fields = response.fields.as_signed(verified.components, came)
        headers = [(name, value) for name, value in signed_fields if name.lower() not in left_out] + added
        return VerifiedResponse(verified, response.body, headers)

    def _check(self, signed: SignedRequest, response: Response, verified: VerifiedSignature) -> None:
        """Check who signed, and that the signature covers all that the caller gets of the body."""
        if self._signer_of is not None and (not verified.signer or self._signer_of(signed.origin) != verified.signer):
            raise self._verifier.profile.error(
                "signature_key_unknown",
                step=7,
                detail=f"the key does not belong to the signer that signers= names for {signed.origin}",
            )
        if len(verified.content) != len(response.body):
            raise self._error("the response has a body, and its signature does not cover content-digest")
        followed = _FOLLOWED if response.status in _REDIRECTS else ()
        for verb, names in (("decode content", _READ_BY if response.body else ()), ("follow a redirect", followed)):
            for name in names:
                if name in response.fields.combined and not _covers(verified, name):
                    raise self._error(_NOT_COVERED % (verb, name))

    def _error(self, detail: str) -> SignatureError:
        return self._verifier.profile.error("signature_digest_mismatch", step=11, detail=detail)


def _covers(verified: VerifiedSignature, name: str) -> bool:
    """Return whether a signature covers a header, with its whole value."""
    return not {f'"{name}"', f'"{name}";bs'}.isdisjoint(verified.components)
