"""A Starlette service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/starlette_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import argparse
import json
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import KeySet, MemoryReplayStore, VerifiedSignature, Verifier, profiles
from undersigned_starlette import SignatureMiddleware, signature_required


async def welcome(_request: Request) -> JSONResponse:
    return JSONResponse({"service": "plans"})


@signature_required
async def buy(request: Request) -> JSONResponse:
    signature: VerifiedSignature = request.state.signature
    plan = request.path_params["plan"]
    return JSONResponse({"plan": plan, "caller": signature.keyid, "signed": signature.target_uri})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = KeySet.from_jwks(json.loads(options.jwks.read_text()))
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = f"http://127.0.0.1:{options.port}"
    app = Starlette(
        routes=[Route("/", welcome), Route("/plans/{plan}", buy, methods=["POST"])],
        middleware=[Middleware(SignatureMiddleware, verifier=verifier, origins=[origin], mode="optional")],
    )
    uvicorn.run(app, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
