"""What an event loop's server received: its headers as bytes, and a framework's target as it was on the wire."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from undersigned.errors import MalformedURL
from undersigned.eventloop.timed_body import TimedBody
from undersigned.limits import MOST_FIELDS
from undersigned.message.content import USUALLY_WITH_CONTENT
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request_target import RequestTarget, application_path
from undersigned.middleware.received import HTTP1_VERSIONS, NO_FIELDS, Received

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from undersigned.middleware.options import Service
    from undersigned.url import CanonicalURL, Origin


def read_head(headers: Sequence[tuple[bytes, bytes]], *, unframed: bool | None) -> tuple[HeaderFields, bool | None]:
    """Return the headers, and whether content comes with the request, or None if that is unknown until it is read.

    Args:
        headers: the (name, value) pairs as bytes.
        unframed: whether content comes that neither Content-Length nor Transfer-Encoding declares, or None if unknown.
    """
    if len(headers) > MOST_FIELDS:
        return NO_FIELDS, False
    fields = HeaderFields.of_octets(headers)
    is_framed = "transfer-encoding" in fields.combined or fields.combined.get("content-length", "0") != "0"
    return fields, is_framed or unframed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WireReceived(Received):
    """What a server received that shows the target as it was on the wire, such as that of a framework.

    Attributes:
        raw_target: the request target.
    """

    raw_target: bytes

    @classmethod
    def of(
        cls,
        method: str,
        version: str,
        client: str | None,
        *,
        context: Callable[[], object],
        raw_target: bytes,
        headers: Sequence[tuple[bytes, bytes]],
        **others: Any,
    ) -> Self:
        """Return what was received, as in `Received`. `others` are what a subclass has of its own."""
        begun = time.perf_counter()
        # HTTP/2 needs no Content-Length.
        unframed = None if version not in HTTP1_VERSIONS and method in USUALLY_WITH_CONTENT else False
        fields, has_body = read_head(headers, unframed=unframed)
        return cls(
            method=method, version=version, client=client, context=context, begun=begun, raw_target=raw_target,
            fields=fields, has_body=has_body, **others,
        )  # fmt: skip

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target."""
        return RequestTarget.parse(self.raw_target), False

    def shown_target(self) -> str:
        """Return the request target."""
        return self.raw_target.decode("latin-1")

    def routed_path(self) -> str:
        """Return the percent-decoded path."""
        return unquote(self.raw_target.partition(b"?")[0])


class WireBody(TimedBody):
    """The body of a `WireReceived`.

    Args:
        service: the service that the request came to.
        received: the facts of the request.
        read: returns the next part of the content, and whether more may come, as `read_chunk`.
        routes: returns whether the framework routes this target, if it cannot route another than it received.

    Attributes:
        target: the target that was verified: what the application gets. None: what the server has.
    """

    def __init__(
        self,
        service: Service,
        received: WireReceived,
        read: Callable[[], Awaitable[tuple[bytes, bool]]],
        *,
        routes: Callable[[str], bool] = lambda _target: True,
    ) -> None:
        super().__init__(service, received)
        self._read = read
        self._routes = routes
        self.target: str | None = None

    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come."""
        return await self._read()

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified."""
        path = application_path(target, origin)
        self.target = path if target.query is None else f"{path}?{target.query}"
        if not self._routes(self.target):
            raise MalformedURL("the canonical target is not the one that the framework routes", rule="request target")
