"""The answer to a rejected request over ASGI."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undersigned.asgi.interface import Scope, Send
    from undersigned.middleware.answer import ErrorResponse


async def answer(scope: Scope, send: Send, response: ErrorResponse) -> None:
    """Send a response that rejects a request, or a handshake if the server can send it one."""
    websocket = scope["type"] == "websocket"
    if websocket and "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    kind = "websocket.http.response" if websocket else "http.response"
    fields = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in response.fields]
    await send({"type": f"{kind}.start", "status": response.status, "headers": fields})
    await send({"type": f"{kind}.body", "body": b"" if scope.get("method") == "HEAD" else response.body})
