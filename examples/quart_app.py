"""A Quart service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/quart_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import argparse
import json
from pathlib import Path

import uvicorn
from quart import Quart, Response, request

from undersigned import KeySet, MemoryReplayStore, SignatureError, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, required_signature
from undersigned.middleware import ErrorResponse

app = Quart(__name__)


@app.get("/")
async def welcome() -> dict[str, str]:
    return {"service": "plans"}


@app.post("/plans/<plan>")
async def buy(plan: str) -> dict[str, str]:
    signature = required_signature(request.scope)
    return {"plan": plan, "caller": signature.keyid, "signed": signature.target_uri}


@app.errorhandler(SignatureError)
async def rejected(error: SignatureError) -> Response:
    answer = ErrorResponse.of(error)
    return Response(answer.body, answer.status, dict(answer.fields))


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
