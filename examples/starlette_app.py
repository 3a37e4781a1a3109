"""A Starlette service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/starlette_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_starlette import SignatureMiddleware, signature_required, verified_signature


async def welcome(_request: Request) -> JSONResponse:
    return JSONResponse({"service": "plans"})


@signature_required
async def buy(request: Request) -> JSONResponse:
    signature = verified_signature(request)
    plan = request.path_params["plan"]
    return JSONResponse({"plan": plan, "caller": signature.signer, "signed": signature.target_uri})


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    app = Starlette(
        routes=[Route("/", welcome), Route("/plans/{plan}", buy, methods=["POST"])],
        middleware=[Middleware(SignatureMiddleware, verifier=verifier, origins=[origin], mode="optional")],
    )
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
