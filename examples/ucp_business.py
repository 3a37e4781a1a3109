"""A UCP business: it verifies what platforms ask, answers a repeated request as before, and signs its responses.

    python examples/ucp_business.py --key keys/private.jwk.json --origin https://shop.example --port 8000

The keys of a platform are in the profile that its UCP-Agent names. They are fetched under a guard.
With --dual, platforms sign for Web Bot Auth at the same time, so a verifier of it may be in front of this service.
"""

import argparse
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import AsyncKeySource, AsyncVerifier, MemoryReplayStore, Profile, Signer, SigningKey, profiles
from undersigned.asgi import ResponseSigningMiddleware, SignatureMiddleware
from undersigned.discovery.ucp import UCPKeys
from undersigned.middleware import ConfiguredOrigins


def business(
    keys: AsyncKeySource, key: SigningKey, origins: ConfiguredOrigins, profile: Profile = profiles.UCP
) -> ResponseSigningMiddleware:
    checkouts: dict[tuple[str, str], str] = {}

    async def checkout(request: Request) -> JSONResponse:
        signature, idempotency_key = request.state.signature, request.headers.get("idempotency-key", "")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the business's private JWK")
    parser.add_argument("--origin", required=True, help="the public origin, such as https://shop.example")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--dual", action="store_true", help="platforms sign for Web Bot Auth too")
    options = parser.parse_args()
    key = SigningKey.from_file(options.key)
    profile = profiles.UCP_DUAL if options.dual else profiles.UCP
    uvicorn.run(business(UCPKeys(), key, [options.origin], profile), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
