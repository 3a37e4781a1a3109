"""Applications are generated, and so are unsigned requests: none runs what must be signed, and nothing else changes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs

import pytest
from a2wsgi import ASGIMiddleware
from tests.attack import targets
from tests.attack.applications import FRAMEWORKS, METHODS, ROUTERS, Framework, Site
from tests.attack.asking import UPGRADE, Socket, over_asgi, over_wsgi
from tests.attack.bridges import OVERRIDES, PREFIX, TO_ASGI
from tests.drive import DIALECTS, MOUNTS, Message, takes
from tests.keys import ORIGIN

from undersigned import asgi, wsgi
from undersigned.policy import policy_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from tests.attack.asking import Answer

    from undersigned.policy import TableLine

MESSAGES = 40
"""How many messages an application gets."""
APPLICATIONS = 10
"""How many applications are tried at least: of a few, none may have an endpoint that a message reaches."""
PREFLIGHT = (("Origin", ORIGIN), ("Access-Control-Request-Method", "POST"))
FORM = ("Content-Type", "application/x-www-form-urlencoded")


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def message_of(random: Random, site: Site) -> Message:
    """Return an unsigned request that some layer or router may take for one that runs an endpoint."""
    endpoint, (path, is_socket) = random.choice(list(site.paths.items()))
    target = path + random.choice(("", "", "", "/", "/x"))
    if random.random() < 0.2:
        target = targets.mutate(random, path)
    if site.layer == "strip" and random.random() < 0.5:
        target = PREFIX + target
    method = random.choice((*endpoint.methods, *METHODS, "HEAD", "PATCH", "post", "ANY"))
    fields: list[tuple[str, str]] = []
    if random.random() < 0.3:
        method = "OPTIONS"
        fields += PREFLIGHT
    if random.random() < 0.3:
        fields.append((random.choice(OVERRIDES), random.choice(endpoint.methods)))
    if random.random() < 0.2:
        target += f"?_method={random.choice(endpoint.methods)}"
    if random.random() < 0.1:
        fields.append(("X-Original-URL", path))
    if is_socket or random.random() < 0.1:
        method = "GET" if random.random() < 0.8 else method
        fields += UPGRADE
    body = b""
    if method not in {"GET", "HEAD"} and random.random() < 0.2:
        body = b"_method=" + random.choice(endpoint.methods).encode()
        fields.append(FORM)
    return Message(target, method, fields, body)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of the bridges to WSGI, which runs in a thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass
class Pair:
    """An application with the middleware and one without, and how each is asked.

    Attributes:
        site: what the one with the middleware is made of, and what it ran.
        without: the same for the one without.
        guarded: asks the one with the middleware.
        plain: asks the one without.
        app: the application with the middleware.
        may_refuse: whether the middleware need not find out what would run, so that it may refuse more.
    """

    site: Site
    without: Site
    guarded: Callable[[Message], Answer]
    plain: Callable[[Message], Answer]
    app: Any
    may_refuse: bool = False


class Pairs:
    """Makes pairs of applications of a framework; each is asked some messages.

    Args:
        framework: the framework.
        by_route: whether the policy asks for the route.
        bare: whether there is nothing between a server and the application.
    """

    def __init__(self, framework: Framework, *, by_route: bool, bare: bool = False) -> None:
        self._framework = framework
        self._bare = bare
        self._by_route = by_route
        self._left = 0
        self._held = contextlib.ExitStack()
        self._event_loop = self._held.enter_context(contextlib.closing(asyncio.new_event_loop()))
        self._servers = self._held.enter_context(contextlib.ExitStack())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._held.close()

    def pair(self, random: Random) -> Pair:
        """Return another pair."""
        self._servers.close()
        return self._made(random)

    def next(self, random: Random) -> tuple[Pair, Message]:
        """Return the pair of the moment, with a message."""
        if self._left == 0:
            self._pair, self._left = self.pair(random), MESSAGES
        self._left -= 1
        return self._pair, message_of(random, self._pair.site)

    def _made(self, random: Random) -> Pair:
        # Django has its settings of the application that was made last.
        without = Site.random(random, self._framework, by_route=self._by_route)
        if self._bare:
            without.layer = "none"
        site = without if self._framework.serve is None else without.again()
        if self._framework.serve is not None:
            plain = Socket(self._servers.enter_context(self._framework.serve(without.made(guarded=False))), without)
            around = site.made(guarded=True)
            guarded = Socket(self._servers.enter_context(self._framework.serve(around)), site)
            self._servers.callback(guarded.close)
            self._servers.callback(plain.close)
            return Pair(site, without, guarded.ask, plain.ask, around)
        is_asgi, bridge = self._framework.interface == "asgi", random.choice(("none", "none", "outside", "inside"))
        bridge = "none" if self._bare else bridge
        cross: Any = partial(ASGIMiddleware, loop=_loop()) if is_asgi else random.choice([*TO_ASGI.values()])
        alone = without.made(guarded=False)
        if bridge == "inside":
            inner = cross(site.made(guarded=True, install=False))
            around = (wsgi if is_asgi else asgi).SignatureMiddleware(inner, **site.options())
            alone = cross(alone)
        else:
            around = site.made(guarded=True)
            if bridge == "outside":
                around, alone = cross(around), cross(alone)
        if is_asgi is (bridge == "none"):
            root = "" if self._bare else random.choice(("", "/api"))
            send: Any = partial(over_asgi, root_path=root, loop=self._event_loop)
        else:
            dialect = random.choice([*DIALECTS])
            send = partial(over_wsgi, dialect=dialect, mount="" if self._bare else random.choice(MOUNTS[dialect]))
        may_refuse = bridge == "inside" or site.layer == "fresh"
        return Pair(site, without, partial(send, around), partial(send, alone), around, may_refuse)


def is_plain_preflight(message: Message) -> bool:
    """Return whether a message is a preflight that nothing turns into another method: a policy by path lets it be."""
    others = [value for name, value in message.fields if name.lower() in OVERRIDES]
    others += parse_qs(message.query).get("_method", ["OPTIONS"])
    return message.method == "OPTIONS" and not message.body and others == ["OPTIONS"]


def is_refused(answer: Answer) -> bool:
    """Return whether an answer is a rejection, or that of a server whose application failed: a2wsgi gives none."""
    return answer[0] in {401, 403, 500, 0}


@pytest.mark.parametrize(
    ("framework", "by_route"),
    [
        pytest.param(framework, by_route, id=f"{framework.name}-by {'route' if by_route else 'path'}")
        for by_route, frameworks in ((True, FRAMEWORKS), (False, ROUTERS))
        for framework in frameworks
    ],
)
def test_no_unsigned_request_runs_what_must_be_signed_and_every_other_one_is_answered_as_without(
    search, framework, by_route
):
    with Pairs(framework, by_route=by_route) as pairs:
        for pair, message in search.of((), pairs.next, least=APPLICATIONS * MESSAGES):
            if not takes(message):
                continue
            site = pair.site
            plain, ran_without = pair.plain(message), pair.without.told()
            guarded, ran = pair.guarded(message), site.told()
            search.reach(bool(ran_without))
            shown = f"{message} {site.endpoints} {site.layer}: {guarded} {plain}"
            for endpoint in ran if site.by_route or not is_plain_preflight(message) else ():
                if not site.must_be_signed(endpoint):
                    continue
                search.find(f"ran: {endpoint.kind}, {endpoint.place}, {endpoint.listing}, {site.layer}", shown)
            may_refuse = pair.may_refuse or any(map(site.must_be_signed, ran_without)) or site.may_refuse(message)
            if guarded != plain and not (may_refuse and is_refused(guarded)):
                kinds = ", ".join(f"{one.kind} {one.place} {one.listing}" for one in ran_without)
                search.find(f"{guarded[0]} instead of {plain[0]}: {kinds}, {site.layer}", shown)
    search.finish(reached=search.tried // 20)


def bare(path: str) -> str:
    """Return the path of a line of a table without what the framework adds: a host, and signs of a pattern."""
    return "/" + path.replace("^", "").replace("$", "").partition("/")[2]


def covers(line: TableLine, path: str, method: str) -> bool:
    """Return whether a line of a table is about a request."""
    below = ".*" if line.method == "*" else ""
    pattern = re.escape(bare(line.path)).replace(r"/\*", "(/.*)?") + below
    # On a server of its own, a handshake is a GET.
    methods = {"*", method, "GET"} if method == "WEBSOCKET" else {"*", method}
    return line.method in methods and re.fullmatch(pattern, path) is not None


def is_told(demands: set[str], ran: object, plain: Answer, guarded: Answer, ran_unsigned: object) -> bool:
    """Return whether the lines about a request say what became of it, with the middleware and without."""
    is_rejected = is_refused(guarded) and not ran_unsigned and bool(demands - {"open"})
    return is_rejected or (guarded == plain and (not ran or "open" in demands))


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=[framework.name for framework in FRAMEWORKS])
def test_table_says_what_an_unsigned_request_gets(search, framework):
    with Pairs(framework, by_route=True, bare=True) as pairs:
        for pair in search.of((), pairs.pair):
            site, lines = pair.site, policy_table(pair.app)
            asked = {(bare(line.path), line.method) for line in lines if line.method != "*" and "*" not in line.path}
            asked |= {(path, "WEBSOCKET") for path, is_socket in site.paths.values() if is_socket}
            asked |= {(path, method) for path, is_socket in site.paths.values() if not is_socket for method in METHODS}
            for path, method in sorted(asked):
                message = Message(path, "GET", UPGRADE) if method == "WEBSOCKET" else Message(path, method)
                plain, ran = pair.plain(message), pair.without.told()
                guarded, ran_unsigned = pair.guarded(message), site.told()
                search.reach(bool(ran))
                demands = {line.demand for line in lines if covers(line, path, method)}
                if not is_told(demands, ran, plain, guarded, ran_unsigned):
                    kinds = [(one.kind, one.place, one.listing) for one in ran]
                    search.find(f"{demands}, {kinds}, {plain[0]}, {guarded[0]}", f"{message} {lines} {site.endpoints}")
    search.finish(reached=search.tried)
