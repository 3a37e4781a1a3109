"""An aiohttp service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/aiohttp_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

from aiohttp import web

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_aiohttp import SignatureMiddleware, signature_required, verified_signature


async def welcome(_request: web.Request) -> web.Response:
    return web.json_response({"service": "plans"})


@signature_required
async def buy(request: web.Request) -> web.Response:
    signature = verified_signature(request)
    plan = request.match_info["plan"]
    return web.json_response({"plan": plan, "caller": signature.signer, "signed": signature.target_uri})


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    verify = SignatureMiddleware(verifier=verifier, origins=[origin], mode="optional")
    app = web.Application(middlewares=[verify])
    app.add_routes([web.get("/", welcome), web.post("/plans/{plan}", buy)])
    web.run_app(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
