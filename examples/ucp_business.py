"""A UCP business: it verifies what platforms ask, answers a repeated request as before, and signs its responses.

Run it where `undersigned keygen --out keys` wrote its key, with the public origin as ORIGIN:

    python examples/ucp_business.py

The keys of a platform are in the profile that its UCP-Agent names. They are fetched under a guard.
With the profile UCP_DUAL, platforms sign for Web Bot Auth at the same time, so a verifier of it may be in front.
"""

from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import AsyncKeySource, AsyncVerifier, MemoryReplayStore, Profile, Signer, SigningKey, profiles
from undersigned.asgi import ResponseSigningMiddleware
from undersigned.discovery.ucp import UCPKeys
from undersigned.middleware import ConfiguredOrigins
from undersigned_starlette import SignatureMiddleware, verified_signature

ORIGIN = "https://shop.example"


def business(
    keys: AsyncKeySource, key: SigningKey, origins: ConfiguredOrigins, profile: Profile = profiles.UCP
) -> ResponseSigningMiddleware:
    checkouts: dict[tuple[str, str], str] = {}

    async def checkout(request: Request) -> JSONResponse:
        signature, idempotency_key = verified_signature(request), request.headers.get("idempotency-key", "")
        if not idempotency_key:
            return JSONResponse({"code": "idempotency_key_missing", "content": "send one"}, status_code=400)
        order = (signature.signer, idempotency_key)
        # A repeated request must not have an effect of its own. It may come while the first one is being processed.
        if signature.repeated and order not in checkouts:
            return JSONResponse({"code": "idempotency_conflict", "content": "at work"}, status_code=409)
        return JSONResponse({"checkout": checkouts.setdefault(order, uuid4().hex)}, status_code=201)

    verifier = AsyncVerifier(profile, keys=keys, replay=MemoryReplayStore())
    middleware = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    site = Starlette(routes=[Route("/checkout", checkout, methods=["POST"])], middleware=[middleware])
    return ResponseSigningMiddleware(site, signer=Signer(key, profile=profiles.UCP_RESPONSE), origins=origins)


if __name__ == "__main__":
    app = business(UCPKeys(), SigningKey.from_file("keys/private.jwk.json"), [ORIGIN])
    uvicorn.run(app, host="127.0.0.1", port=8000)
