"""`undersigned demo`: two clients send signed requests to two servers, over a network that changes some of them."""

# No `from __future__ import annotations`: FastAPI reads an endpoint's annotations when it is declared.
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import NamedTuple, TypeAlias, cast

import click
import httpx
import requests
import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from flask import Flask, request
from werkzeug.serving import make_server

from undersigned import KeyPair, MemoryReplayStore, Signer, Verifier
from undersigned.message import read_challenge
from undersigned_fastapi import Signature, SignatureMiddleware
from undersigned_flask import Undersigned, signature_required, verified_signature
from undersigned_httpx import SignatureTransport
from undersigned_requests import SignatureAuth

_LENGTH = re.compile(rb"\r\ncontent-length: ([0-9]+)\r\n", re.IGNORECASE)
_Send: TypeAlias = Callable[[str, str, Signer | None], requests.Response | httpx.Response]
_Server: TypeAlias = tuple[tuple[str, int], Callable[[], None], Callable[[], None]]
"""Where a server listens, and the functions that run and stop it."""


class Attempt(NamedTuple):
    """A row of the table: its name, what the server answers, what is signed by whom, and what happens in transit."""

    name: str
    why: str
    target: str = "/orders?b=2&a=1"
    signer: str = "caller"
    change: tuple[bytes, bytes] = (b"", b"")
    times: int = 1


ATTEMPTS = (
    Attempt("as signed", "verified /orders?b=2&a=1"),
    Attempt("as signed, /a%2Fb", "verified /a%2Fb", target="/a%2Fb"),
    Attempt("another path", "signature_invalid", change=(b" /orders", b" /refunds")),
    Attempt("another query", "signature_invalid", change=(b"&a=1 ", b"&a=2 ")),
    Attempt("another body", "signature_digest_mismatch", change=(b"1000}", b"9000}")),
    Attempt("another method", "signature_invalid", change=(b"POST /", b"PUT /")),
    Attempt("another Host", "target_uri_malformed", change=(b"Host: 127.0.0.1", b"Host: other.example")),
    Attempt("a replay", "signature_replayed", times=2),
    Attempt("an expired one", "signature_window_invalid", signer="late"),
    Attempt("an unknown key", "signature_key_unknown", signer="stranger"),
    Attempt("no signature", "signature_required", signer=""),
)
"""The rows of the table: requests as signed, then requests with one change each."""


class _Way(StreamRequestHandler):
    """The way of a request to a server."""

    def handle(self) -> None:
        network = cast("_Network", self.server)
        head = b"".join(iter(self.rfile.readline, b"\r\n")) + b"\r\n"
        length = _LENGTH.search(head)
        sent = head + self.rfile.read(int(length[1]) if length else 0)
        arrives = sent.replace(b"keep-alive", b"close").replace(*network.attempt.change)
        answer = b""
        for _ in range(network.attempt.times):
            with socket.create_connection(network.behind) as connection:
                connection.sendall(arrives)
                answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        self.wfile.write(answer)


class _Network(ThreadingTCPServer):
    """A network before a server: it makes the change of an attempt, and the answer is that to the last repetition."""

    attempt = ATTEMPTS[0]
    behind: tuple[str, int]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Way)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"


@click.command()
def demo() -> None:
    """Show that signed requests are accepted and changed requests rejected.

    A FastAPI application under uvicorn and a Flask application under Werkzeug listen on loopback. The clients requests
    and httpx send signed requests to both, unchanged and with one change each. The exit code is 0 if every answer is
    as expected.
    """
    passed = True
    for line, is_right in _lines():
        click.echo(click.style(line, fg=None if is_right else "red"))
        passed = passed and is_right
    click.get_current_context().exit(int(not passed))


