"""A Falcon service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/falcon_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import falcon.asgi
import uvicorn

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_falcon import SignatureMiddleware, signature_required, verified_signature


class Welcome:
    """The page for everybody."""

    async def on_get(self, _request: falcon.asgi.Request, response: falcon.asgi.Response) -> None:
        response.media = {"service": "plans"}


class Plans:
    """The plans, for signed requests only."""

    @signature_required
    async def on_post(self, request: falcon.asgi.Request, response: falcon.asgi.Response, plan: str) -> None:
        signature = verified_signature(request)
        response.media = {"plan": plan, "caller": signature.signer, "signed": signature.target_uri}


app = falcon.asgi.App()
app.add_route("/", Welcome())
app.add_route("/plans/{plan}", Plans())


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    verified = SignatureMiddleware(app, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(verified, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
