"""A socket that answers one connection with prepared bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from functools import partial


@contextlib.contextmanager
def listener(response: bytes | None, received: list[bytes] | None = None, *, tls=None):
    """A socket that answers one connection. With None it sends nothing."""
    wrap = contextlib.nullcontext if tls is None else partial(tls.wrap_socket, server_side=True)
    with socket.create_server(("127.0.0.1", 0)) as bound:

        def serve() -> None:
            connection, _ = bound.accept()
            with contextlib.suppress(OSError), connection, wrap(connection) as one:
                read = octets = one.recv(65536)
                while octets and received is not None and not read.endswith(b"\r\n\r\n"):
                    octets = one.recv(65536)
                    read += octets
                if received is not None:
                    received.append(read)
                if response is None:
                    one.recv(1)
                else:
                    one.sendall(response)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield bound.getsockname()[1]
        thread.join(10)


def rejection(code: str, *lines: str) -> bytes:
    """Return an answer that rejects a request with the code of a signature, and these headers."""
    head = ["HTTP/1.1 401 X", *lines, f'WWW-Authenticate: Signature error="{code}"', "Content-Length: 0", "", ""]
    return "\r\n".join(head).encode()
