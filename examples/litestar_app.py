"""A Litestar service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/litestar_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import uvicorn
from litestar import Litestar, Request, get, post

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_litestar import SignatureMiddleware, signature_required, verified_signature


@get("/")
async def welcome() -> dict[str, str]:
    return {"service": "plans"}


@post("/plans/{plan:str}", guards=[signature_required], status_code=200)
async def buy(request: Request) -> dict[str, str]:
    signature = verified_signature(request)
    return {"plan": request.path_params["plan"], "caller": signature.signer, "signed": signature.target_uri}


app = Litestar([welcome, buy])


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    SignatureMiddleware(app, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
