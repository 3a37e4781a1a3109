"""The guarded fetch: one request to an https URL that a peer may have chosen (AdCP, Webhook URL validation).

The host's name is resolved once, every address is checked, and the connection goes to an address that was checked. So
it does not matter if the name resolves to another address later. SNI names the URL's host, and the certificate must be
for it. httpcore2 follows no redirects, keeps no cookies, reads no proxies from the environment and decodes no content.
"""

from __future__ import annotations

import asyncio
import math
import ssl
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undersigned.discovery.fetch_errors import NotConnected, Redirected, Unreachable, UntrustedURL, UnusableDocument
from undersigned.discovery.threads_and_tasks import in_thread
from undersigned.errors import MalformedURL, needs_extra
from undersigned.limits import CONNECT_TIMEOUT, LONGEST_URL, MOST_CHUNKS, MOST_RESPONSE_HEAD, MOST_TRIES
from undersigned.url import URL, canonicalize

with needs_extra("discovery"):
    import httpcore2

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from undersigned.discovery.network import Network

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CERTIFICATE_FAULTS = {
    9: "is not valid yet",
    10: "has expired",
    62: "is for another host",
    64: "is for another host",
}
"""What a certificate lacks, by OpenSSL's code (X509_V_ERR)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A request of the guarded fetch, and what it allows.

    Attributes:
        url: an https URL.
        max_bytes: upper bound on the bytes of the body.
        method: the method.
        accept: the media types that are asked for.
        content: the content, or None.
        fields: further headers.
        seconds: a further upper bound on the seconds that the fetch may take, next to `Network.total_timeout`.
        accepts: tells whether a body may have this Content-Type. None: any.
        ends: takes the next bytes of the body, and returns whether the rest is not needed.
    """

    url: str
    max_bytes: int
    method: str = "GET"
    accept: str = "application/json"
    content: bytes | None = None
    fields: Sequence[tuple[str, str]] = ()
    seconds: float = math.inf
    accepts: Callable[[str], bool] | None = None
    ends: Callable[[bytes], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResponse:
    """The response of a server.

    Attributes:
        status: the status code.
        fields: the headers by lower-case name; several lines of one name are joined with `, `.
        body: the body; read only if the status is 200, or an error is the answer to content.
    """

    status: int
    fields: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """The server and the request target that a request goes to.

    Attributes:
        host: a name, or an address without brackets.
        port: the port.
        authority: host and port as the Host field has them.
        path_and_query: the request target.
    """

    host: str
    port: int
    authority: str
    path_and_query: str

    @classmethod
    def of(cls, url: str) -> Target:
        """Return the target of an https URL, in its canonical form.

        Raises:
            UntrustedURL: `url` is malformed, longer than 2,048 characters, not https, or has user info.
        """
        if len(url) > LONGEST_URL:
            raise UntrustedURL(f"the URL has more than {LONGEST_URL} characters")
        try:
            canonical = canonicalize(url, received=True)
        except MalformedURL as malformed:
            raise UntrustedURL(f"the URL is rejected by the rule {malformed.rule!r}") from None
        if canonical.scheme != "https":
            raise UntrustedURL("the URL is not an https URL")
        if URL.parse(url).userinfo is not None:
            raise UntrustedURL("the URL has user info")
        start = len("https://") + len(canonical.authority)
        return cls(canonical.host.strip("[]"), canonical.port or 443, canonical.authority, canonical.target_uri[start:])


def fetch(request: FetchRequest, network: Network) -> FetchResponse:
    """Return the response of the server of `request.url`, fetched under the guard. It takes `total_timeout` at most.

    Raises:
        UntrustedURL: the URL must not be fetched.
        Unreachable: the server did not answer in time, or redirects.
        UnusableDocument: the answer is too large, or has a content coding.
    """
    deadline = time.monotonic() + max(0.0, min(request.seconds, network.total_timeout))
    target = Target.of(request.url)
    # The system's resolver has no time limit.
    answers = in_thread(lambda: network.resolve(target.host, target.port), "undersigned-resolver")
    try:
        addresses = network.check(answers.result(_left(deadline)))
    except TimeoutError:
        raise _too_slow() from None
    except (OSError, UnicodeError) as error:
        raise Unreachable("the host has no address: there is no such name, or no name server answers") from error
    *others, last = addresses[:MOST_TRIES]
    for address in others:
        with suppress(NotConnected):
            return _exchange(request, network, target, address, deadline)
    return _exchange(request, network, target, last, deadline)


async def fetch_async(request: FetchRequest, network: Network) -> FetchResponse:
    """As `fetch`, in a thread of its own."""
    return await asyncio.wrap_future(in_thread(lambda: fetch(request, network), "undersigned-fetch"))


def _exchange(request: FetchRequest, network: Network, target: Target, address: str, deadline: float) -> FetchResponse:
    url = httpcore2.URL(scheme=b"https", host=target.host, port=target.port, target=target.path_and_query)
    backend = _Backend(address, deadline)
    fields = {"Host": target.authority, "Accept": request.accept, "Accept-Encoding": "identity", "Connection": "close"}
    with (
        _connection_errors(),
        httpcore2.HTTPConnection(url.origin, network.context, network_backend=backend) as connection,
        connection.stream(
            request.method,
            url,
            headers=[(name.encode("ascii"), text.encode("ascii")) for name, text in (*fields.items(), *request.fields)],
            content=request.content,
            extensions={"timeout": {"connect": CONNECT_TIMEOUT}},
        ) as response,
    ):
        backend.left += request.max_bytes
        got = _fields(response.headers)
        has_answer = response.status == 200 or (request.content is not None and response.status >= 400)  # noqa: PLR2004
        body = _body(request, got, response.iter_stream()) if has_answer else b""
        if response.status in _REDIRECTS:
            raise Redirected(response.status, got)
        return FetchResponse(status=response.status, fields=got, body=body)


def _body(request: FetchRequest, fields: Mapping[str, str], chunks: Iterable[bytes]) -> bytes:
    """Read a body up to the limit."""
    limit, body = request.max_bytes, bytearray()
    if fields.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnusableDocument("the response has a content coding, though none was asked for")
    if request.accepts is not None and not request.accepts(fields.get("content-type", "")):
        raise UnusableDocument("the document is not of the media type that was asked for")
    # The HTTP client has checked that a Content-Length is a number of at most 20 digits.
    if int(fields.get("content-length", "0")) > limit:
        raise UnusableDocument(f"the response has more than {limit} bytes")
    for number, chunk in enumerate(chunks):
        body += chunk
        if len(body) > limit:
            raise UnusableDocument(f"the response has more than {limit} bytes")
        if number >= MOST_CHUNKS:
            raise UnusableDocument("the response comes in too many small chunks")
        if request.ends is not None and request.ends(chunk):
            break
    return bytes(body)


def _fields(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
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
        raise NotConnected(f"the connection failed: {_cause(error)}") from error
    except httpcore2.TimeoutException as error:
        raise _too_slow() from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        raise Unreachable(f"the exchange failed ({type(error).__name__})") from error


def _cause(error: BaseException) -> str:
    """Return why a connection failed, for the operator."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            untrusted = "is not trusted: its authority is not in Network(tls=...)"
            return f"the server's certificate {_CERTIFICATE_FAULTS.get(cause.verify_code, untrusted)}"
        if isinstance(cause, ssl.SSLError):
            return "the server does not speak TLS as this client does"
        if isinstance(cause, ConnectionRefusedError):
            return "the server refused it"
        if isinstance(cause, (TimeoutError, httpcore2.TimeoutException)):
            return "it timed out"
    return f"the host cannot be reached, or closed it ({type(causes[-1]).__name__})"


class _Backend(httpcore2.SyncBackend):
    """A backend that connects to `address` for any host, and reads at most `left` bytes until `deadline`."""

    def __init__(self, address: str, deadline: float) -> None:
        self._address, self.deadline = address, deadline
        # The head of the response, and what is read with its last bytes.
        self.left = 2 * MOST_RESPONSE_HEAD

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name was resolved and checked before
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        seconds = _left(self.deadline, timeout)
        stream = super().connect_tcp(self._address, port, seconds, local_address, socket_options)
        return _Stream(stream, self)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, backend: _Backend) -> None:
        self._stream, self._backend = stream, backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, _left(self._backend.deadline, timeout))
        self._backend.left -= len(data)
        if self._backend.left < 0:
            raise Unreachable("the server sends too many bytes outside the body")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._backend.deadline, timeout))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, _left(self._backend.deadline, timeout))
        return _Stream(stream, self._backend)


def _left(deadline: float, timeout: float | None = None) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_slow()
    return left if timeout is None else min(timeout, left)


def _too_slow() -> Unreachable:
    return Unreachable("the server, or its name's resolution, took too long")
