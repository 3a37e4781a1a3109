"""A Litestar service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/litestar_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import argparse
import json
from pathlib import Path

import uvicorn
from litestar import Litestar, Request, Response, get, post
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from undersigned import KeySet, MemoryReplayStore, SignatureError, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, required_signature
from undersigned.middleware import ErrorResponse


@get("/")
async def welcome() -> dict[str, str]:
    return {"service": "plans"}


def signed(connection: ASGIConnection, _handler: BaseRouteHandler) -> None:
    required_signature(connection.scope)


@post("/plans/{plan:str}", guards=[signed], status_code=200)
async def buy(request: Request) -> dict[str, str]:
    signature = required_signature(request.scope)
    return {"plan": request.path_params["plan"], "caller": signature.keyid, "signed": signature.target_uri}


def rejected(_request: Request, error: SignatureError) -> Response[bytes]:
    answer = ErrorResponse.of(error)
    return Response(answer.body, status_code=answer.status, headers=dict(answer.fields))


app = Litestar([welcome, buy], exception_handlers={SignatureError: rejected})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = KeySet.from_jwks(json.loads(options.jwks.read_text()))
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = f"http://127.0.0.1:{options.port}"
    verified = SignatureMiddleware(app, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(verified, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
