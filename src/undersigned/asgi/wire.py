"""A request of a server that shows the target as it was on the wire, such as that of a framework."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from undersigned.asgi.chunked import AsyncIncoming
from undersigned.message.request_target import RequestTarget, application_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.asgi.guard import AsyncGuard
    from undersigned.url import CanonicalURL, Origin


class WireIncoming(AsyncIncoming):
    """A request of a server that shows the target as it was on the wire.

    Args:
        guard: the guard that verifies it.
        context: as in `Incoming`.
        method: as in `Incoming`.
        version: as in `Incoming`.
        client: as in `Incoming`.
        target: the request target.
        headers: the header fields, with names in lower case.

    Attributes:
        raw_target: the request target.
        verified: the target that was verified: what the application gets. None: what the server has.
    """

    verified: str | None = None

    def __init__(
        self,
        guard: AsyncGuard,
        context: object,
        method: str,
        version: str,
        client: str | None,
        *,
        target: bytes,
        headers: Sequence[tuple[bytes, bytes]],
    ) -> None:
        super().__init__(guard, context, method, version, client)
        self.raw_target = target
        self.set_fields(headers)

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target."""
        return RequestTarget.parse(self.raw_target), False

    def shown_target(self) -> str:
        """Return the request target."""
        return self.raw_target.decode("latin-1")

    def routed_path(self) -> str:
        """Return the percent-decoded path."""
        return unquote(self.raw_target.partition(b"?")[0])

    @property
    def verified_path(self) -> str | None:
        """The path of `verified`, percent-decoded."""
        return None if self.verified is None else unquote(self.verified.partition("?")[0])

    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Keep the target that was verified."""
        path = application_path(target, origin)
        self.verified = path if target.query is None else f"{path}?{target.query}"
