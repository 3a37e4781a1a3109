"""The door: which requests reach the page, and the header fields of every answer."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 2_097_152
"""Upper bound on the bytes of what is pasted: a page must not fill the memory by accident."""

_FIELDS: Final[dict[bytes, bytes]] = {
    b"content-security-policy": (
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        b"trusted-types 'none'"
    ),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
}


class Door:
    """An ASGI application that lets only the person at this machine reach the page behind it.

    A request must name a loopback host and this port in Host, so no other name can be bound to the address (DNS
    rebinding). Its path must start with the token. A request that changes or asks something must come from this page.

    Args:
        app: the page.
        token: the first segment of every path.
        port: the port.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode("ascii")
        self._hosts = {f"{host}:{port}".encode("ascii") for host in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        status = self._rejection(scope)
        if status:
            await send({"type": "http.response.start", "status": status, "headers": list(_FIELDS.items())})
            await send({"type": "http.response.body", "body": b""})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name, value) for name, value in message["headers"] if name not in _FIELDS]
                message = {**message, "headers": [*own, *_FIELDS.items()]}
            await send(message)

        path = scope["path"].removeprefix(f"/{self._token.decode('ascii')}")
        await self._app({**scope, "path": path, "raw_path": path.encode("utf-8")}, receive, send_guarded)

    def _rejection(self, scope: Scope) -> int:
        """Return the status of the answer to a request that is rejected, or 0."""
        fields: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value for name, value in fields if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421
        first, slash, _ = scope["raw_path"][1:].partition(b"/")
        if not secrets.compare_digest(first, self._token) or not slash:
            return 404
        given = dict(fields)
        if scope["method"] not in {"GET", "HEAD"} and given.get(b"origin") != b"http://" + hosts[0]:
            return 403
        length = given.get(b"content-length", b"0")
        return 413 if not length.isdigit() or int(length) > MOST_BYTES else 0
