"""Connections: one HTTP/1.1 connection to one server, without redirects and without proxy settings."""

from __future__ import annotations

import http.client
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from undersigned.errors import UndersignedError

if TYPE_CHECKING:
    from collections.abc import Generator

    from undersigned.url import CanonicalURL


class NoAnswer(UndersignedError):
    """Raised when the server gives no HTTP answer. The message quotes nothing that the server sent."""


@contextmanager
def connected(site: CanonicalURL, *, timeout: float, tls: ssl.SSLContext) -> Generator[http.client.HTTPConnection]:
    """Yield a connection, which is opened when something is sent, and close it.

    Args:
        site: a URL of the server, with the host and port to connect to.
        timeout: the seconds of silence after which the connection fails.
        tls: the certificates to trust if the scheme is https.

    Raises:
        NoAnswer: the server cannot be reached, is not trusted, is silent, or does not answer with HTTP/1.1.
    """
    host, port = site.host.strip("[]"), site.port
    connection = (
        http.client.HTTPSConnection(host, port, timeout=timeout, context=tls)
        if site.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=timeout)
    )
    try:
        yield connection
    except ssl.SSLCertVerificationError as distrusted:
        raise NoAnswer(f"the certificate is not trusted: {distrusted.verify_message}") from None
    except TimeoutError:
        raise NoAnswer(f"no data for {timeout:g} seconds") from None
    except OSError as failure:
        raise NoAnswer(failure.strerror or "the connection was closed") from None
    except http.client.HTTPException:
        raise NoAnswer("the answer is not HTTP/1.1, or it ends early") from None
    finally:
        connection.close()
