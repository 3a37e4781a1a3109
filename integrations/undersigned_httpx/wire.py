"""The signing of a request each time it is written to a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from undersigned import ConfigurationError, SigningError
from undersigned.client import SIGNATURE_FIELDS

from .content import SignedStream
from .messages import Parts
from .written import content_of, encode, put, url_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from undersigned.client import ClientSigner, SignedRequest

    from .headers import Field
    from .messages import Request
    from .written import Written

    Trace = Callable[[str, Mapping[str, object]], object]

_BEFORE_WRITING = "send_request_headers.started"
_HTTP_2 = "http2."
_REDIRECT = 307
_ALWAYS_COMPARED = frozenset(encode(name) for name in (*SIGNATURE_FIELDS, "host"))
_CHANGED = (
    "signature: the request was changed after it was signed, by a request hook or by a transport that copies requests; "
    "change header fields in place and before signing, or put SignatureTransport directly around HTTPTransport"
)
_REDIRECTED = (
    "signature: a redirect is followed by a transport without httpcore, where SignatureAuth cannot sign it; put "
    "SignatureTransport around that transport, do not follow redirects, or pass follow_unsigned=True"
)
_UNVERIFIED = (
    "responses: a redirect or a retry comes before SignatureAuth has verified the response; use SignatureTransport, or "
    "do not follow redirects"
)
_AWAITED = (
    "signature: a redirect or a retry over HTTP/2 cannot await the key; use AsyncSignatureTransport, inside a "
    "transport that retries, or a key whose sign is not async"
)


class WireSigning:
    """The signing of a request each time it is written: checked the first time, signed again each further time.

    Hooks and transports can change a request after it was signed. A transport can send it again, and the client follows
    a redirect with a copy of it, which no auth sees. At the end, before it writes, httpcore calls the `trace` extension
    of the request, which all of these requests share.

    Args:
        signer: signs the request again if it is sent again.
        signed: the request as it was signed.
        fields: its header fields and its signature, as the bytes that are sent.
        request: the request, whose content was read.
        extensions: the caller's own extensions, including a `trace`, which is called as well.
        again: whether it may be written a second time.
        redirects: signs the requests that redirects lead to; by default `signer`. What one receiver asked for is not
            for them.

    Attributes:
        signed: the request as it was signed last, or None after a redirect without a signature.
        traced: the caller's own `trace` extension, or None.
        called: whether the request was checked, or signed otherwise. A transport without httpcore checks nothing.
    """

    def __init__(
        self,
        signer: ClientSigner,
        signed: SignedRequest,
        fields: Sequence[Field],
        request: Request,
        extensions: Mapping[str, object],
        *,
        again: bool = True,
        redirects: ClientSigner | None = None,
    ) -> None:
        self.signed: SignedRequest | None = signed
        self.traced = cast("Trace | None", extensions.get("trace"))
        self.called = False
        self._signer = signer
        self._again = again
        self._redirects = redirects or signer
        self._stream = request.stream
        self._content = b"" if isinstance(request.stream, SignedStream) else request.content
        self._names = _ALWAYS_COMPARED.union([encode(name) for name in signed.covered])
        self._method = encode(signed.method)
        self._targets = {encode(signed.url), encode(signed.url.removeprefix(signed.origin))}
        self._fields = self._fields_to_compare(fields)

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Check or sign the request before it is written: the `trace` extension of a sync request.

        Raises:
            MalformedURL: it is redirected to a URL without canonical form.
            SigningError: it was changed after signing, or is redirected out of the listed origins. Or it lacks what
                the signature covers, or is sent again before its response was verified.
        """
        request = self._to_sign(event, info)
        if request is not None:
            self._put(request, self._parts(request).sign(self._signer))
        if self.traced is not None:
            self.traced(event, info)

    async def async_trace(self, event: str, info: Mapping[str, object]) -> None:
        """Check or sign the request as `trace` does: the `trace` extension of an async request."""
        request = self._to_sign(event, info)
        if request is not None:
            self._put(request, await self._async_sign(event, request))
        if self.traced is not None:
            await cast("Awaitable[None]", self.traced(event, info))

    def finish(self, headers: Iterable[Field], *, redirected: bool) -> None:
        """Check, after sending, a request whose transport does not use httpcore.

        Args:
            headers: the request's header fields after it was sent.
            redirected: whether redirects were followed.

        Raises:
            SigningError: it was sent without its signature.
        """
        if self.called:
            return
        if self._fields_to_compare(headers) != self._fields:
            raise SigningError(_CHANGED)
        if redirected:
            self.signed = None
            if not self._signer.follow_unsigned:
                raise SigningError(_REDIRECTED)

    def _to_sign(self, event: str, info: Mapping[str, object]) -> Written | None:
        """Return the request to sign, or None if it is signed already or is written without a signature."""
        if not event.endswith(_BEFORE_WRITING):
            return None
        request = cast("Written", info["request"])
        if request.method == b"CONNECT" != self._method:
            return None  # a tunnel through a proxy: the proxy gets no part of the request
        if not self.called:
            self.called = True
            is_signed = request.method == self._method and request.url.target in self._targets
            if not is_signed or self._fields_to_compare(request.headers) != self._fields:
                raise SigningError(_CHANGED)
            return None
        if not self._again:
            raise SigningError(_UNVERIFIED)
        url, before = url_of(request), self.signed
        if before is not None and (url, encode(before.method)) != (before.url, request.method):
            # The receiver has accepted the signature.
            self._redirects.second_try(before, _REDIRECT, None)
            self._signer = self._redirects
        if self._signer.signs_redirect(None if before is None else before.origin, url):
            return request
        self.signed = None
        request.headers = [field for field in request.headers if not is_signature_field(field[0])]
        return None

    def _parts(self, request: Written) -> Parts:
        content = content_of(request, self._stream, self._content)
        return Parts(request.method.decode("latin-1"), url_of(request), request.headers, content)

    async def _async_sign(self, event: str, request: Written) -> SignedRequest:
        if not event.startswith(_HTTP_2):
            return await self._parts(request).async_sign(self._signer)
        # httpcore has chosen the number of the stream, and another task would be given the same one.
        try:
            return self._parts(request).sign(self._signer)
        except ConfigurationError:
            raise SigningError(_AWAITED) from None

    def _put(self, request: Written, signed: SignedRequest) -> None:
        self.signed = signed
        put(request, signed)

    def _fields_to_compare(self, headers: Iterable[Field]) -> list[Field]:
        """Return the header fields to compare: the covered fields, the signature and `Host`."""
        names = self._names
        return sorted([(lower, value) for name, value in headers if (lower := name.lower()) in names])


def own_extensions(extensions: Mapping[str, object]) -> dict[str, object]:
    """Return the caller's own extensions. A `WireSigning` among them is of an earlier signature and is removed."""
    earlier = getattr(extensions.get("trace"), "__self__", None)
    if not isinstance(earlier, WireSigning):
        return dict(extensions)
    earlier.called = True
    own = {name: value for name, value in extensions.items() if name != "trace"}
    return own if earlier.traced is None else {**own, "trace": earlier.traced}


def is_signature_field(name: bytes) -> bool:
    """Return whether the signer writes the header field `name`."""
    return name.lower().decode("latin-1") in SIGNATURE_FIELDS
