"""A UCP business over MCP: the checkout is a tool, and a rejected request gets a JSON-RPC error (`UCP_MCP`).

Run it where `undersigned keygen --out keys` wrote its key, with the public origin as ORIGIN:

    python examples/ucp_mcp_business.py

`ucp_platform.py` calls the tool at /mcp, with OVER_MCP = True. `ucp_business.py` is the same business over REST.
`mcp_server.py` shows how to put the middleware around the server of an SDK, which also answers `initialize`.
"""

from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import AsyncKeySource, AsyncVerifier, MemoryReplayStore, Signer, SigningKey, profiles
from undersigned.asgi import ResponseSigningMiddleware
from undersigned.discovery.ucp import UCPKeys
from undersigned.middleware import ConfiguredOrigins
from undersigned_starlette import SignatureMiddleware, verified_signature

ORIGIN = "https://shop.example"


def failed(code: int, message: str, status: int, call: object = None) -> JSONResponse:
    return JSONResponse({"jsonrpc": "2.0", "id": call, "error": {"code": code, "message": message}}, status)


def business(keys: AsyncKeySource, key: SigningKey, origins: ConfiguredOrigins) -> ResponseSigningMiddleware:
    checkouts: dict[tuple[str, str], str] = {}

    async def mcp(request: Request) -> JSONResponse:
        match await request.json():
            case {"id": call, "method": "tools/call", "params": {"name": "create_checkout"}}:
                pass
            case _:
                return failed(-32601, "the only tool is create_checkout", 404)
        signature, idempotency_key = verified_signature(request), request.headers.get("idempotency-key", "")
        if not idempotency_key:
            return failed(-32602, "send an Idempotency-Key", 400, call)
        order = (signature.signer, idempotency_key)
        # A repeated request must not have an effect of its own. It may come while the first one is being processed.
        if signature.repeated and order not in checkouts:
            return failed(-32000, "at work", 409, call)
        made = {"checkout": checkouts.setdefault(order, uuid4().hex)}
        return JSONResponse({"jsonrpc": "2.0", "id": call, "result": {"content": [], "structuredContent": made}})

    verifier = AsyncVerifier(profiles.UCP_MCP, keys=keys, replay=MemoryReplayStore())
    middleware = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    site = Starlette(routes=[Route("/mcp", mcp, methods=["POST"])], middleware=[middleware])
    return ResponseSigningMiddleware(site, signer=Signer(key, profile=profiles.UCP_RESPONSE), origins=origins)


if __name__ == "__main__":
    app = business(UCPKeys(), SigningKey.from_file("keys/private.jwk.json"), [ORIGIN])
    uvicorn.run(app, host="127.0.0.1", port=8000)
