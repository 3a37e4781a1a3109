"""A Quart service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/quart_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import uvicorn
from quart import Quart, Response, request
from werkzeug.exceptions import default_exceptions

from undersigned import KeySet, MemoryReplayStore, SignatureError, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, required_signature
from undersigned.middleware import ErrorResponse

app = Quart(__name__)


@app.get("/")
async def welcome() -> dict[str, str]:
    return {"service": "plans"}


@app.post("/plans/<plan>")
async def buy(plan: str) -> dict[str, str]:
    try:
        signature = required_signature(request.scope)
    except SignatureError as error:
        answer = ErrorResponse.of(error)
        response = Response(answer.body, answer.status, dict(answer.fields))
        raise default_exceptions[answer.status](answer.code, response) from None
    return {"plan": plan, "caller": signature.signer, "signed": signature.target_uri}


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    app.asgi_app = SignatureMiddleware(app.asgi_app, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