def _lines() -> Iterator[tuple[str, bool]]:
    """Yield the lines of the tables, and whether each is as it must be."""
    pair = KeyPair.generate(keyid="caller")
    signers = {
        "caller": Signer(pair.signing_key()),
        "late": Signer(pair.signing_key(), clock=lambda: time.time() - 3600),
        "stranger": Signer(KeyPair.generate(keyid="stranger").signing_key()),
    }
    verifier = Verifier(keys=pair.key_set(), replay=MemoryReplayStore())
    right = total = 0
    with ExitStack() as stack:
        # The tables have what the applications log.
        logging.disable(logging.CRITICAL)
        stack.callback(logging.disable, logging.NOTSET)
        networks = [stack.enter_context(_Network()) for _ in range(2)]
        for network, make in zip(networks, (_fastapi_server, _flask_server), strict=True):
            network.behind, *server = make(verifier, network.origin)
            for serve, stop in (server, (network.serve_forever, network.shutdown)):
                thread = threading.Thread(target=serve)
                thread.start()
                stack.callback(thread.join)
                stack.callback(stop)
        yield f"FastAPI under uvicorn: {networks[0].origin}", True
        yield f"Flask under Werkzeug:  {networks[1].origin}", True
        clients: dict[str, _Send] = {"requests": _by_requests, "httpx": _by_httpx}
        for client, send in clients.items():
            yield f"\n{f'sent by {client}':20}FastAPI  Flask  why", True
            for attempt in ATTEMPTS:
                answers = [_try(attempt, network, signers.get(attempt.signer), send) for network in networks]
                is_right = answers == [(200 if attempt.why.startswith("verified") else 401, attempt.why)] * 2
                why = " / ".join(dict.fromkeys(why for _, why in answers))
                cells = f"{attempt.name:20}{answers[0][0]:<9}{answers[1][0]:<7}{why:36}"
                yield f"{cells}{'ok' if is_right else f'NO, expected {attempt.why}'}", is_right
                right, total = right + is_right, total + 1
    yield f"\n{right} of {total} checks passed.", right == total


def _by_requests(origin: str, target: str, signer: Signer | None) -> requests.Response:
    with requests.Session() as session:
        # A proxy of the environment must not get the requests to loopback addresses.
        session.trust_env = False
        session.auth = None if signer is None else SignatureAuth(signer, origins=[origin])
        return session.post(origin + target, json={"budget": 1000}, timeout=5)


def _by_httpx(origin: str, target: str, signer: Signer | None) -> httpx.Response:
    wire = httpx.HTTPTransport()
    transport = wire if signer is None else SignatureTransport(wire, signer, origins=[origin])
    with httpx.Client(transport=transport, trust_env=False) as client:
        return client.post(origin + target, json={"budget": 1000})


def _try(attempt: Attempt, network: _Network, signer: Signer | None, send: _Send) -> tuple[int, str]:
    """Return the status and the code or the content of the answer to one attempt."""
    network.attempt = attempt
    answer = send(network.origin, attempt.target, signer)
    return answer.status_code, read_challenge(answer.headers.get("WWW-Authenticate", "")) or answer.text


def _fastapi_server(verifier: Verifier, origin: str) -> _Server:
    app = FastAPI(openapi_url=None)

    @app.api_route("/{path:path}", methods=["POST", "PUT"])
    async def endpoint(signature: Signature) -> object:
        return PlainTextResponse(f"verified {signature.target_uri.removeprefix(origin)}")

    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin])
    server = uvicorn.Server(uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_config=None))
    listener = socket.create_server(("127.0.0.1", 0))
    return listener.getsockname(), partial(server.run, [listener]), lambda: setattr(server, "should_exit", True)


def _flask_server(verifier: Verifier, origin: str) -> _Server:
    app = Flask(__name__)

    @app.route("/<path:path>", methods=["POST", "PUT"])
    @signature_required
    def endpoint(path: str) -> str:  # noqa: ARG001 - Flask passes what the rule names
        return f"verified {verified_signature(request).target_uri.removeprefix(origin)}"

    Undersigned(app, verifier=verifier, origins=[origin])
    server = make_server("127.0.0.1", 0, app, threaded=True)
    return ("127.0.0.1", server.port), server.serve_forever, server.shutdown
