"""Fronts: one listening socket of a proxy, with the configuration that is looked at and the server behind it."""

from __future__ import annotations

import socket
from dataclasses import dataclass

BACKENDS = ("uvicorn", "gunicorn")


@dataclass(frozen=True)
class Front:
    """One configuration of a proxy.

    Attributes:
        name: what it is called in tests.
        rules: its lines in the proxy's own language; the server behind it is called `app`.
        tls: whether the client speaks https to it.
        origin_scheme: the scheme of its origin in the middleware, where that is not the one the client speaks.
        prefix: the path prefix of its origin.
    """

    name: str
    rules: str
    tls: bool = False
    origin_scheme: str = ""
    prefix: str = ""


@dataclass(frozen=True)
class Served:
    """A front with a socket and a server behind it."""

    front: Front
    backend: str
    socket: socket.socket
    port: int

    @classmethod
    def bound(cls, front: Front, backend: str) -> Served:
        bound = listening()
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
        """The origin as a client knows it."""
        return f"{'https' if self.front.tls else 'http'}://{self.host}"

    @property
    def origin(self) -> str:
        """The origin as the middleware is told."""
        scheme = self.front.origin_scheme or ("https" if self.front.tls else "http")
        return f"{scheme}://{self.host}{self.front.prefix}"


def listening() -> socket.socket:
    """A listening socket for a process to inherit: its port is known before the process is."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen(128)
    bound.settimeout(0)
    return bound
