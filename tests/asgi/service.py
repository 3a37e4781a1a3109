"""The ASGI middleware around an application that keeps what it gets."""

from __future__ import annotations

from tests.keys import ORIGIN
from tests.middleware.gate import OverASGI


class Service(OverASGI):
    """The middleware, with the requests of these tests."""

    @property
    def decision(self):
        return self.decisions[-1]

    def get(self, target: str = "/p", *, method: str = "GET", fields=(), url=None, **others):
        """Send a request signed for the target, whose scope is changed by `others`; return what the application got.

        It has `fields` too, as (name, value) pairs, which are not signed.
        """
        self.calls.clear()
        self.ask(method, target, [*self.party.fields("GET", url or f"{ORIGIN}{target}"), *fields], **others)
        return self.calls[0].context if self.calls else None

    def rejects(self, target: str = "/p", *, code="request_target_uri_malformed", **others) -> str:
        """Send a request that is rejected; return why."""
        assert self.get(target, **others) is None
        assert self.decision.code == code
        return self.decision.evidence().detail

    def does_not_support(self, target: str = "/p", **others) -> str:
        return self.rejects(target, code="request_signature_server_unsupported", **others)
