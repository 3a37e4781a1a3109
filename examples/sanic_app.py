"""A Sanic service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/sanic_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import uvicorn
from sanic import HTTPResponse, Request, Sanic
from sanic import json as json_response
from sanic.exceptions import SanicException

from undersigned import KeySet, MemoryReplayStore, SignatureError, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, required_signature
from undersigned.middleware import ErrorResponse

app = Sanic("plans")


@app.get("/")
async def welcome(_request: Request) -> HTTPResponse:
    return json_response({"service": "plans"})


@app.post("/plans/<plan>")
async def buy(request: Request, plan: str) -> HTTPResponse:
    try:
        signature = required_signature(request.scope)
    except SignatureError as error:
        answer = ErrorResponse.of(error)
        raise SanicException(answer.code, answer.status, quiet=True, headers=answer.headers) from None
    return json_response({"plan": plan, "caller": signature.signer, "signed": signature.target_uri})


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    verified = SignatureMiddleware(app, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(verified, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
