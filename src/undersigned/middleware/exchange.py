"""Exchanges: a request in a server, as the guard gets it from the ASGI or the WSGI middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from undersigned.verification.gate import Server

if TYPE_CHECKING:
    from collections.abc import Collection

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.guard import Visit
    from undersigned.url import CanonicalURL, Origin
    from undersigned.verification.gate import Admitted

Forwarded_co = TypeVar("Forwarded_co", covariant=True)
"""The arguments with which a middleware calls the application."""


class Received(NamedTuple):
    """A request as the server shows it, before any check.

    Attributes:
        method: the method.
        version: the HTTP version, such as `1.1` or `2`.
        fields: the header fields.
        names: the field names as spelled, if the server shows that and one of them may have an underscore.
        has_body: whether content comes with the request, or None if that is unknown until it is read.
    """

    method: str
    version: str
    fields: HeaderFields
    names: Collection[str]
    has_body: bool | None


class Exchange(Server, Protocol[Forwarded_co]):
    """A request in a server, by ASGI or WSGI."""

    visit: Visit

    def shaped(self, response: ErrorResponse) -> ErrorResponse:
        """Return the answer to a request that is rejected, as the application shapes it."""
        ...

    def received_request(self) -> Received:
        """Return the request without its target.

        Raises:
            UnreadRequest: it has too many header fields.
        """
        ...

    def server(self) -> str | None:
        """Return the name of the server, if it can be recognised.

        Raises:
            VerificationUnavailable: the server, or something between it and the middleware, hides what was signed.
        """
        ...

    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether it may end in a lone `?` that the server does not show.

        Raises:
            MalformedURL: the request target is rejected.
            VerificationUnavailable: the server shows no raw target, or `server` fails.
        """
        ...

    def shown_target(self) -> str:
        """Return the request target as the server shows it, as evidence for the log."""
        ...

    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it."""
        ...

    def forward_unsigned(self, admitted: Admitted | None = None, *, closed: bool = False) -> Forwarded_co:
        """Return what the application gets of a request without a valid signature: what the server gave.

        Args:
            admitted: the request as the policy admitted it, or None if there is no policy.
            closed: whether no content may reach the application.
        """
        ...

    def forward(self, admitted: Admitted, target: CanonicalURL, origin: Origin, *, has_body: bool) -> Forwarded_co:
        """Return what the application gets: only verified values.

        Raises:
            MalformedURL: the canonical path is outside the origin's prefix or the mount that routed the request here.
        """
        ...
