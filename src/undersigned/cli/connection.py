"""Connections: to one server, over HTTP/1.1 or over TLS, without redirects and without proxy settings."""

from __future__ import annotations

import http.client
import socket
import ssl
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from undersigned.errors import UndersignedError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from undersigned.url import CanonicalURL


class NoAnswer(UndersignedError):
    """Raised when the server gives no HTTP answer. The message does not quote the server."""


@contextmanager
def connect(site: CanonicalURL, *, timeout: float, tls: ssl.SSLContext) -> Generator[http.client.HTTPConnection]:
    """Yield a connection, which is opened when something is sent, and close it.

    Args:
        site: a URL of the server, with the host and port to connect to.
        timeout: the seconds of silence after which the connection fails.
        tls: the certificates to trust if the scheme is https.

    Raises:
        NoAnswer: the server cannot be reached, is not trusted, is silent, or does not answer with HTTP/1.1.
    """
    host, port = site.host.strip("[]"), site.port
    connection: http.client.HTTPConnection
    if site.scheme == "https":
        tls.set_alpn_protocols(["http/1.1"])
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=tls)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    with failing_as_no_answer(timeout), closing(connection):
        yield connection


@contextmanager
def connect_tls(
    site: CanonicalURL, protocols: Sequence[str], *, timeout: float, tls: ssl.SSLContext
) -> Generator[ssl.SSLSocket]:
    """Yield a socket that is connected over TLS, and close it.

    Args:
        site: a URL of the server, with the host and port to connect to.
        protocols: the protocols to offer, the preferred one first (RFC 7301).
        timeout: the seconds of silence after which the connection fails.
        tls: the certificates to trust.

    Raises:
        NoAnswer: the server cannot be reached, is not trusted, or is silent.
    """
    host = site.host.strip("[]")
    tls.set_alpn_protocols(protocols)
    with (
        failing_as_no_answer(timeout),
        socket.create_connection((host, site.port or http.client.HTTPS_PORT), timeout) as plain,
        tls.wrap_socket(plain, server_hostname=host) as connection,
    ):
        yield connection


@contextmanager
def failing_as_no_answer(timeout: float) -> Generator[None]:
    """Raise `NoAnswer` for each way in which a connection with this timeout can fail."""
    try:
        yield
    except ssl.SSLCertVerificationError as distrusted:
        raise NoAnswer(f"the certificate is not trusted: {distrusted.verify_message}") from None
    except TimeoutError:
        raise NoAnswer(f"no data for {timeout:g} seconds") from None
    except OSError as failure:
        raise NoAnswer(failure.strerror or "the connection was closed") from None
    except http.client.HTTPException:
        raise NoAnswer("the answer is not HTTP/1.1, or it ends early") from None
