"""What serves every server with an event loop: ASGI, and the frameworks with a server of their own.

Its guard blocks none, it reads the headers as bytes, and a body must come within a time.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from types import coroutine
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from urllib.parse import unquote

from undersigned.errors import MalformedURL
from undersigned.limits import MOST_FIELDS, TURNS_BEFORE_REJECTION
from undersigned.message.content import USUALLY_WITH_CONTENT
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request_target import RequestTarget, application_path
from undersigned.middleware.body import Body
from undersigned.middleware.error_response import UnreadRequest
from undersigned.middleware.guard import Guard
from undersigned.middleware.options import Service
from undersigned.middleware.received import HTTP1_VERSIONS, NO_FIELDS, Received
from undersigned.url import Origins
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
    from typing import Unpack

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.middleware.options import AsyncOptions
    from undersigned.url import CanonicalURL, Origin
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verifier import AsyncVerifier

__all__ = ["AsyncGuard", "TimedBody", "WireBody", "WireReceived"]

Answer = TypeVar("Answer")


class AsyncGuard(Guard):
    """A guard that verifies requests in an event loop.

    Args:
        verifier: a `Verifier`, which is asked in a thread if its sources block, or an `AsyncVerifier`.
        origins: the public origins of the service.
        http2_server: the HTTP/2 server that compares `:authority` with Host, or None.
        app: as in `undersigned.middleware.Guard`.
        options: the options of every middleware, as `AsyncOptions` lists them.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        *,
        verifier: Verifier | AsyncVerifier,
        origins: ConfiguredOrigins,
        http2_server: str | None = None,
        app: object = None,
        **options: Unpack[AsyncOptions[Any]],
    ) -> None:
        verifier, found = awaitable(verifier), Origins(origins)
        super().__init__(Service(verifier=verifier, origins=found, http2_server=http2_server, **options), app)

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of a slow function, which other requests do not wait for."""
        import asyncio  # noqa: PLC0415 - WSGI never needs it, and it takes long to import

        return await asyncio.to_thread(call)

    async def yield_to_others(self) -> None:
        """Wait some turns of the event loop, so that a flood of rejected requests does not have them all."""
        import asyncio  # noqa: PLC0415 - as above

        for _ in range(TURNS_BEFORE_REJECTION):
            await asyncio.sleep(0)


def awaitable(verifier: AsyncVerifier) -> AsyncVerifier:
    """Return the verifier as a guard awaits it, without blocking the event loop."""
    return verifier.for_tasks() if isinstance(verifier, Verifier) else verifier


def is_trio() -> bool:
    """Return whether the caller runs on trio, and not in an event loop of asyncio or uvloop."""
    # A caller on trio has imported it.
    trio = sys.modules.get("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())


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


class TimedBody(Body):
    """A body that is read within a time."""

    async def read(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading."""
        return await self._in_time(super().read(digest))

    async def read_unverified(self) -> None:
        """Read the content if it begins as JSON, else only the beginning of it."""
        await self._in_time(super().read_unverified())

    async def _in_time(self, reading: Coroutine[Any, Any, Answer]) -> Answer:
        """Return what is read within `body_timeout`. What has come already needs no timer, and no asyncio."""
        try:
            waits_for = reading.send(None)
        except StopIteration as done:
            return cast("Answer", done.value)
        import asyncio  # noqa: PLC0415 - as above

        try:
            async with asyncio.timeout(self._service.body_timeout):
                answer: Answer = await _resumed(reading, waits_for)
        except TimeoutError:
            raise self.too_slow() from None
        return answer

    def too_slow(self) -> UnreadRequest:
        """Return the error for a body that did not come in time."""
        return UnreadRequest("request_timeout", "reading the body took longer than body_timeout")


@coroutine
def _resumed(reading: Coroutine[Any, Any, Answer], waits_for: object) -> Generator[Any, Any, Answer]:
    """Wait for what a coroutine that has begun waits for, and let it go on."""
    try:
        while True:
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001 - it is raised where the coroutine waits
                waits_for = reading.throw(error)
            else:
                waits_for = reading.send(None)
    except StopIteration as done:
        return cast("Answer", done.value)


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
        """Return what was received.

        Args:
            method: as in `Received`, with the arguments that follow.
            version: the HTTP version.
            client: the address of the client, or None.
            context: returns the request as the framework has it.
            raw_target: the request target.
            headers: the headers as bytes.
            others: what a subclass has of its own.
        """
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
