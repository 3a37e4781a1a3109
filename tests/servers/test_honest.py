"""What reaches an application without the middleware reaches it with the middleware: a search over real servers.

A signer of its own makes the messages. They go to each server directly, through nginx and through HAProxy, which have
their default limits. Each message goes to the application alone and to the middleware.
"""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.honest.endpoints import PROFILES, rule_of
from tests.honest.sender import HOST, Sent, request
from tests.integrations.unsigned import Unsigned, ask
from tests.proxies.conftest import PROXIES, proxied
from tests.proxies.fronts import BACKENDS, Served
from tests.servers.conftest import running
from tests.servers.matrix import SERVERS
from tests.wire import exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = (
    "uvicorn-h11",
    "uvicorn-httptools",
    "gunicorn-sync",
    "gunicorn-gthread",
    "gunicorn-asgi",
    "hypercorn",
    "granian",
)
ROUNDS = 5
"""The messages of each profile, on each way."""
SIGNATURE_FIELDS = {"signature", "signature-input"}
BROKEN = (b"-%x\r\n%b\r\n0\r\n\r\n", b"%x\r\n%bXX\r\n0\r\n\r\n", b"%x\r\n%b\r\nzz\r\n0\r\n\r\n")
"""Chunks of content as no server may read them (RFC 9112 section 7.1)."""
WAYS = ("nginx", "haproxy")


@contextlib.contextmanager
def proxy(name: str, server: int) -> Iterator[int]:
    """Start a proxy with its documented configuration in front of a server; yields its port."""
    served, ports = Served(PROXIES[name].FRONTS[0], BACKENDS[0]), dict.fromkeys(BACKENDS, server)
    with tempfile.TemporaryDirectory() as directory, proxied(name, Path(directory, name), [served], ports, Path()):
        yield served.port


def asked(given: Sent, endpoint: str, *, chunked: bool = False) -> Unsigned:
    """Return a message for an endpoint as it is sent."""
    fields = [field for field in given.fields if field[0] not in {"host", "content-length"}]
    return Unsigned(given.method, given.target, [*fields, ("x-endpoint", endpoint)], given.body or None, chunked, HOST)


def _covers_length(given: Sent) -> bool:
    return any('"content-length"' in value for name, value in given.fields if name == "signature-input")


def signed(name: str, *, has_content: bool) -> Sent:
    """Return a signed message, with content or without."""
    random = Random(name)  # noqa: S311 - it has to be repeatable
    while True:
        given = request(random, rule_of(PROFILES[name]), longest_path=60)
        if bool(given.body) is has_content and not _covers_length(given):
            return given


def broken(name: str) -> Sent:
    """Return a message without content that has lost its Signature."""
    given = signed(name, has_content=False)
    return replace(given, fields=tuple(field for field in given.fields if field[0] != "signature"))


def search(way: str, port: int) -> tuple[int, int, list[str]]:
    """Return how many messages were sent, how many reached the application alone, and those that it got only alone."""
    tried, reached, lost = 0, 0, []
    for name, profile in PROFILES.items():
        random = Random(f"{way} {name}")  # noqa: S311 - it has to be repeatable
        for _ in range(ROUNDS):
            whole = request(random, rule_of(profile), longest_path=7900)
            fields = tuple((field, value) for field, value in whole.fields if field not in SIGNATURE_FIELDS)
            unsigned = replace(whole, fields=fields)
            chunked = bool(whole.body) and not _covers_length(whole) and random.random() < 0.3
            for given, endpoint in ((whole, name), (unsigned, random.choice(("optional", "policy")))):
                tried += 1
                alone = ask(port, asked(given, "alone", chunked=chunked))
                if isinstance(alone, str) or alone.status != 200:
                    continue
                reached += 1
                behind = ask(port, asked(given, endpoint, chunked=chunked))
                if behind != alone:
                    lost.append(f"{endpoint}: {behind} for {given}{' chunked' if chunked else ''}")
    return tried, reached, lost


@pytest.mark.parametrize("name", NAMES)
def test_what_reaches_an_application_alone_reaches_it_behind_the_middleware(name):
    [server] = [one for one in SERVERS if one.name == name]
    command = tuple(part.replace("tests.servers.probe", "tests.servers.honest_app") for part in server.command)
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(running(replace(server, command=command))).port
        ways = {"directly": port, **{by: stack.enter_context(proxy(by, port)) for by in WAYS}}
        for way, entrance in ways.items():
            tried, reached, lost = search(f"{name} {way}", entrance)
            assert lost == [], f"{way}: {len(lost)} of {reached}"
            assert reached > tried / 3
            for endpoint in PROFILES:
                # The endpoints verify.
                assert ask(entrance, asked(broken(endpoint), endpoint)).status in {400, 401, 403}
            for chunks in BROKEN:
                sent = asked(signed("adcp-3.2", has_content=True), "adcp-3.2", chunked=True)
                raw = sent.head(("Connection", "close")) + chunks % (len(sent.body), sent.body)
                with contextlib.suppress(ConnectionError):
                    assert exchange(entrance, raw)[9:12] in {b"", b"400"}
