"""A GNAP server that manages access tokens: each is bound to a key, which its client can rotate.

python examples/gnap_server.py --jwks client.jwks.json --token t0k3n --origin https://server.example --port 8000
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request as StarletteRequest
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import (
    KeyLookup,
    KeySet,
    MemoryReplayStore,
    Request,
    SignatureError,
    VerificationKey,
    Verifier,
    profiles,
)
from undersigned.asgi import SignatureMiddleware
from undersigned.middleware import ConfiguredOrigins


class TokenKeys:
    """The keys of the clients, by the token that is bound to them."""

    blocking = False

    def __init__(self, bound: dict[str, KeySet]) -> None:
        self.bound = bound

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        token = (lookup.covered_value("authorization") or "").removeprefix("GNAP ")
        return self.bound[token].find(lookup) if token in self.bound else ()


def server(keys: TokenKeys, origins: ConfiguredOrigins) -> Starlette:
    replay = MemoryReplayStore()

    async def rotate(request: StarletteRequest) -> JSONResponse:
        old, token = request.state.signature, request.headers["authorization"].removeprefix("GNAP ")
        try:
            new = KeySet.from_jwks({"keys": [old.json()["key"]["jwk"]]})
            signed = Request("POST", old.target_uri, request.headers.items(), await request.body())
            rotation = Verifier(profiles.GNAP_ROTATION, keys=new, replay=replay).verify(signed)
        except (KeyError, TypeError, ValueError, SignatureError):
            return JSONResponse({"error": "invalid_rotation"}, status_code=400)
        if not rotation.covers(old):
            return JSONResponse({"error": "invalid_rotation"}, status_code=400)
        keys.bound[token] = new
        return JSONResponse({"access_token": {"value": token, "key": rotation.keyid}})

    middleware = Middleware(
        SignatureMiddleware, verifier=Verifier(profiles.GNAP, keys=keys, replay=replay), origins=origins
    )
    return Starlette(routes=[Route("/token", rotate, methods=["POST"])], middleware=[middleware])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the client's public key, a JWK set")
    parser.add_argument("--token", required=True, help="the access token that is bound to it")
    parser.add_argument("--origin", required=True, help="the public origin, such as https://server.example")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = TokenKeys({options.token: KeySet.from_jwks(json.loads(options.jwks.read_text()))})
    uvicorn.run(server(keys, [options.origin]), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
