"""The two middlewares around an application that notes what it gets, called as servers call them."""

from __future__ import annotations

import asyncio
import io
import json
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.drive import Answer, Message, call_asgi, call_wsgi, environ_of, scope_of
from tests.keys import HOST, JSON, ORIGIN

from undersigned import asgi, profiles, wsgi

if TYPE_CHECKING:
    from undersigned import Decision


class Call(NamedTuple):
    """What the application got: its scope or environ, the path, and the body."""

    context: dict[str, Any]
    path: str
    body: bytes

    @property
    def signature(self):
        return self.context["undersigned"].signature

    @property
    def operation(self):
        return self.context["undersigned"].operation


class Gate:
    """A middleware around an application that notes its calls, and the decisions.

    Args:
        party: the signer, whose key the verifier knows.
        run: what the application does with its scope or environ, before it answers 200.
        keys, profile: those of the verifier.
        options: those of the middleware.
    """

    def __init__(self, party, *, run=lambda _context: None, keys=None, profile=profiles.ADCP_3_2, **options) -> None:
        self.party, self.run = party, run
        self.calls: list[Call] = []
        self.decisions: list[Decision] = []
        self.reads = 0
        verifier = options.pop("verifier", None) or party.verifier(profile, keys=keys)
        options = {"origins": [ORIGIN], "on_decision": self.decisions.append, **options}
        self.app = self.interface.SignatureMiddleware(self.application, verifier=verifier, **options)

    @property
    def body(self) -> bytes:
        """What the application read of the last request, if it got any."""
        return self.calls[-1].body if self.calls else b""

    def ask(self, method, target, fields=(), body=b"", *, host=HOST, http2=False, **others) -> Answer:
        """Send one request; `others` are changes of its scope or environ."""
        lines = [("Host", host), *fields]
        return self.send(Message(target, method, lines, b"" if http2 else body), body, http2=http2, **others)

    def status(self, *given, **options) -> int:
        return self.ask(*given, **options).status

    def request(self, *given, **options) -> tuple[int, str | None]:
        """Send one request; return the status and the code of a rejection."""
        answer = self.ask(*given, **options)
        return answer.status, json.loads(answer.content)["error"] if answer.content else None

    def signed(self, method, target, body=b"", *, fields=JSON, url=None, **others):
        signed = self.party.fields(method, url or f"{ORIGIN}{target}", body, fields if body else ())
        return self.request(method, target, signed, body, **others)

    def accepts(self, *given, **options) -> Call:
        """Send a signed request, and return what the application got."""
        assert self.signed(*given, **options) == (200, None)
        return self.calls[-1]

    def unsigned(self, method, target, body=b"", *, fields=JSON, **options):
        return self.request(method, target, fields if body else (), body, **options)


class OverASGI(Gate):
    """The ASGI middleware. The body comes in parts of `chunk` bytes."""

    interface = asgi
    chunk = 65_536

    async def application(self, scope, receive, send) -> None:
        body, more = b"", scope["type"] == "http"
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.calls.append(Call(scope, scope["path"], body))
        ran = self.run(scope)
        if isawaitable(ran):
            await ran
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def send(self, message, body, *, http2=False, raw=True, **others) -> Answer:
        async def noting(scope, receive, send) -> None:
            async def received():
                self.reads += 1
                return await receive()

            await self.app(scope, received, send)

        scope = {**scope_of(message), "http_version": "2" if http2 else "1.1", **others}
        scope |= {} if raw else {"raw_path": b""}
        scope["headers"] = [field for field in scope["headers"] if field != (b"host", b"")]
        return asyncio.run(call_asgi(noting, scope, body, most=self.chunk))


class OverWSGI(Gate):
    """The WSGI middleware."""

    interface = wsgi

    def application(self, environ, start_response) -> list[bytes]:
        self.calls.append(Call(environ, environ["PATH_INFO"], environ["wsgi.input"].read()))
        self.run(environ)
        start_response("200 OK", [])
        return []

    def send(self, message, body, *, http2=False, raw=True, **others) -> Answer:
        gate = self

        class Input(io.BytesIO):
            def read(self, *size):
                gate.reads += 1
                return super().read(*size)

        environ = environ_of(message, "gunicorn") | {"wsgi.input": Input(body), "wsgi.input_terminated": True}
        environ |= {"SERVER_PROTOCOL": "HTTP/2" if http2 else "HTTP/1.1", **others}
        environ |= {} if raw else {"RAW_URI": ""}
        shown = {key: value for key, value in environ.items() if value is not None}
        return call_wsgi(self.app, {key: value for key, value in shown.items() if value != "" or key != "HTTP_HOST"})
