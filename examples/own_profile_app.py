"""A service inside a company, with a profile of its own: every signature covers the tenant, and is valid for 30 s.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/own_profile_app.py --jwks keys/public.jwks.json --port 8000

A caller signs with the same profile: `Signer(key, profile=INTERNAL)`.
"""

import argparse
import json
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.middleware import ConfiguredOrigins
from undersigned.signature.rules import CoverageRule, Selection, Validity
from undersigned_starlette import SignatureMiddleware

INTERNAL = profiles.ADCP_3_2.derive(
    name="internal-2026",
    selection=Selection(tags=("internal",)),
    coverage=CoverageRule(always=("@method", "@authority", "@path", "x-tenant"), with_query=("@query",)),
    validity=Validity(longest=30, ahead=5, behind=5, signed_for=30),
)


async def invoices(request: Request) -> JSONResponse:
    # The profile makes every caller sign the tenant. Ask here whether this caller may act for it.
    return JSONResponse({"invoices of": request.headers["x-tenant"], "caller": request.state.signature.keyid})


def service(keys: KeySet, origins: ConfiguredOrigins) -> Starlette:
    verifier = Verifier(INTERNAL, keys=keys, replay=MemoryReplayStore())
    signed = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    return Starlette(routes=[Route("/invoices", invoices)], middleware=[signed])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = KeySet.from_jwks(json.loads(options.jwks.read_text()))
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    uvicorn.run(service(keys, [f"http://127.0.0.1:{options.port}"]), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
