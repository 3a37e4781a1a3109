"""A workload that verifies who calls it by WIMSE, and signs its responses with a token of its own.

Run it where `undersigned keygen --out keys` wrote its key, its token is in `server.wit`, and the keys of the issuer are
in `issuer.jwks.json`:

    python examples/wimse_server.py
"""

from collections.abc import Mapping
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.asgi import ResponseSigningMiddleware
from undersigned.middleware import ConfiguredOrigins
from undersigned.tokens import WorkloadTokenKeys
from undersigned_starlette import SignatureMiddleware, verified_signature

TRUST_DOMAIN = "example.com"
ORIGIN = "http://127.0.0.1:8000"


def server(
    issuers: Mapping[str, KeySet], key: SigningKey, token: str, origins: ConfiguredOrigins
) -> ResponseSigningMiddleware:
    async def orders(request: Request) -> JSONResponse:
        return JSONResponse({"orders of": verified_signature(request).signer})

    verifier = Verifier(profiles.WIMSE, keys=WorkloadTokenKeys(issuers), replay=MemoryReplayStore())
    middleware = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    site = Starlette(routes=[Route("/orders", orders)], middleware=[middleware])

    async def with_token(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_token(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Workload-Identity-Token"] = token
            await send(message)

        await site(scope, receive, send_with_token)

    # Every response covers the token, so it is added inside of what signs them.
    return ResponseSigningMiddleware(with_token, signer=Signer(key, profile=profiles.WIMSE_RESPONSE), origins=origins)


def main() -> None:
    issuers = {TRUST_DOMAIN: KeySet.from_file("issuer.jwks.json")}
    key = SigningKey.from_file("keys/private.jwk.json")
    app = server(issuers, key, Path("server.wit").read_text().strip(), [ORIGIN])
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
