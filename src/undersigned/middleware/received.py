"""A request as its server shows it: the facts of what arrived, which do not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL, UndersignedError
from undersigned.message.header_fields import HeaderFields
from undersigned.message.preflight import is_preflight, names_method

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from undersigned.errors import SignatureError
    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.error_response import ErrorResponse
    from undersigned.url.origin import Origin, Origins

HTTP1_VERSIONS = frozenset({"1", *(f"1.{minor}" for minor in range(10))})
"""Versions in which a request has Host and no `:authority` (RFC 9112 section 2.3); granian shows 1.0 as `1`."""

NO_FIELDS = HeaderFields(())
"""The fields of a request that has more of them than are read."""


class UnsupportedServer(UndersignedError):
    """Raised when a server, or a layer outside the middleware, hides what was signed. The message names the fix."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Received(ABC):
    """What arrived. Each server has a subclass, which shows the target.

    Attributes:
        context: returns the request as the server or framework has it, for the application's functions. It is a weak
            reference if that request refers to its `Admission`.
        begun: when the server called, by `time.perf_counter`.
        method: the method.
        version: the HTTP version, such as `1.1` or `2`.
        client: the address of the client, or None.
        fields: the headers. If there are more than are read, there are none.
        has_body: whether content comes with the request, or None if that is unknown until it is read.
        server: the name of the server, if it was looked for and recognised.
        outer: what another middleware outside of this one published, or None.
        is_handshake: whether it is a WebSocket handshake.
        is_closed_only: whether it is a handshake that the server can close, but not answer.
        answers: the answers to what routes have rejected.
    """

    context: Callable[[], object]
    begun: float
    method: str
    version: str
    client: str | None
    fields: HeaderFields
    has_body: bool | None
    server: str | None = None
    outer: object = None
    is_handshake: bool = False
    is_closed_only: bool = False
    answers: list[ErrorResponse] = field(default_factory=list["ErrorResponse"])

    @property
    def names(self) -> Collection[str]:
        """The field names as spelled, as far as the server shows that."""
        return self.fields.combined

    def replacement(self, status: int) -> ErrorResponse | None:
        """Return the last answer to what a route has rejected, which `rejection=` sends instead of a response."""
        # If the response has another status, a route has gone on after a rejection.
        return self.answers[-1] if self.answers and self.answers[-1].status == status else None

    @property
    def is_preflight(self) -> bool:
        """Whether it is a CORS preflight, which no browser can sign: content and other methods make it something else.

        An application may take another method from any parameter of the query or from any field.
        """
        if not is_preflight(self.method, self.fields.combined) or self.has_body:
            return False
        fields = (value for name, value in self.fields if name != "access-control-request-method")
        query = self.shown_target().partition("?")[2].replace("=", "&")
        return not any(map(names_method, (query, *fields)))

    def origin(self, origins: Origins) -> Origin:
        """Return which of the origins of the service the request is for. Its Host values include any `:authority`.

        Raises:
            MalformedURL: the request does not have exactly one authority, or it is malformed or belongs to no origin.
        """
        host = self.fields.combined.get("host")
        if host is None or "host" in self.fields.repeated:
            # HTTP/2 servers may repeat `:authority` as Host.
            hosts = self.fields.values("host")
            if not hosts or self.version in HTTP1_VERSIONS:
                raise MalformedURL(f"the request has {len(hosts)} Host values: expected one", rule="one authority")
            host = hosts[0]
            if any(other != host for other in hosts):
                raise MalformedURL(":authority and Host differ", rule="one authority")
        origin = origins.match(host)
        if origin is None:
            raise MalformedURL(
                f"the authority is not one of the configured origins (configured: {origins})", rule="own origin"
            )
        return origin

    def advice(self, error: SignatureError) -> str:
        """Return what to do about an error that an option for the server may cause, or ""."""
        del error
        return ""

    def check_server(self) -> None:  # noqa: B027 - most servers hide nothing
        """Check that neither the server nor anything between it and the middleware hides what was signed.

        Raises:
            UnsupportedServer: one of them does.
        """

    @abstractmethod
    def target(self) -> tuple[RequestTarget, bool]:
        """Return the request target, and whether it may end in a lone `?` that the server does not show.

        Raises:
            MalformedURL: the request target is rejected.
            UnsupportedServer: the server shows no raw target.
        """

    @abstractmethod
    def shown_target(self) -> str:
        """Return the request target as the server shows it, as evidence for the log."""

    @abstractmethod
    def routed_path(self) -> str:
        """Return the percent-decoded path as the application's router reads it.

        Raises:
            MalformedURL: the application does not route what was received.
        """
