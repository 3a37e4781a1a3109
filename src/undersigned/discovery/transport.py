"""The connections of guarded fetches: httpcore2 over a network backend that connects to one checked address.

httpcore2 follows no redirects, keeps no cookies, reads no proxies from the environment and decodes no content, and it
lets its backend connect. The two halves of this module do the same, one blocking and one awaiting.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import httpcore2

from undersigned.discovery.failures import NotConnected, Unreachable
from undersigned.discovery.fetch import FetchResponse, fetch
from undersigned.discovery.response_body import BodyReader
from undersigned.limits import MOST_RESPONSE_HEAD

if TYPE_CHECKING:
    import ssl
    from collections.abc import Generator, Iterable, Sequence

    from undersigned.discovery.fetch import FetchRequest, Target
    from undersigned.discovery.network import Network, Resolver


_Headers = list[tuple[bytes, bytes]]


async def fetch_blocking(request: FetchRequest, network: Network) -> FetchResponse:
    """Fetch as `fetch` does, blocking for `network.total_timeout` seconds at most; never suspends."""
    return await fetch(request, network, _BlockingIO(network, _seconds(request, network)))


async def fetch_async(request: FetchRequest, network: Network) -> FetchResponse:
    """Fetch as `fetch` does, for `network.total_timeout` seconds at most."""
    try:
        async with asyncio.timeout(_seconds(request, network)):
            return await fetch(request, network, _AsyncIO(network))
    except TimeoutError:
        raise _too_slow() from None


class _BlockingIO:
    """A `FetchIO` whose coroutines never suspend."""

    def __init__(self, network: Network, seconds: float) -> None:
        self._network = network
        self._deadline = time.monotonic() + seconds

    async def resolve(self, resolver: Resolver, host: str, port: int) -> Sequence[str]:
        try:
            return _ask_in_thread(resolver, host, port).result(timeout=self._deadline - time.monotonic())
        except TimeoutError:
            raise _too_slow() from None

    async def exchange(self, request: FetchRequest, target: Target, address: str) -> FetchResponse:
        url = _url(target)
        backend = _BlockingBackend(address, self._deadline, request.max_bytes + MOST_RESPONSE_HEAD)
        connection = httpcore2.HTTPConnection(url.origin, self._network.context, network_backend=backend)
        with _connection_errors(), connection:  # noqa: SIM117 - the stream is opened on the connection
            with connection.stream(
                request.method,
                url,
                headers=_headers(request, target),
                content=request.content,
                extensions={"timeout": {"connect": self._network.connect_timeout}},
            ) as opened:
                reader = _Reader(request, opened)
                for chunk in opened.iter_stream() if reader.wants_body else ():
                    if reader.body.feed(chunk):
                        break
                return reader.response()


class _AsyncIO:
    """A `FetchIO` on the running event loop; `fetch_async` limits its time."""

    def __init__(self, network: Network) -> None:
        self._network = network

    async def resolve(self, resolver: Resolver, host: str, port: int) -> Sequence[str]:
        return await asyncio.wrap_future(_ask_in_thread(resolver, host, port))

    async def exchange(self, request: FetchRequest, target: Target, address: str) -> FetchResponse:
        url = _url(target)
        backend = _AsyncBackend(address, request.max_bytes + MOST_RESPONSE_HEAD)
        connection = httpcore2.AsyncHTTPConnection(url.origin, self._network.context, network_backend=backend)
        with _connection_errors():
            async with (
                connection,
                connection.stream(
                    request.method,
                    url,
                    headers=_headers(request, target),
                    content=request.content,
                    extensions={"timeout": {"connect": self._network.connect_timeout}},
                ) as opened,
            ):
                reader = _Reader(request, opened)
                if reader.wants_body:
                    async for chunk in opened.aiter_stream():
                        if reader.body.feed(chunk):
                            break
                return reader.response()


class _Reader:
    """The response to `request`, as it is read from `opened`."""

    def __init__(self, request: FetchRequest, opened: httpcore2.Response) -> None:
        self._url = request.url
        self._status = opened.status
        self._fields = _fields(opened.headers)
        self.wants_body = opened.status == 200  # noqa: PLR2004 - OK
        self.body = BodyReader(self._fields if self.wants_body else {}, limit=request.max_bytes, ends=request.ends)

    def response(self) -> FetchResponse:
        return FetchResponse(url=self._url, status=self._status, fields=self._fields, body=self.body.finish())


def _seconds(request: FetchRequest, network: Network) -> float:
    return max(0.0, min(request.seconds, network.total_timeout))


def _ask_in_thread(resolver: Resolver, host: str, port: int) -> Future[Sequence[str]]:
    """Ask the resolver in a thread of its own. The system's has no time limit, and would block a shared pool."""
    answer: Future[Sequence[str]] = Future()
    answer.set_running_or_notify_cancel()

    def ask() -> None:
        try:
            answer.set_result(resolver(host, port))
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited
            answer.set_exception(error)

    threading.Thread(target=ask, name="undersigned-resolver", daemon=True).start()
    return answer


