"""A workload that verifies who calls it by WIMSE, and signs its responses with a token of its own.

python examples/wimse_server.py --issuers idp.jwks.json --trust-domain example.com \
    --key key.jwk.json --token own.wit --port 8000
"""

import argparse
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
from undersigned.asgi import ResponseSigningMiddleware, SignatureMiddleware
from undersigned.middleware import ConfiguredOrigins
from undersigned.tokens import WorkloadTokenKeys


def server(
    issuers: Mapping[str, KeySet], key: SigningKey, token: str, origins: ConfiguredOrigins
) -> ResponseSigningMiddleware:
    async def orders(request: Request) -> JSONResponse:
        return JSONResponse({"orders of": request.state.signature.signer})

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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issuers", required=True, help="the keys of the issuer, a JWK set")
    parser.add_argument("--trust-domain", required=True, help="the trust domain of the issuer, such as example.com")
    parser.add_argument("--key", required=True, help="the private JWK that the token is for")
    parser.add_argument("--token", type=Path, required=True, help="the server's own Workload-Identity-Token")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    issuers = {options.trust_domain: KeySet.from_file(options.issuers)}
    key = SigningKey.from_file(options.key)
    app = server(issuers, key, options.token.read_text().strip(), [f"http://127.0.0.1:{options.port}"])
    uvicorn.run(app, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
