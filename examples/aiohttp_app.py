"""An aiohttp service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/aiohttp_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import argparse
import json
from pathlib import Path

from aiohttp import web

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_aiohttp import signature_middleware, signature_required, verified_signature


async def welcome(_request: web.Request) -> web.Response:
    return web.json_response({"service": "plans"})


@signature_required
async def buy(request: web.Request) -> web.Response:
    signature = verified_signature(request)
    plan = request.match_info["plan"]
    return web.json_response({"plan": plan, "caller": signature.keyid, "signed": signature.target_uri})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = KeySet.from_jwks(json.loads(options.jwks.read_text()))
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = f"http://127.0.0.1:{options.port}"
    verify = signature_middleware(verifier=verifier, origins=[origin], mode="optional")
    app = web.Application(middlewares=[verify])
    app.add_routes([web.get("/", welcome), web.post("/plans/{plan}", buy)])
    web.run_app(app, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
