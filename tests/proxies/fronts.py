"""Fronts: a listening socket of a proxy, with the configuration under test and the server that it forwards to."""

from __future__ import annotations

import socket
from dataclasses import dataclass

BACKENDS = ("uvicorn", "gunicorn")


@dataclass(frozen=True)
class Front:
    """A configuration of a proxy.

    Attributes:
        name: the name in tests.
        rules: the lines in the proxy's own language. They call the server `app`.
        tls: whether the client uses https.
        origin_scheme: the scheme of the origin in the middleware, if it differs from the client's scheme.
        prefix: the path prefix of its origin.
    """

    name: str
    rules: str
    tls: bool = False
    origin_scheme: str = ""
    prefix: str = ""


@dataclass(frozen=True)
class Served:
    """A front with a socket and the server that it forwards to."""

    front: Front
    backend: str
    socket: socket.socket
    port: int

    @classmethod
    def bound(cls, front: Front, backend: str, *, inherited: bool = True) -> Served:
        """Return a front with a socket that its proxy inherits, or that reserves its port until the proxy binds it."""
        bound = listening() if inherited else reserved()
        return cls(front, backend, bound, bound.getsockname()[1])

    @property
    def rules(self) -> str:
        return self.front.rules.replace("http://app", f"http://{self.backend}").replace(
            "default_backend app", f"default_backend {self.backend}"
        )

    @property
    def host(self) -> str:
        return f"localhost:{self.port}"

    @property
    def public(self) -> str:
        """Return the origin for clients."""
        return f"{'https' if self.front.tls else 'http'}://{self.host}"

    @property
    def origin(self) -> str:
        """Return the origin in the configuration of the middleware."""
        scheme = self.front.origin_scheme or ("https" if self.front.tls else "http")
        return f"{scheme}://{self.host}{self.front.prefix}"


def listening() -> socket.socket:
    """Return a listening socket for a process to inherit, so that its port is known before the process starts."""
    bound = reserved()
    bound.listen(128)
    bound.settimeout(0)
    return bound


def reserved() -> socket.socket:
    """Return a socket with a port that only a process of this user can bind too, if it sets the same option."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(("127.0.0.1", 0))
    return bound