def _url(target: Target) -> httpcore2.URL:
    return httpcore2.URL(scheme=b"https", host=target.host, port=target.port, target=target.path_and_query)


def _headers(request: FetchRequest, target: Target) -> _Headers:
    fields = [
        ("Host", target.authority),
        ("Accept", request.accept),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
        *request.fields,
    ]
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in fields]


def _fields(headers: _Headers) -> dict[str, str]:
    fields: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("ascii").lower(), raw_value.decode("latin-1")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    return fields


@contextmanager
def _connection_errors() -> Generator[None]:
    try:
        yield
    except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
        raise NotConnected(f"the connection failed ({type(error).__name__})") from error
    except httpcore2.TimeoutException as error:
        raise _too_slow() from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        raise Unreachable(f"the exchange failed ({type(error).__name__})") from error


def _too_slow() -> Unreachable:
    return Unreachable("the server, or its name's resolution, took too long")


class _BlockingBackend(httpcore2.NetworkBackend):
    """A backend that connects to `address` for any host, and reads at most `most` bytes until `deadline`."""

    def __init__(self, address: str, deadline: float, most: int) -> None:
        self._address = address
        self._deadline = deadline
        self._most = most
        self._system = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name was resolved and checked before
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        seconds = _shorter(timeout, self._deadline)
        stream = self._system.connect_tcp(self._address, port, seconds, local_address, socket_options)
        return _BlockingStream(stream, self._deadline, self._most)


class _BlockingStream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, deadline: float, most: int) -> None:
        self._stream = stream
        self._deadline = deadline
        self._left = most

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, _shorter(timeout, self._deadline))
        self._left = _after(self._left, data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _shorter(timeout, self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, _shorter(timeout, self._deadline))
        return _BlockingStream(stream, self._deadline, self._left)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _AsyncBackend(httpcore2.AsyncNetworkBackend):
    """A backend that connects to `address` for any host, and reads at most `most` bytes."""

    def __init__(self, address: str, most: int) -> None:
        self._address = address
        self._most = most
        self._system = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name was resolved and checked before
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the backend's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        connected = self._system.connect_tcp(self._address, port, timeout, local_address, socket_options)
        return _AsyncStream(await connected, self._most)


class _AsyncStream(httpcore2.AsyncNetworkStream):
    def __init__(self, stream: httpcore2.AsyncNetworkStream, most: int) -> None:
        self._stream = stream
        self._left = most

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - as above
        data = await self._stream.read(max_bytes, timeout)
        self._left = _after(self._left, data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as above
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as above
    ) -> httpcore2.AsyncNetworkStream:
        return _AsyncStream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._left)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _shorter(timeout: float | None, deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_slow()
    return left if timeout is None else min(timeout, left)


def _after(left: int, data: bytes) -> int:
    if len(data) > left:
        raise Unreachable("the server sends too many bytes outside the body")
    return left - len(data)
