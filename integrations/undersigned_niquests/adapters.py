"""The adapters that sign what niquests sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from niquests.adapters import AsyncHTTPAdapter, HTTPAdapter
from urllib3_future.util import parse_url

from undersigned import ConfigurationError, SigningError
from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner, FileContent

from .fields import SentFields, WireFields, all_fields, plain_fields, text_fields
from .responses import async_verify, check_options, verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from niquests.models import AsyncResponse, PreparedRequest, Response
    from niquests.structures import CaseInsensitiveDict

    from undersigned.client import ConfiguredOrigins, ResponseVerification, SignedRequest, SignerSource

    from .fields import Signature

_AWAITED = (
    "retry: niquests repeats a request without awaiting the key; use an adapter without max_retries, or a key whose "
    "sign is not async"
)


class SignatureAdapter(HTTPAdapter):
    """An adapter that signs every request it sends: `session.mount("https://", SignatureAdapter(signer, ...))`.

    Each redirect and each retry has its own signature. The request is sent to the canonical form of its URL. A file is
    read to sign it and again to send it; a generator is kept, up to `max_spooled` bytes.

    A redirect within the listed origins is signed for its own URL, method and content. A redirect that leaves them or
    their listed paths raises `SigningError`, if the adapter is mounted for the URL that it leads to. So mount it for
    `https://` and `http://`.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that is answered with 401 is sent once more by the other scheme, unless the session is multiplexed.
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path.
        follow_unsigned: whether to follow a redirect that leaves the listed origins, without a signature.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified. A multiplexed session cannot verify them.
        options: further options of niquests' adapter, such as `max_retries`.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType]
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

    def send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> Response:
        """Sign `request` and send it.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, or a redirect leaves the listed origins. Or the content is a stream
                that is too long, or the request lacks what the signature covers.
            SignatureError: the response is rejected.
            ConfigurationError: the session is multiplexed, and responses are verified.
        """
        if _is_unsigned(self._signer, request):
            return super().send(request, *arguments, **options)  # pyright: ignore[reportUnknownMemberType]
        content = self._signer.read(cast("object", request.body))
        _put_content(request, content)
        check_options(self._signer.responses, options)
        sign = _Signing(self._signer, request, content)
        while True:
            outgoing = sign.outgoing(sign.now())
            response = super().send(outgoing, *arguments, **options)  # pyright: ignore[reportUnknownMemberType]
            if self._signer.responses is not None:
                verify(self._signer.responses, sign.last, response)
            second = None if options.get("multiplexed") else sign.second_try(response)
            if second is None:
                return response
            response.close()
            sign = second


class AsyncSignatureAdapter(AsyncHTTPAdapter):
    """`SignatureAdapter` for an `AsyncSession`. It also takes async generators, and keys whose `sign` is async."""

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType]
        self._signer = ClientSigner(
            signer,
            origins,
            follow_unsigned=follow_unsigned,
            max_spooled=max_spooled,
            tries_again=True,
            responses=responses,
        )

    async def send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> AsyncResponse:
        """Sign `request` and send it; raises the errors of `SignatureAdapter.send`."""
        if _is_unsigned(self._signer, request):
            return await super().send(request, *arguments, **options)  # pyright: ignore[reportUnknownMemberType]
        content = await self._signer.async_read(cast("object", request.body))
        _put_content(request, content)
        check_options(self._signer.responses, options)
        sign = _Signing(self._signer, request, content)
        while True:
            outgoing = sign.outgoing(await sign.async_now())
            response = await super().send(outgoing, *arguments, **options)  # pyright: ignore[reportUnknownMemberType]
            if self._signer.responses is not None:
                await async_verify(self._signer.responses, sign.last, response)
            second = None if options.get("multiplexed") else sign.second_try(response)
            if second is None:
                return response
            await response.close()
            sign = second


