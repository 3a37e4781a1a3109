"""The page: its files, the explanation of what is pasted, and the stream of live decisions."""

from __future__ import annotations

import asyncio
import json
import logging
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .door import MOST_BYTES, Door
from .pasted import Unusable, read_pasted
from .view import PROFILE_NAMES, live_view, pasted_view

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from .kept import KeptDecisions

    Endpoint = Callable[[Request], Awaitable[Response]]

logger = logging.getLogger("undersigned")

_STATIC: Final = files("undersigned_inspector") / "static"
_FILES: Final = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_POLL_SECONDS: Final = 0.2
_QUIET_POLLS: Final = 50
_LONGEST_NUMBER: Final = 15


def page(*, token: str, port: int, decisions: KeptDecisions | None = None) -> ASGIApp:
    """Return the page as an ASGI application.

    Args:
        token: the first segment of the path of every request; others get 404.
        port: the port of the server, which Host must name.
        decisions: the decisions that the page shows, or None.
    """
    routes = [Route(path, _static(*file), methods=["GET"]) for path, file in _FILES.items()]
    routes.append(Route("/explain", _explain, methods=["POST"]))
    routes.append(Route("/about", _about(live=decisions is not None), methods=["GET"]))
    if decisions is not None:
        routes.append(Route("/live", _live(decisions), methods=["GET"]))
    return Door(Starlette(routes=routes), token=token, port=port)


def _static(name: str, kind: str) -> Endpoint:
    content = (_STATIC / name).read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(content, media_type=kind)

    return answer


def _about(*, live: bool) -> Endpoint:
    async def about(_request: Request) -> Response:
        return JSONResponse({"live": live, "profiles": PROFILE_NAMES})

    return about


async def _explain(request: Request) -> Response:
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_BYTES:
            return Response(status_code=413)
    try:
        return JSONResponse(await run_in_threadpool(lambda: pasted_view(read_pasted(bytes(content)))))
    except Unusable as unusable:
        return JSONResponse({"field": unusable.field, "message": str(unusable)}, status_code=422)
    except Exception as error:  # noqa: BLE001 - the text of another error may quote what was pasted
        logger.error("undersigned inspect: %s, a fault of the inspector", type(error).__name__)  # noqa: TRY400 - as above
        message = f"the inspector failed ({type(error).__name__}): this is its fault, not yours"
        return JSONResponse({"field": "request", "message": message}, status_code=500)


def _live(decisions: KeptDecisions) -> Endpoint:
    async def live(request: Request) -> Response:
        last = request.headers.get("last-event-id", "0")
        number = int(last) if last.isascii() and last.isdigit() and len(last) <= _LONGEST_NUMBER else 0
        return StreamingResponse(_events(decisions, number), media_type="text/event-stream")

    return live


async def _events(decisions: KeptDecisions, number: int) -> AsyncIterator[str]:
    """Yield the decisions after `number` as server-sent events, and a comment when there is none for some seconds.

    They are asked for again and again: they come from other threads and event loops, and only one page
    listens.
    """
    quiet = 0
    yield ": connected\n\n"
    while True:
        for inspected in decisions.after(number):
            number, quiet = inspected.number, 0
            yield f"id: {number}\nevent: decision\ndata: {json.dumps(live_view(inspected))}\n\n"
        quiet += 1
        if quiet % _QUIET_POLLS == 0:
            yield ": quiet\n\n"
        await asyncio.sleep(_POLL_SECONDS)
