"""Fronts: a port of a proxy, with the configuration under test and the server that it forwards to."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.workers import free_port

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
    """A front at a port, with the server that it forwards to."""

    front: Front
    backend: str
    port: int = field(default_factory=free_port)

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
