"""What a request costs from its receipt to its 200 through a middleware, without the application's own time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.benchmarks.bench_verify import ed25519_floor
from tests.benchmarks.row import Row, Side, interleave, interleave_async
from tests.benchmarks.traffic import BODY, signed_fields
from tests.drive import Message, environ_of, scope_of
from tests.keys import verifier

from undersigned import asgi, wsgi

if TYPE_CHECKING:
    from collections.abc import Awaitable


ORIGINS = ["https://seller.example.com"]
_PATH = "/adcp/create_media_buy"


def rows(*, quick: bool) -> list[Row]:
    """Measure both middlewares."""
    rounds = 20 if quick else 2000
    return [asyncio.run(_asgi(rounds)), _wsgi(rounds)]


async def application(scope, receive, send) -> None:  # noqa: ARG001 - the ASGI signature
    """Read the body and answer 200: the least an application does."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def message_of(fields: list[tuple[str, str]], body: bytes = BODY) -> Message:
    """The request as it is on the wire."""
    return Message(_PATH, "POST", fields, body)


async def _asgi(rounds: int) -> Row:
    fields, check = signed_fields(rounds), ed25519_floor()
    middle = asgi.SignatureMiddleware(application, verifier=verifier(), origins=ORIGINS)
    statuses: list[int] = []

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    def through(app):
        def side(turn: int) -> Awaitable[object]:
            messages = iter([{"type": "http.request", "body": BODY, "more_body": False}])

            async def receive() -> object:
                return next(messages)

            return app(scope_of(message_of(fields[turn])), receive, send)

        return side

    async def alone() -> None:
        check(None)

    floor, bare, wrapped = await interleave_async(rounds, lambda _: alone(), through(application), through(middle))
    assert set(statuses) == {200}
    return _row("ASGI middleware", (wrapped - bare) / floor)


def _row(name: str, ratio: float) -> Row:
    measured = f"{name}, request to 200, minus the bare app"
    return Row(measured, "Ed25519PublicKey.verify", ratio)


def wsgi_application(environ, start) -> list[bytes]:
    """Read the body and answer."""
    environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    start("200 OK", [("Content-Length", "0")])
    return [b""]


def _wsgi(rounds: int) -> Row:
    middle = wsgi.SignatureMiddleware(wsgi_application, verifier=verifier(), origins=ORIGINS)
    fields, statuses = signed_fields(rounds), []

    def start_response(status: str, *_: object) -> None:
        statuses.append(status)

    def environ(turn: int) -> dict[str, object]:
        return environ_of(message_of(fields[turn]), "gunicorn")

    floor, unwrapped, wrapped = interleave(
        rounds,
        Side(ed25519_floor()),
        Side(lambda environ: wsgi_application(environ, start_response), environ),
        Side(lambda environ: middle(environ, start_response), environ),
    )
    assert set(statuses) == {"200 OK"}
    return _row("WSGI middleware", (wrapped - unwrapped) / floor)
