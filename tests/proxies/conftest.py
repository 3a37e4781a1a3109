"""Real proxies in front of real servers, all on loopback, each started once and stopped by its own process."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import ssl
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import keys
from tests.certificate import certificate
from tests.proxies import envoy, haproxy, nginx, traefik
from tests.proxies.fronts import BACKENDS, Served
from tests.servers.matrix import program
from tests.wire import read_response
from tests.workers import free_port, started, workers

from undersigned import Request, Signer, profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parents[2]
PROXIES = {"nginx": nginx, "haproxy": haproxy, "envoy": envoy, "traefik": traefik}
SERVERS = {
    "uvicorn": ["uvicorn", "tests.servers.probe:asgi_app", "--log-level", "critical", "--port", "{port}"],
    "gunicorn": [
        *("gunicorn", "tests.servers.probe:wsgi_app", "--log-level", "critical", "--no-control-socket"),
        *("--bind", "127.0.0.1:{port}"),
    ],
}


@dataclass(frozen=True)
class Street:
    """All fronts of all proxies, their servers, and the logs of the servers."""

    directory: Path
    served: dict[tuple[str, str, str], Served]
    ports: dict[str, int]
    certificate: Path
    signer: Signer = field(default_factory=lambda: Signer(keys.KEY, profile=profiles.ADCP_3_2))

    def log(self, backend: str) -> Path:
        return self.directory / f"{backend}.log"


def exchange(served: Served, raw: bytes, certificate: Path) -> bytes:
    """Send a request to a front, and return what comes back."""
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=30))
        if served.front.tls:
            trusting = ssl.create_default_context(cafile=str(certificate))
            connection = stack.enter_context(trusting.wrap_socket(connection, server_hostname="localhost"))
        connection.sendall(raw)
        return read_response(connection)


@dataclass(frozen=True)
class Visit:
    """One front, as seen by a client and in the operator's log."""

    street: Street
    served: Served

    @property
    def public(self) -> str:
        return self.served.public

    def signed(self, method: str, target: str, headers=(), body: bytes = b"") -> list[tuple[str, str]]:
        return keys.foreign_fields(Request(method, self.public + target, headers, body), by=self.street.signer)

    def get(self, target: str) -> tuple[int, dict]:
        return self.send("GET", target, self.signed("GET", target))

    def send(self, method: str, target: str, fields, content: bytes = b"") -> tuple[int, dict]:
        """Send exactly these bytes; return the status and the JSON of the answer."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.served.host}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in fields]
        raw = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content
        head, _, said = exchange(self.served, raw, self.street.certificate).partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), json.loads(said)

    @contextlib.contextmanager
    def logged(self) -> Iterator[list[str]]:
        """Yield a list that receives the log of the front's server during the block, as one text."""
        log = self.street.log(self.served.backend)
        before = log.stat().st_size
        texts: list[str] = []
        yield texts
        with log.open("rb") as file:
            file.seek(before)
            texts.append(file.read().decode())


@pytest.fixture(scope="session")
def street(tmp_path_factory) -> Iterator[Street]:
    """Give every front a port, and start the servers behind them."""
    directory = tmp_path_factory.mktemp("street")
    street = Street(
        directory,
        {
            (name, front.name, backend): Served(front, backend)
            for name, proxy in PROXIES.items()
            for front in proxy.FRONTS
            for backend in BACKENDS
        },
        {backend: free_port() for backend in BACKENDS},
        certificate(directory / "localhost.pem", "localhost"),
    )
    with contextlib.ExitStack() as stack:
        for backend, port in street.ports.items():
            origins = " ".join(one.origin for one in street.served.values() if one.backend == backend)
            environment = {"PROBE_ORIGINS": origins, "PYTHONPATH": os.pathsep.join((str(ROOT), *sys.path))}
            arguments = [part.format(port=port) for part in SERVERS[backend]]
            stack.enter_context(workers(*arguments, port=port, log=street.log(backend), count=0, **environment))
        yield street


@pytest.fixture(scope="session")
def running(street) -> Iterator[Callable[[str], None]]:
    """Return a function that starts a proxy with all of its fronts, unless it runs."""
    under_way: set[str] = set()
    with contextlib.ExitStack() as stack:

        def start(name: str) -> None:
            if name not in under_way:
                served = [one for (proxy, _, _), one in street.served.items() if proxy == name]
                stack.enter_context(proxied(name, street.directory / name, served, street.ports, street.certificate))
                under_way.add(name)

        yield start


@pytest.fixture
def visit(street, running) -> Callable[[str, str, str], Visit]:
    """Return a function that makes a visit to a front."""

    def made(proxy: str, front: str, backend: str) -> Visit:
        running(proxy)
        return Visit(street, street.served[proxy, front, backend])

    return made


@contextlib.contextmanager
def proxied(
    name: str, directory: Path, served: Sequence[Served], ports: dict[str, int], certificate: Path
) -> Iterator[None]:
    """Run a proxy with fronts, from when each forwards what it is sent."""
    proxy, found = PROXIES[name], program(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    directory.mkdir()
    file = directory / "configuration"
    file.write_text(proxy.configuration(directory, served, ports, certificate))

    def forwards(one: Served) -> bool:
        # Traefik opens its ports before it knows its routes.
        asked = f"GET /api/ HTTP/1.1\r\nHost: {one.host}\r\nConnection: close\r\n\r\n".encode()
        with contextlib.suppress(OSError):
            return exchange(one, asked, certificate)[9:12] not in {b"", b"404", b"502", b"503"}
        return False

    with started(
        proxy.command(found, directory, file), lambda _: all(map(forwards, served)), log=directory / "log", cwd=ROOT
    ):
        yield
