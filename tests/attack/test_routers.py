"""Router differential: no unsigned target runs, by any framework's router, what the policy requires to be signed."""

from __future__ import annotations

import asyncio
import contextlib
import unicodedata
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from tests.attack import targets
from tests.attack.applications import OPERATION, OTHER, ROUTERS, Site
from tests.attack.asking import UPGRADE, Socket, over_asgi, over_wsgi
from tests.drive import DIALECTS, MOUNTS, Message, takes
from tests.keys import HOST, ORIGIN, signer
from tests.serving import uvicorn_server, waitress_server

from undersigned import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.attack.applications import Framework
    from tests.attack.asking import Answer


@contextlib.contextmanager
def asking(framework: Framework, site: Site) -> Iterator[dict[str, Callable[[Message], Answer]]]:
    """Yield what asks the application with the middleware: as each server shows requests, and on a real server."""
    app, asks = site.made(guarded=True), {}
    real = {"asgi": uvicorn_server, "wsgi": waitress_server}.get(framework.interface, framework.serve)
    with contextlib.ExitStack() as stack:
        if framework.interface == "wsgi":
            for dialect in DIALECTS:
                asks |= {
                    f"{dialect} {at}": partial(over_wsgi, app, dialect=dialect, mount=at) for at in MOUNTS[dialect]
                }
        elif framework.interface == "asgi":
            loop = stack.enter_context(contextlib.closing(asyncio.new_event_loop()))
            asks |= {f"asgi {at}": partial(over_asgi, app, root_path=at, loop=loop) for at in ("", "/api")}
        port = stack.enter_context(real(app))
        yield {**asks, "real server": stack.enter_context(contextlib.closing(Socket(port, site))).ask}


def signed(message: Message) -> Message:
    lines = [("Host", HOST), *message.fields]
    added = signer().sign(Request(message.method, ORIGIN + message.target, lines))
    return Message(message.target, message.method, [*message.fields, *added])


def kind_of(target: str) -> str:
    """Return what is strange in a target, so that findings of one kind are shown once."""
    decoded = unquote(target.partition("?")[0], errors="replace")
    return " ".join(sorted({unicodedata.category(character) for character in decoded if not character.isalnum()}))


@pytest.mark.parametrize("framework", ROUTERS, ids=[framework.name for framework in ROUTERS])
def test_no_unsigned_target_runs_what_must_be_signed(search, framework):
    site = Site.routed(framework)
    with asking(framework, site) as servers:
        plain, *_ = servers.values()
        routes = [
            Message(path, "GET", UPGRADE) if is_socket else Message(path) for path, is_socket in site.paths.values()
        ]
        for endpoint, route in zip(site.paths, routes, strict=True):
            plain(route)
            assert [one.operation for one in site.told()] == [OTHER] * (endpoint.operation == OTHER), route
            plain(signed(route))
            assert [one.operation for one in site.told()] == [endpoint.operation], route

        def mutated(random) -> tuple[str, Message]:
            route = random.choice(routes[:-1])
            target, fields = targets.mutate(random, route.target), targets.fields(random)
            return random.choice([*servers]), Message(target, route.method, [*route.fields, *fields])

        named = next(iter(servers))
        first = (
            (named, Message(target, route.method, route.fields))
            for route in routes[:-1]
            for target in targets.first(route.target)
        )
        for server, message in search.of(first, mutated):
            if not takes(message):
                continue
            status, _ = servers[server](message)
            if OPERATION in [one.operation for one in site.told()]:
                search.find(f"{server} {kind_of(message.target)}", message.target)
            search.reach(status not in {400, 401, 403, 500, 0})
    search.finish(reached=search.tried // 50)
