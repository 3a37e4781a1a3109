"""A request as its server shows it: one object, which each server fills, and which the guard takes."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from inspect import isawaitable
from typing import TYPE_CHECKING

from undersigned.limits import MOST_LENGTH_DIGITS
from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.answer import UnreadRequest
from undersigned.policy.content import may_be_json

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.guard import Guard
    from undersigned.middleware.requirement import Verification
    from undersigned.url import CanonicalURL, Origin

_TOO_LARGE = "content_too_large", "the body is larger than max_body"
_NO_FIELDS = HeaderFields(())
_NO_REQUEST = Request("", "", _NO_FIELDS)


class Incoming(ABC):
    """A request that the guard verifies. Each server has a subclass: it fills the attributes and reads chunks.

    Attributes:
        guard: the guard that verifies it.
        context: the request as the server or framework has it, for the application's functions.
        method: the method.
        version: the HTTP version, such as `1.1` or `2`.
        fields: the header fields.
        names: the field names as spelled, if the server shows that and one of them may have an underscore.
        has_too_many_fields: whether there are more header fields than are read. `fields` is then empty.
        has_body: whether content comes with the request, or None if that is unknown until it is read.
        client: the address of the client, or None.
        begun: when the verification began, by `time.perf_counter`.
        outer: what another middleware outside of this one published, or None.
        origin: the origin that the request is for, once the guard has found it.
        request: the request as it was on the wire, once the guard has made it. If a policy reads content, it has it.
        content: the content, once it has been read to its end, or None.
        chunks: what has been read of the content; the application gets it again.
        more: whether more of it may come; None if nothing has been read.
        is_begun: whether the guard has asked for content that no valid signature covers.
        is_closed: whether no content may reach the application, because a request without content was verified.
    """

    fields: HeaderFields = _NO_FIELDS
    names: Collection[str] = ()
    has_too_many_fields: bool = False
    has_body: bool | None = False
    outer: Verification | None = None
    origin: Origin | None = None
    request: Request = _NO_REQUEST
    content: Content | None = None
    chunks: Sequence[bytes] = ()
    more: bool | None = None
    is_begun: bool = False
    is_closed: bool = False

    def __init__(self, guard: Guard, context: object, method: str, version: str, client: str | None) -> None:
        """Begin with what needs no reading; a subclass sets `fields`, `names` and `has_body`."""
        self.begun = time.perf_counter()
        self.guard = guard
        self.context = context
        self.method = method
        self.version = version
        self.client = client

    def server(self) -> str | None:
        """Return the name of the server, if it can be recognised.

        Raises:
            VerificationUnavailable: the server, or something between it and the middleware, hides what was signed.
        """
        return None

    @abstractmethod
    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether it may end in a lone `?` that the server does not show.

        Raises:
            MalformedURL: the request target is rejected.
            VerificationUnavailable: the server shows no raw target, or `server` fails.
        """

    @abstractmethod
    def shown_target(self) -> str:
        """Return the request target as the server shows it, as evidence for the log."""

    @abstractmethod
    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""

    @abstractmethod
    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Take the target that was verified: the application gets it, and nothing else.

        Raises:
            MalformedURL: the canonical path is outside the origin's prefix or the mount that routed the request here.
        """

    @abstractmethod
    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come.

        Raises:
            SignatureError: the server cannot read the content, or it is shorter than declared.
        """

    async def read_content(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading.

        Raises:
            UnreadRequest: the content, or its Content-Length, is above `max_body`, or reading it takes too long.
            SignatureError: as `read_chunk`.
        """
        most = self.guard.max_body
        declared = self.fields.combined.get("content-length") or "0"
        if declared.isdecimal() and (len(declared) > MOST_LENGTH_DIGITS or int(declared) > most):
            raise UnreadRequest(*_TOO_LARGE)
        chunks: list[bytes] = []
        size, more = 0, True
        while more:
            chunk, more = await self.read_chunk()
            size += len(chunk)
            if size > most:
                raise UnreadRequest(*_TOO_LARGE)
            if chunk:
                chunks.append(chunk)
                if digest is not None:
                    digest.update(chunk)
        self.chunks, self.more = chunks, False
        return Content(chunks)

    async def read_unverified(self) -> Content | None:
        """Read the content of a request without a valid signature. Return None if it does not begin as JSON.

        Content that does not begin as JSON is read no further.

        Raises:
            UnreadRequest: the JSON is above `max_unsigned_body` or `max_body`, or reading it takes too long.
            SignatureError: as `read_chunk`.
        """
        self.chunks = chunks = list[bytes]()
        size, is_json = 0, None
        while self.more is not False:
            chunk, self.more = await self.read_chunk()
            size += len(chunk)
            if chunk:
                chunks.append(chunk)
            if is_json is None:
                is_json = may_be_json(b"".join(chunks), self.fields, ended=not self.more)
                if is_json is False:
                    return None
            exceeded = [option for option, most in self.guard.unsigned_bounds.items() if size > most]
            if exceeded:
                raise UnreadRequest(
                    "content_too_large", f"JSON without a valid signature is larger than {' and '.join(exceeded)}"
                )
        return Content(chunks)

    async def accepts_caller(self) -> bool:
        """Return whether another authenticator of the application accepts the caller."""
        fallback = self.guard.fallback
        accepted = fallback is not None and fallback(self.context)
        return await accepted if isawaitable(accepted) else accepted
