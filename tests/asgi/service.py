"""The ASGI middleware around an application that keeps what it gets."""

from __future__ import annotations

import asyncio

from tests.drive import Message, call_asgi, scope_of
from tests.keys import ORIGIN

from undersigned import asgi


class Service:
    """The middleware, the scope that its application got, and the decision."""

    def __init__(self, party, **options) -> None:
        self.party, self.seen, self.decision = party, None, None
        options = {"origins": [ORIGIN], "on_decision": self.record, **options}
        self.app = asgi.SignatureMiddleware(self.application, verifier=party.verifier(), **options)

    def record(self, decision) -> None:
        self.decision = decision

    async def application(self, scope, _receive, send) -> None:
        self.seen = scope
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body"})

    def get(self, target: str = "/p", *, method: str = "GET", fields=(), **others):
        """Send a request signed for the target, whose scope is changed by `others`; return what the application got.

        It has `fields` too, as (name, value) pairs, which are not signed.
        """
        url = others.pop("url", f"{ORIGIN}{target}")
        signed = [*self.party.fields("GET", url), *fields]
        self.seen = None
        scope = {**scope_of(Message(target, method, signed)), **others}
        asyncio.run(call_asgi(self.app, scope))
        return self.seen

    def rejects(self, target: str = "/p", *, code="request_target_uri_malformed", **others) -> str:
        """Send a request that is rejected; return why."""
        assert self.get(target, **others) is None
        assert self.decision.code == code
        return self.decision.evidence().detail

    def does_not_support(self, target: str = "/p", **others) -> str:
        return self.rejects(target, code="request_signature_server_unsupported", **others)
