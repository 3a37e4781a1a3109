"""HTTP/1.1 to one server, byte for byte, without redirects and proxy settings, and its options."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from undersigned import __version__
from undersigned.cli.options import file_name, wrong_url
from undersigned.client import ClientSigner
from undersigned.errors import ConfigurationError, MalformedURL, SigningError, UndersignedError
from undersigned.log_text import printable
from undersigned.message.content import USUALLY_WITH_CONTENT
from undersigned.message.request import Request
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from undersigned.signature.profile import Profile
    from undersigned.signature.signing_key import SigningKey
    from undersigned.url import CanonicalURL

_OWN: Final = (("User-Agent", f"undersigned/{__version__}"), ("Accept", "*/*"), ("Connection", "close"))

_TIMES: Final = 10

timeout_option = click.option(
    "--timeout",
    type=click.IntRange(1, 600),
    default=10,
    show_default=True,
    help=f"The read timeout in seconds. A whole response may take {_TIMES} times as long.",
)


def _tls_context(_ctx: click.Context, _param: click.Parameter, file: BinaryIO | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the certificates of a file, or the system's if no file is given."""
    if file is None:
        return ssl.create_default_context()
    try:
        # Without any text, the context would trust what the system trusts.
        return ssl.create_default_context(cadata=file.read().decode("ascii", "ignore") or "-")
    except (ssl.SSLError, ValueError):
        raise click.BadParameter(f"{file_name(file)} does not contain PEM certificates") from None


ca_file_option = click.option(
    "--ca-file",
    "tls",
    type=click.File("rb"),
    callback=_tls_context,
    metavar="FILE",
    help="The CA bundle, in PEM.  [default: the system's]",
)


class NoAnswer(UndersignedError):
    """Raised when the server gives no HTTP answer. The message does not quote the server."""


@contextmanager
def send(
    site: CanonicalURL,
    method: str,
    target: str,
    fields: Iterable[tuple[str, str]],
    content: bytes | list[bytes],
    *,
    timeout: float,
    tls: ssl.SSLContext,
) -> Generator[http.client.HTTPResponse]:
    """Send a request over a connection of its own, with these headers only, and yield the answer.

    Host and port are those of `site`. A value of `fields` has one character for each byte. A list of contents is sent
    in chunks. After `timeout` seconds of silence the connection fails; the whole answer may take ten times as long.

    Raises:
        NoAnswer: the server cannot be reached, is not trusted, is silent, does not come to an end, or does not answer
            with HTTP/1.1.
    """
    host, port = site.host.strip("[]"), site.port
    connection: http.client.HTTPConnection
    if site.scheme == "https":
        tls.set_alpn_protocols(["http/1.1"])
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=tls)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    ended = threading.Event()
    try:
        with closing(connection), _end_of(connection, timeout * _TIMES, ended):
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in fields:
                connection.putheader(name, value.encode("latin-1"))
            # A server may answer and close before it has read the content.
            with suppress(ConnectionError):
                connection.endheaders(content or None, encode_chunked=isinstance(content, list))
            with connection.getresponse() as response:
                yield response
        why = ""
    except (OSError, http.client.HTTPException) as failure:
        why = _reason(failure, connection, timeout)
    # A connection that this client ended fails, or ends as if the server had ended it.
    why = f"the response did not end in {timeout * _TIMES:g} seconds" if ended.is_set() else why
    if why:
        raise NoAnswer(why)


@contextmanager
def exchange(
    key: SigningKey,
    profile: Profile,
    method: str,
    url: str,
    fields: Sequence[tuple[str, str]],
    content: bytes,
    *,
    timeout: float,
    tls: ssl.SSLContext,
) -> Generator[tuple[Request, http.client.HTTPResponse]]:
    """Send a signed request to the canonical form of a URL, and yield it as it was sent, with the answer.

    The headers that every request needs are added.

    Raises:
        click.UsageError: the request cannot be signed: the URL is malformed, or what the signature covers is missing.
        click.ClickException: there is no answer.
    """
    try:
        sent = _signed(Signer(key, profile=profile), method, url, fields, content)
    except MalformedURL as malformed:
        raise wrong_url(url, malformed) from None
    except (ConfigurationError, SigningError) as wrong:
        raise click.UsageError(str(wrong)) from None
    target = canonicalize(sent.url)
    path = sent.url.removeprefix(f"{target.scheme}://{target.authority}")
    try:
        with send(target, method, path, sent.fields, content, timeout=timeout, tls=tls) as response:
            yield sent, response
    except NoAnswer as silence:
        raise click.ClickException(f"{printable(sent.url)}: no response: {silence}") from None


def _signed(signer: Signer, method: str, url: str, fields: Sequence[tuple[str, str]], content: bytes) -> Request:
    """Return the request as it is to be sent, with its signature, to the canonical form of `url`."""
    target = canonicalize(url)
    given = {name.lower() for name, _ in fields}
    with_own = [*fields, *(field for field in _OWN if field[0].lower() not in given)]
    client = ClientSigner(signer, [f"{target.scheme}://{target.authority}"])
    signed = client.sign(method, url, with_own, content)
    lines = [*signed.headers]
    if "host" not in given:
        lines.insert(0, ("Host", signed.authority))
    if content or method in USUALLY_WITH_CONTENT:
        lines.append(("Content-Length", str(len(content))))
    return Request(method, signed.url, lines, content)


def _reason(failure: Exception, connection: http.client.HTTPConnection, timeout: float) -> str:
    """Return why there is no answer, without text of the server."""
    texts: dict[type[Exception], str] = {
        ssl.SSLError: "the server does not speak TLS as this client does",
        socket.gaierror: "there is no such name, or no name server answers",
        TimeoutError: f"no data for {timeout:g} seconds",
        ConnectionRefusedError: (
            f"the connection is refused: nothing listens at {connection.host} on port {connection.port}"
        ),
        http.client.HTTPException: "the answer is not HTTP/1.1, or it ends early",
    }
    if isinstance(failure, ssl.SSLCertVerificationError):
        why = failure.verify_message
        return f"the certificate is not trusted: {why}; --ca-file names a file with those to trust"
    told = next((text for kind, text in texts.items() if isinstance(failure, kind)), "")
    return told or getattr(failure, "strerror", None) or "the connection was closed"


@contextmanager
def _end_of(connection: http.client.HTTPConnection, seconds: float, ended: threading.Event) -> Generator[None]:
    """Connect, and end the connection after some seconds, whatever the server still sends, such as 100 Continue."""
    connection.connect()
    sock: socket.socket = connection.sock

    def end() -> None:
        ended.set()
        # As a plain socket: the other thread reads from the one of TLS.
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
