r"""A FastAPI site that greets signed bots by name, throttles senders that it does not know, and rejects forged ones.

    uvicorn --app-dir examples --factory fastapi_web_bot_auth_app:app --port 8000

A bot says in Signature-Agent where its keys are. The site fetches them, and the middleware lets a sender that nobody
knows through as an unsigned one. A signature that is wrong gets 403. FORM may name one wire form
alone: string, typed or jwks.
"""

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, cast

from fastapi import FastAPI, HTTPException, Request

from undersigned import AsyncVerifier, MemoryReplayStore, profiles
from undersigned.asgi import find_signature
from undersigned.discovery import Network
from undersigned.discovery.web_bot_auth import WebBotAuthKeys
from undersigned_fastapi import SignatureMiddleware

if TYPE_CHECKING:
    from undersigned.message import SignatureAgentForm

PROFILES = {
    "any": profiles.WEB_BOT_AUTH,
    "string": profiles.WEB_BOT_AUTH_STRING,
    "typed": profiles.WEB_BOT_AUTH_TYPED,
    "jwks": profiles.WEB_BOT_AUTH_JWKS,
}


class Throttle:
    """Counts the requests of each address, and forgets them every minute."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts: Counter[str] = Counter()
        self.minute = 0

    def check(self, address: str) -> None:
        minute = int(time.monotonic() // 60)
        if minute != self.minute:
            self.counts.clear()
            self.minute = minute
        self.counts[address] += 1
        if self.counts[address] > self.most:
            raise HTTPException(429, "sign your requests to ask more often", {"Retry-After": "60"})


def app() -> FastAPI:
    form = cast("SignatureAgentForm", os.environ.get("FORM", "any"))
    # Bots with public addresses need no KEY_NETWORKS.
    network = Network(allowed=os.environ.get("KEY_NETWORKS", "").split())
    keys = WebBotAuthKeys(form=form, network=network)
    throttle = Throttle(most=int(os.environ.get("MOST_UNKNOWN", "5")))

    site = FastAPI()

    @site.get("/")
    async def page(request: Request) -> dict[str, str]:
        signature = find_signature(request.scope)
        if signature is not None:
            return {"hello": signature.signer}
        throttle.check(request.client.host if request.client else "")
        return {"hello": "stranger"}

    verifier = AsyncVerifier(PROFILES[form], keys=keys, replay=MemoryReplayStore())
    origin = os.environ.get("ORIGIN", "http://127.0.0.1:8000")
    site.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin], mode="optional")
    return site
