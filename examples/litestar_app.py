"""A Litestar service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/litestar_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import uvicorn
from litestar import Litestar, Request, get, post
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler

from undersigned import KeySet, MemoryReplayStore, SignatureError, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, required_signature
from undersigned.middleware import ErrorResponse, is_preflight


@get("/")
async def welcome() -> dict[str, str]:
    return {"service": "plans"}


def signed(connection: ASGIConnection, _handler: BaseRouteHandler) -> None:
    if not is_preflight(connection.scope.get("method"), connection.headers):
        try:
            required_signature(connection.scope, route=connection.scope["path_template"])
        except SignatureError as error:
            answer = ErrorResponse.of(error)
            raise HTTPException(answer.code, status_code=answer.status, headers=answer.headers) from None


@post("/plans/{plan:str}", guards=[signed], status_code=200)
async def buy(request: Request) -> dict[str, str]:
    signature = required_signature(request.scope)
    return {"plan": request.path_params["plan"], "caller": signature.signer, "signed": signature.target_uri}


app = Litestar([welcome, buy])


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    app.asgi_handler = SignatureMiddleware(app.asgi_handler, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