class _Signing:
    """The signing of one request, each time it is written.

    Attributes:
        last: the request as it was signed last.
    """

    last: SignedRequest

    def __init__(
        self,
        signer: ClientSigner,
        request: PreparedRequest,
        content: bytes | FileContent,
        *,
        first: ClientSigner | None = None,
    ) -> None:
        self._signer = signer
        self._first = first
        self._request = request
        self._content = content
        # Sending normalizes the URL of a redirect once more. Preparing it here yields one that sending does not change.
        # niquests leaves some URLs as they are, and its urllib3 then writes percent-encoding in upper case.
        request.prepare_url(request.url, None)
        request.url = parse_url(request.url or "").url
        self._given, self._fields = all_fields(_headers(request)), plain_fields(_headers(request))

    def now(self) -> SignedRequest:
        method, url, fields, content = self._parts()
        self.last = self._signer.sign(method, url, fields, content)
        return self.last

    async def async_now(self) -> SignedRequest:
        method, url, fields, content = self._parts()
        self.last = await self._signer.async_sign(method, url, fields, content)
        return self.last

    def second_try(self, response: Response | AsyncResponse) -> _Signing | None:
        """Return the signing of a second try, with its content rewound, or None if the request is not sent again.

        The answer to a second try is noted only.
        """
        status, first = response.status_code or 0, self._first
        if first is not None:
            first.second_try(self.last, status, None)
            return None
        again = self._signer.second_try(self.last, status, response.headers.get("Accept-Signature"))
        if again is None:
            return None
        if isinstance(self._content, FileContent):
            self._content.rewind()
        return _Signing(again, self._request, self._content, first=self._signer)

    def outgoing(self, signed: SignedRequest) -> PreparedRequest:
        """Return the request to send, and let the given one know what it was signed for.

        Raises:
            SigningError: niquests would send another target.
        """
        outgoing = self._request.copy()
        outgoing.url = signed.url
        if outgoing.path_url != signed.url.removeprefix(signed.origin):
            raise SigningError("url: niquests does not send a question mark without a query; remove it")
        # niquests writes an IPv6 address without its brackets into Host.
        fields = [("Host", signed.authority), *(pair for pair in signed.fields if pair[0].lower() != "host")]
        outgoing.headers = WireFields(fields, self._fresh(signed))
        self._request.headers = SentFields(self._fields, signed.origin)
        return outgoing

    def _fresh(self, first: SignedRequest) -> Callable[[], Signature]:
        """Return a function that returns the first signature, then a new one for each retry."""
        unused = [first]

        def signature() -> Signature:
            if unused:
                return unused.pop().signature
            try:
                return self.now().signature
            except ConfigurationError:
                raise SigningError(_AWAITED) from None

        return signature

    def _parts(self) -> tuple[str, str, list[tuple[str, str]], bytes | FileContent]:
        request = self._request
        return request.method or "", request.url or "", text_fields(self._given), self._content


def _is_unsigned(signer: ClientSigner, request: PreparedRequest) -> bool:
    """Return whether `request` is a redirect that is followed without a signature."""
    sent = request.headers
    if not isinstance(sent, SentFields) or signer.signs_redirect(sent.origin, request.url or ""):
        return False
    request.headers = SentFields(plain_fields(sent), None)
    return True


def _put_content(request: PreparedRequest, content: bytes | FileContent) -> None:
    """Give the request its content in a form that can be sent again."""
    given: object = request.body
    headers = _headers(request)
    if given is not content and given is not None:
        headers.pop("Transfer-Encoding", None)
        headers["Content-Length"] = str(len(content))
        if isinstance(content, bytes):
            # niquests noted where a file was, to rewind it for a redirect. Bytes need no rewinding.
            vars(request)["_body_position"] = None
    request.body = cast("bytes", content) or None


def _headers(request: PreparedRequest) -> CaseInsensitiveDict[str | bytes, str | bytes]:
    return cast("CaseInsensitiveDict[str | bytes, str | bytes]", request.headers)
