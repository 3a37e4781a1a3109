"""A shop that knows the shopping agents of Visa's Trusted Agent Protocol, and which of them may pay (experimental).

python examples/tap_shop.py --keys-url https://mcp.visa.com/.well-known/jwks --origin https://shop.example --port 8000
"""

import argparse

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import AsyncKeySource, AsyncVerifier, MemoryReplayStore, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.discovery import AsyncRemoteJWKS
from undersigned.middleware import ConfiguredOrigins


def shop(keys: AsyncKeySource, origins: ConfiguredOrigins) -> Starlette:
    async def browse(request: Request) -> JSONResponse:
        return JSONResponse({"hats for": request.state.signature.keyid})

    async def pay(request: Request) -> JSONResponse:
        # An agent that only browses has another tag.
        if request.state.signature.tag != "agent-payer-auth":
            return JSONResponse({"error": "not a payer"}, status_code=403)
        return JSONResponse({"paid by": request.state.signature.keyid})

    verifier = AsyncVerifier(profiles.TAP, keys=keys, replay=MemoryReplayStore())
    middleware = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    return Starlette(routes=[Route("/hats", browse), Route("/pay", pay, methods=["POST"])], middleware=[middleware])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys-url", required=True, help="the https URL of the network's JWK set")
    parser.add_argument("--origin", required=True, help="the public origin, such as https://shop.example")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    uvicorn.run(shop(AsyncRemoteJWKS(options.keys_url), [options.origin]), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
