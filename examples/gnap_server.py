"""A GNAP resource server: each access token is bound to a key of its client.

Run it where `undersigned keygen --out keys` wrote the client's key:

    python examples/gnap_server.py
"""

from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request as StarletteRequest
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import KeyLookup, KeySet, MemoryReplayStore, VerificationKey, Verifier, profiles
from undersigned.middleware import ConfiguredOrigins
from undersigned_starlette import SignatureMiddleware, verified_signature


class TokenKeys:
    """The keys of the clients, by the token that is bound to them."""

    blocking = False

    def __init__(self, bound: dict[str, KeySet]) -> None:
        self.bound = bound

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        token = (lookup.covered_value("authorization") or "").removeprefix("GNAP ")
        return self.bound[token].find(lookup) if token in self.bound else ()


def server(keys: TokenKeys, origins: ConfiguredOrigins) -> Starlette:
    async def photos(request: StarletteRequest) -> JSONResponse:
        signature = verified_signature(request)
        return JSONResponse({"photos of": signature.json()["album"], "key": signature.keyid})

    verifier = Verifier(profiles.GNAP, keys=keys, replay=MemoryReplayStore())
    middleware = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    return Starlette(routes=[Route("/photos", photos, methods=["POST"])], middleware=[middleware])


def main() -> None:
    keys = TokenKeys({"t0k3n": KeySet.from_file("keys/public.jwks.json")})
    uvicorn.run(server(keys, ["http://127.0.0.1:8000"]), host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
