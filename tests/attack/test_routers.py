"""Router differential: no unsigned target runs, by any framework's router, what the policy requires to be signed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from aiohttp import web
from sanic import HTTPResponse
from sanic.exceptions import MethodNotAllowed, NotFound
from tests.attack import targets
from tests.attack.frameworks import (
    FRAMEWORKS,
    HARMLESS,
    INNER,
    LAST,
    MOUNTED,
    OPERATION,
    OPERATIONS,
    PATTERN,
    SLASHED,
    STATIC,
    Framework,
    Ran,
    aiohttp,
    resolver,
    sanic,
    tornado,
)
from tests.drive import DIALECTS, MOUNTS, Message, call_asgi, call_wsgi, environ_of, scope_of, takes
from tests.keys import HOST, ORIGIN, signer, verifier
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerConnectionDelegate
from tornado.netutil import bind_sockets

from undersigned import PathResolver, Policy, Request, asgi, wsgi
from undersigned_aiohttp import SignatureMiddleware
from undersigned_sanic import Undersigned
from undersigned_tornado import Undersigned as TornadoMiddleware

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [
    # What Pyramid imports.
    pytest.mark.filterwarnings("ignore:'cgi' is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:pkg_resources is deprecated:UserWarning"),
    pytest.mark.filterwarnings("ignore:Deprecated call to `pkg_resources:DeprecationWarning"),
]


class Seller:
    """A framework's application, alone and inside the middleware, with the operations it ran."""

    def __init__(self, framework: Framework, *, by_route: bool = False) -> None:
        self.framework = framework
        self.ran = Ran()
        self.called = 0
        self.app = framework.make(self.ran)
        middleware = asgi if framework.kind == "asgi" else wsgi
        inner = self._asgi(self.app) if framework.kind == "asgi" else self._wsgi(self.app)
        finds = resolver(framework.name) if by_route else PathResolver()
        policy = Policy(required_for=[OPERATION], resolver=finds)
        self.guarded = middleware.SignatureMiddleware(inner, verifier=verifier(), origins=[ORIGIN], policy=policy)

    def _asgi(self, app):
        async def call(scope, receive, send) -> None:
            self.called += 1
            # What the framework makes of a strange target is its own affair, as long as nothing is run.
            with contextlib.suppress(Exception):
                await app(scope, receive, send)

        return call

    def _wsgi(self, app):
        def call(environ, start_response):
            self.called += 1
            try:
                return list(app(environ, start_response))
            except Exception:  # noqa: BLE001 - as above
                start_response("500 Internal Server Error", [])
                return []

        return call

    async def started(self) -> None:
        """Let the application start, as a server with lifespan does."""
        if self.framework.kind != "asgi":
            return
        done = asyncio.Event()
        messages = iter([{"type": "lifespan.startup"}])

        async def receive():
            message = next(messages, None)
            return message if message is not None else await asyncio.Event().wait()

        async def send(_message):
            done.set()

        lifespan = asyncio.create_task(
            self.app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)
        )
        waiting = asyncio.create_task(done.wait())
        await asyncio.wait({lifespan, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def ask(self, message: Message, dialect: str, mount: str) -> list[str]:
        """Return what `message` runs inside the middleware."""
        if self.framework.kind == "asgi":
            kind = "websocket" if dialect == "websocket" else "http"
            await call_asgi(self.guarded, scope_of(message, kind=kind, root_path=mount), message.body)
        else:
            environ = environ_of(message, dialect, script_name=mount)
            if environ is not None:
                call_wsgi(self.guarded, environ)
        return self.ran.told()


def signed(target: str, method: str = "POST") -> Message:
    added = signer().sign(Request(method, ORIGIN + target, [("Host", HOST)]))
    return Message(target, method, list(added))


async def control(seller: Seller, dialect: str, routes) -> None:
    """Check that every route runs the operation when it is signed, that none does unsigned, and what else goes on."""
    method = "GET" if dialect == "websocket" else "POST"
    for route in routes:
        assert await seller.ask(signed(route, method), dialect, "") == [OPERATION], route
        assert await seller.ask(Message(route, method), dialect, "") == []
    before = seller.called
    await seller.ask(Message(HARMLESS), dialect, "")
    assert seller.called == before + 1


async def attack(search, seller: Seller, routes, servers: Sequence[tuple[str, str]]) -> None:
    """Send unsigned targets through `servers`, which are dialects with mounts; the first of them gets what is first."""
    await seller.started()
    dialect = servers[0][0]
    await control(seller, dialect, routes)
    method = "GET" if dialect == "websocket" else "POST"

    def mutated(random) -> tuple[Message, str, str]:
        target = targets.mutate(random, random.choice(routes))
        return Message(target, method, targets.fields(random)), *random.choice(servers)

    first = ((Message(target, method), *servers[0]) for route in routes for target in targets.first(route))
    for message, server, mount in search.of(first, mutated):
        if not takes(message):
            continue
        before = seller.called
        if await seller.ask(message, server, mount):
            search.find(f"{server} {mount} {_kind(message.target)}".replace("  ", " "), message.target)
        if seller.called > before:
            search.reach()
    search.finish(reached=search.tried // 50)


def _kind(target: str) -> str:
    """Return what is strange in a target, so that findings of one kind are shown once."""
    decoded = unquote(target.partition("?")[0], errors="replace")
    return " ".join(sorted({unicodedata.category(character) for character in decoded if not character.isalnum()}))


def _named(framework: Framework) -> str:
    return framework.name


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=_named)
def test_no_unsigned_target_runs_what_must_be_signed(search, framework):
    servers = [("asgi", ""), ("asgi", "/api")]
    if framework.kind == "wsgi":
        servers = [(dialect, mount) for dialect in DIALECTS for mount in MOUNTS[dialect]]
    asyncio.run(attack(search, Seller(framework), framework.routes, servers))


@pytest.mark.parametrize("framework", [framework for framework in FRAMEWORKS if framework.websocket], ids=_named)
def test_no_unsigned_handshake_runs_what_must_be_signed(search, framework):
    servers = [("websocket", ""), ("websocket", "/api")]
    asyncio.run(attack(search, Seller(framework), [framework.websocket], servers))


BY_ROUTE = [framework for framework in FRAMEWORKS if framework.name in OPERATIONS]


@pytest.mark.parametrize("framework", BY_ROUTE, ids=_named)
def test_no_unsigned_target_runs_what_its_router_knows_must_be_signed(search, framework):
    servers = [("asgi", ""), ("asgi", "/api")]
    if framework.kind == "wsgi":
        servers = [(dialect, mount) for dialect in DIALECTS for mount in MOUNTS[dialect]]
    asyncio.run(attack(search, Seller(framework, by_route=True), framework.routes, servers))


@pytest.mark.parametrize("framework", [framework for framework in BY_ROUTE if framework.websocket], ids=_named)
def test_no_unsigned_handshake_runs_what_its_router_knows_must_be_signed(search, framework):
    servers = [("websocket", ""), ("websocket", "/api")]
    asyncio.run(attack(search, Seller(framework, by_route=True), [framework.websocket], servers))


class OwnServer:
    """An application on its framework's own server, which this module talks to over a socket."""

    def __init__(self) -> None:
        self.ran = Ran()
        self.called = 0
        self.port = 0

    async def ask(self, message: Message, _dialect: str, _mount: str) -> list[str]:
        """Return what `message` runs."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = [f"{message.method} {message.target} HTTP/1.1", *(f"{name}: {value}" for name, value in message.lines)]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()
        return self.ran.told()


class AiohttpSeller(OwnServer):
    """aiohttp's application on its own server, which routes a request before any middleware runs."""

    def __init__(self) -> None:
        super().__init__()
        policy = Policy(required_for=[OPERATION])
        verifies = SignatureMiddleware(verifier=verifier(), origins=[ORIGIN], policy=policy)
        self._app = aiohttp(self.ran, verifies, self._count())
        self._runner = web.AppRunner(self._app, access_log=None)

    def _count(self):
        @web.middleware
        async def count(request, handler):
            self.called += 1
            return await handler(request)

        return count

    async def started(self) -> None:
        """Let the server listen."""
        await self._runner.setup()
        self._site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await self._site.start()
        self.port = self._runner.addresses[0][1]

    async def stopped(self) -> None:
        """Let the server end."""
        await self._runner.cleanup()


class TornadoSeller(OwnServer, HTTPServerConnectionDelegate):
    """Tornado's application on its own server, which routes by the raw target."""

    def __init__(self) -> None:
        super().__init__()
        self._app = tornado(self.ran)
        policy = Policy(required_for=[OPERATION])
        self._server = HTTPServer(TornadoMiddleware(self, verifier=verifier(), origins=[ORIGIN], policy=policy))

    def start_request(self, server_conn, request_conn):
        """Count a request that reaches the application."""
        self.called += 1
        return self._app.start_request(server_conn, request_conn)

    async def started(self) -> None:
        """Let the server listen."""
        sockets = bind_sockets(0, "127.0.0.1")
        self._server.add_sockets(sockets)
        self.port = sockets[0].getsockname()[1]

    async def stopped(self) -> None:
        """Let the server end."""
        self._server.stop()
        await self._server.close_all_connections()


class SanicSeller(OwnServer):
    """Sanic's application on its own server, which routes by the raw path."""

    def __init__(self) -> None:
        super().__init__()
        self._app = sanic(self.ran)
        self._app.config.TOUCHUP = False
        Undersigned(self._app, verifier=verifier(), origins=[ORIGIN], policy=Policy(required_for=[OPERATION]))
        self._app.on_request(self._count)
        self._app.exception(NotFound, MethodNotAllowed)(self._count)

    async def _count(self, request, *error):
        # Sanic asks its middlewares about what it did not route as well.
        if error or request.route is not None:
            self.called += 1
        return HTTPResponse(status=404) if error else None

    async def started(self) -> None:
        """Let the server listen."""
        bound = socket.create_server(("127.0.0.1", 0))
        self.port = bound.getsockname()[1]
        self._server = await self._app.create_server(sock=bound, return_asyncio_server=True, access_log=False)
        await self._server.startup()
        await self._server.start_serving()

    async def stopped(self) -> None:
        """Let the server end."""
        self._server.close()
        await self._server.wait_closed()


OWN_SERVERS = {"aiohttp": AiohttpSeller, "tornado": TornadoSeller, "sanic": SanicSeller}


@pytest.mark.parametrize("make", OWN_SERVERS.values(), ids=OWN_SERVERS)
def test_no_unsigned_target_runs_what_must_be_signed_on_a_server_of_its_own(search, make):
    async def run() -> None:
        seller = make()
        try:
            await attack(search, seller, (STATIC, SLASHED, INNER, LAST, MOUNTED, PATTERN), [("own server", "")])
        finally:
            await seller.stopped()

    asyncio.run(run())
