"""Real proxies in front of real servers, all on loopback, each started once and stopped by its own process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import keys
from tests.certificate import certificate
from tests.proxies import envoy, haproxy, nginx, traefik
from tests.proxies.fronts import BACKENDS, Served, listening
from tests.servers.matrix import program
from tests.wire import read_response
from tests.workers import wait_until

from undersigned import Request, Signer, profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
PROXIES = {"nginx": nginx, "haproxy": haproxy, "envoy": envoy, "traefik": traefik}
SERVERS = {
    "uvicorn": ["-m", "uvicorn", "--factory", "tests.proxies.seller:asgi_app", "--log-level", "critical", "--fd"],
    "gunicorn": ["-m", "gunicorn", "tests.proxies.seller:wsgi_app()", "--log-level", "critical", "--bind"],
}
STOPPED = {0, -signal.SIGTERM, 128 + signal.SIGTERM}


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

    def of(self, proxy: str) -> list[Served]:
        return [one for (name, _, _), one in self.served.items() if name == proxy]

    def trusting(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


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
        with socket.create_connection(("127.0.0.1", self.served.port), timeout=10) as connection:
            if self.served.front.tls:
                with self.street.trusting().wrap_socket(connection, server_hostname="localhost") as wrapped:
                    wrapped.sendall(raw)
                    response = read_response(wrapped)
            else:
                connection.sendall(raw)
                response = read_response(connection)
        head, _, said = response.partition(b"\r\n\r\n")
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
    """Open sockets for all fronts, and start their servers."""
    directory = tmp_path_factory.mktemp("street")
    sockets = {backend: listening() for backend in BACKENDS}
    street = Street(
        directory,
        {
            (name, front.name, backend): Served.bound(front, backend, inherited=hasattr(proxy, "inheritance"))
            for name, proxy in PROXIES.items()
            for front in proxy.FRONTS
            for backend in BACKENDS
        },
        {backend: bound.getsockname()[1] for backend, bound in sockets.items()},
        certificate(directory / "localhost.pem", "localhost"),
    )
    with contextlib.ExitStack() as stack:
        for backend, bound in sockets.items():
            street.log(backend).touch()
            stack.enter_context(_server(street, backend, bound))
        yield street
        for served in street.served.values():
            served.socket.close()


@pytest.fixture(scope="session")
def running(street) -> Iterator[Callable[[str], None]]:
    """Return a function that starts a proxy with all of its fronts, unless it runs."""
    started: set[str] = set()
    with contextlib.ExitStack() as stack:

        def start(name: str) -> None:
            if name not in started:
                stack.enter_context(proxied(street, name))
                started.add(name)

        yield start


@pytest.fixture
def visit(street, running) -> Callable[[str, str, str], Visit]:
    """Return a function that makes a visit to a front."""

    def made(proxy: str, front: str, backend: str) -> Visit:
        running(proxy)
        return Visit(street, street.served[proxy, front, backend])

    return made


def proxied(street: Street, name: str) -> contextlib.AbstractContextManager[None]:
    """Run a proxy with all of its fronts."""
    proxy, served, found = PROXIES[name], street.of(name), program(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    directory = street.directory / name
    directory.mkdir()
    file = directory / "configuration"
    file.write_text(proxy.configuration(directory, served, street.ports, street.certificate))
    command = proxy.command(found, directory, file)
    if hasattr(proxy, "inheritance"):
        return _process(command, [one.socket for one in served], {**os.environ, **proxy.inheritance(served)})
    return _binding(command, served)


@contextlib.contextmanager
def _binding(command: list[str], served: list[Served]) -> Iterator[None]:
    """Run a proxy that inherits no sockets: it binds the reserved ports itself."""
    with _process(command, [], dict(os.environ)) as process:
        for one in served:
            wait_until(lambda one=one: _answers(one), process=process)
        yield


def _answers(served: Served) -> bool:
    """Return whether the application answers. Traefik opens its ports before it knows its routes."""
    asked = f"GET / HTTP/1.1\r\nHost: {served.host}\r\nConnection: close\r\n\r\n".encode()
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", served.port), 5) as connection:
        connection.sendall(asked)
        return read_response(connection).startswith(b"HTTP/1.1 401")
    return False


def _server(street: Street, backend: str, bound: socket.socket):
    file = street.directory / f"{backend}.json"
    origins = [one.origin for one in street.served.values() if one.backend == backend]
    file.write_text(json.dumps({"jwks": keys.JWKS, "origins": origins, "log": str(street.log(backend))}))
    number = bound.fileno()
    command = [sys.executable, *SERVERS[backend], f"fd://{number}" if backend == "gunicorn" else str(number)]
    path = os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]).rstrip(os.pathsep)
    return _process(command, [bound], {**os.environ, "UNDERSIGNED_SELLER": str(file), "PYTHONPATH": path})


@contextlib.contextmanager
def _process(
    command: list[str], sockets: list[socket.socket], environment: dict[str, str]
) -> Iterator[subprocess.Popen]:
    """Run a server that inherits its listening sockets. They are closed here, so that connections fail when it ends."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(  # noqa: S603 - a server found on this machine, with arguments of our own
            command,
            pass_fds=[one.fileno() for one in sockets],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
        for one in sockets:
            one.close()
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        complaints.seek(0)
        assert process.returncode in STOPPED, complaints.read().decode()
