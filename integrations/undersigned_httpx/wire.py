"""The check of a request against what was signed, at the moment it is written to a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from undersigned import SigningError
from undersigned.client import SIGNATURE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from undersigned.client import SignedRequest

    from .headers import Field

    Trace = Callable[[str, Mapping[str, object]], object]

_BEFORE_WRITING = "send_request_headers.started"
_CHANGED = (
    "signature: the request was changed after it was signed, by a request hook or by a transport that copies requests; "
    "change header fields in place and before signing, or put SignatureTransport directly around HTTPTransport"
)
_AGAIN = (
    "signature: the request is sent a second time with one nonce, by a transport that retries; put SignatureTransport "
    "inside that transport, so that each attempt is signed"
)
_REDIRECTED = (
    "signature: a redirect is followed, which SignatureAuth cannot sign; use SignatureTransport, do not follow "
    "redirects, or pass follow_unsigned=True to follow them without a signature"
)


class _Target(Protocol):
    @property
    def target(self) -> bytes:
        """The request target: a path and query, or the whole URL for a proxy."""
        ...


class _Written(Protocol):
    """A request of httpcore."""

    @property
    def method(self) -> bytes: ...
    @property
    def url(self) -> _Target: ...
    @property
    def headers(self) -> Sequence[Field]: ...


class WireCheck:
    """A check that a request is written once, and as it was signed.

    Hooks and transports can change a request after it was signed. At the end, before it writes, httpcore calls the
    `trace` extension of the request.

    Args:
        signed: the request as it was signed.
        extensions: the caller's own extensions, including a `trace`, which is called as well.
        follow_unsigned: whether a redirected request may be written without a signature.

    Attributes:
        traced: the caller's own `trace` extension, or None.
        called: whether the request was checked, or signed again. A transport without httpcore checks nothing.
    """

    def __init__(self, signed: SignedRequest, extensions: Mapping[str, object], *, follow_unsigned: bool) -> None:
        self.traced = cast("Trace | None", extensions.get("trace"))
        self.called = False
        self._names = {name.encode("ascii") for name in (*signed.covered, *SIGNATURE_FIELDS, "host")}
        self._method = signed.method.encode("latin-1")
        self._targets = {signed.url.encode("ascii"), signed.url.removeprefix(signed.origin).encode("ascii")}
        self._fields = self._compared(encoded((*signed.fields, *signed.signature)))
        self._follow_unsigned = follow_unsigned

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Check the request before it is written: the `trace` extension of a sync request.

        Raises:
            SigningError: the request was changed after signing, or was written before.
        """
        self._check(event, info)
        if self.traced is not None:
            self.traced(event, info)

    async def async_trace(self, event: str, info: Mapping[str, object]) -> None:
        """Check the request as `trace` does: the `trace` extension of an async request."""
        self._check(event, info)
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
        if self._compared(headers) != self._fields:
            raise SigningError(_CHANGED)
        if redirected and not self._follow_unsigned:
            raise SigningError(_REDIRECTED)

    def _check(self, event: str, info: Mapping[str, object]) -> None:
        if not event.endswith(_BEFORE_WRITING):
            return
        request = cast("_Written", info["request"])
        if request.method == b"CONNECT" != self._method:
            return  # a tunnel through a proxy: the proxy gets no part of the request
        fields = self._compared(request.headers)
        if self.called:
            if any(is_signature_field(name) for name, _ in fields):
                raise SigningError(_AGAIN)
            if not self._follow_unsigned:
                raise SigningError(_REDIRECTED)
            return
        self.called = True
        if fields != self._fields or request.method != self._method or request.url.target not in self._targets:
            raise SigningError(_CHANGED)

    def _compared(self, headers: Iterable[Field]) -> list[Field]:
        """Return the header fields to compare: the covered fields, the signature and `Host`."""
        return sorted((name.lower(), value) for name, value in headers if name.lower() in self._names)


def own_extensions(extensions: Mapping[str, object]) -> dict[str, object]:
    """Return the caller's own extensions. A `WireCheck` among them belongs to an earlier signature and is removed."""
    check = getattr(extensions.get("trace"), "__self__", None)
    if not isinstance(check, WireCheck):
        return dict(extensions)
    check.called = True
    own = {name: value for name, value in extensions.items() if name != "trace"}
    return own if check.traced is None else {**own, "trace": check.traced}


def is_signature_field(name: bytes) -> bool:
    """Return whether the signer writes the header field `name`."""
    return name.lower().decode("latin-1") in SIGNATURE_FIELDS


def encoded(fields: Iterable[tuple[str, str]]) -> list[Field]:
    """Return text fields as the bytes that are sent."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
