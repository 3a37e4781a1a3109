"""Router differential: no unsigned target runs, by any framework's router, what the policy requires to be signed."""

from __future__ import annotations

import asyncio
import contextlib
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from tests.attack import targets
from tests.attack.connection import Requester
from tests.attack.frameworks import (
    FRAMEWORKS,
    HARMLESS,
    INNER,
    LAST,
    MOUNTED,
    OPERATION,
    PATTERN,
    SLASHED,
    STATIC,
    Framework,
    Ran,
    aiohttp,
    sanic,
    tornado,
)
from tests.drive import DIALECTS, MOUNTS, Message, call_asgi, call_wsgi, environ_of, scope_of, takes
from tests.integrations.own_servers import aiohttp_server, sanic_server, tornado_server
from tests.keys import HOST, ORIGIN, signer, verifier

from undersigned import Policy, Request, asgi, wsgi
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

    def __init__(self, framework: Framework) -> None:
        self.framework = framework
        self.ran = Ran()
        self.called = 0
        self.app = framework.make(self.ran)
        middleware = asgi if framework.kind == "asgi" else wsgi
        inner = self._asgi(self.app) if framework.kind == "asgi" else self._wsgi(self.app)
        policy = Policy(required_for=[OPERATION])
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


async def control(seller: Seller | OwnServer, dialect: str, routes) -> None:
    """Check that every route runs the operation when it is signed, that none does unsigned, and what else goes on."""
    method = "GET" if dialect == "websocket" else "POST"
    for route in routes:
        assert await seller.ask(signed(route, method), dialect, "") == [OPERATION], route
        assert await seller.ask(Message(route, method), dialect, "") == []
    before = seller.called
    await seller.ask(Message(HARMLESS), dialect, "")
    assert seller.called == before + 1


async def attack(search, seller: Seller | OwnServer, routes, servers: Sequence[tuple[str, str]]) -> None:
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


class OwnServer(Requester):
    """An application on its framework's own server."""

    def __init__(self, port: int, ran: Ran) -> None:
        super().__init__(port)
        self._ran = ran
        self.called = 0

    async def started(self) -> None:
        """Do nothing: the server listens."""

    async def ask(self, message: Message, _dialect: str, _mount: str) -> list[str]:
        """Return what `message` runs."""
        status, _ = self.send(message)
        self.called += status not in {400, 401}
        return self._ran.told()


def on_aiohttp(ran: Ran, options: dict):
    return aiohttp_server(aiohttp(ran, SignatureMiddleware(**options)))


def on_tornado(ran: Ran, options: dict):
    return tornado_server(TornadoMiddleware(tornado(ran), **options))


def on_sanic(ran: Ran, options: dict):
    app = sanic(ran)
    Undersigned(app, **options)
    return sanic_server(app)


OWN_SERVERS = {"aiohttp": on_aiohttp, "tornado": on_tornado, "sanic": on_sanic}


@pytest.mark.parametrize("serve", OWN_SERVERS.values(), ids=OWN_SERVERS)
def test_no_unsigned_target_runs_what_must_be_signed_on_a_server_of_its_own(search, serve):
    ran, options = Ran(), {"verifier": verifier(), "origins": [ORIGIN], "policy": Policy(required_for=[OPERATION])}
    routes = (STATIC, SLASHED, INNER, LAST, MOUNTED, PATTERN)
    with serve(ran, options) as port, contextlib.closing(OwnServer(port, ran)) as seller:
        asyncio.run(attack(search, seller, routes, [("own server", "")]))
