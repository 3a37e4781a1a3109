"""An inbox of the fediverse: it accepts what an actor has signed in either scheme, and fetches the actors' keys.

Run it behind a proxy that ends TLS, with the public origin as ORIGIN:

    python examples/activitypub_inbox.py
"""

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import AsyncKeySource
from undersigned.activitypub import AsyncActivityPubVerifier
from undersigned.discovery.activitypub import ActorKeys
from undersigned.middleware import ConfiguredOrigins
from undersigned_starlette import SignatureMiddleware, verified_signature

ORIGIN = "https://inbox.example"


async def receive(request: Request) -> JSONResponse:
    signature = verified_signature(request)
    activity = signature.json()
    # The signature says who sent the activity. The application decides who may send it.
    if not isinstance(activity, dict) or activity.get("actor") != signature.signer:
        return JSONResponse({"error": "the actor did not sign this activity"}, status_code=403)
    return JSONResponse({"accepted": activity.get("type"), "from": signature.signer}, status_code=202)


def inbox(keys: AsyncKeySource, origins: ConfiguredOrigins) -> Starlette:
    verifier = AsyncActivityPubVerifier(keys=keys, required=("(request-target)", "host"))
    middleware = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    return Starlette(routes=[Route("/inbox", receive, methods=["POST"])], middleware=[middleware])


if __name__ == "__main__":
    uvicorn.run(inbox(ActorKeys(), [ORIGIN]), host="127.0.0.1", port=8000)
