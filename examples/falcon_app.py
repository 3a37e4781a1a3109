"""A Falcon service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/falcon_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import argparse
import json
from pathlib import Path

import falcon
import falcon.asgi
import uvicorn

from undersigned import KeySet, MemoryReplayStore, SignatureError, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, required_signature
from undersigned.middleware import ErrorResponse


class Welcome:
    """The page for everybody."""

    async def on_get(self, _request: falcon.asgi.Request, response: falcon.asgi.Response) -> None:
        response.media = {"service": "plans"}


async def signed(request: falcon.asgi.Request, *_rest: object) -> None:
    required_signature(request.scope)


class Plans:
    """The plans, for signed requests only."""

    @falcon.before(signed)
    async def on_post(self, request: falcon.asgi.Request, response: falcon.asgi.Response, plan: str) -> None:
        signature = required_signature(request.scope)
        response.media = {"plan": plan, "caller": signature.keyid, "signed": signature.target_uri}


async def rejected(
    _request: falcon.asgi.Request, response: falcon.asgi.Response, error: SignatureError, _parameters: dict[str, str]
) -> None:
    answer = ErrorResponse.of(error)
    response.status, response.data = answer.status, answer.body
    response.set_headers(answer.fields)


app = falcon.asgi.App()
app.add_route("/", Welcome())
app.add_route("/plans/{plan}", Plans())
app.add_error_handler(SignatureError, rejected)


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
